// Package show summarizes a report for a first look: the documents by verdict, the most copied
// sources, the certainty of the decisions, and examples. Memory does not grow with the report. The
// summary is text, JSON or an HTML page.
package show

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/internal/engine/report/commonest"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// Digest is the summary of a report. The JSON form is a contract.
type Digest struct {
	Lines      int64 `json:"lines"` // documents that are not unique
	Removed    int64 `json:"removed"`
	Duplicates int64 `json:"duplicates"`
	Exact      int64 `json:"exact"`   // duplicates equal in their whole text
	SameID     int64 `json:"same_id"` // duplicates whose source has their id
	Related    int64 `json:"related"`
	Mosaics    int64 `json:"mosaics"`
	Consumed   int64 `json:"consumed,omitempty"`

	// Totals counts documents by verdict, in the order of verdictNames.
	Totals []Total `json:"totals"`
	// The documents and sites copied most, pairs of a site and the site it copies, and the inputs
	// with the most removed documents. Only ids that are URLs have sites.
	Documents []Count    `json:"documents"`
	Sites     []Count    `json:"sites"`
	Copies    []SiteCopy `json:"copies"`
	Files     []Count    `json:"files"`

	// Map has the groups that removed documents copy, Stream the removals along the inputs, and Days
	// those by the documents' times.
	Map    Map    `json:"map"`
	Stream []Step `json:"stream,omitempty"`
	Days   []Step `json:"days,omitempty"`
	// Thresholds has what other thresholds would remove, of the near copies that are removed.
	Thresholds []Threshold `json:"thresholds"`

	least float64 // score of a removed near copy; 0 for none

	// Histogram counts inexact copies by score, in Bins equal steps from 0 to 1. A score between
	// two bins belongs to the upper one, and 1 to the last.
	Histogram [Bins]Bin `json:"histogram"`
	// Examples are removals on least evidence, the nearest related, mosaics, and a wide choice.
	Examples []Example `json:"examples"`
}

// Bins is the number of bins in a histogram.
const Bins = 20

// Bin counts documents with scores in one step.
type Bin struct {
	From       float64 `json:"from"`
	Duplicates int64   `json:"duplicates"`
	Related    int64   `json:"related"`
	Mosaics    int64   `json:"mosaics"`
}

// SiteCopy counts the documents of one site that repeat those of another.
type SiteCopy struct {
	Site  string `json:"site"`
	Of    string `json:"of"`
	Count int64  `json:"count"`
	Over  int64  `json:"over,omitempty"`
}

// Example is a line of the report worth a look.
type Example struct {
	Kind      string   `json:"kind"` // name of one of kinds
	ID        string   `json:"id"`
	Of        string   `json:"of"`             // "" if there are several
	Also      []string `json:"also,omitempty"` // sources of a mosaic or a consumed document
	Score     float64  `json:"score"`
	Contained float64  `json:"contained"`
	Shared    []string `json:"shared"` // passages, as the report quotes them
	Where     string   `json:"where"`  // file and line

	// The texts, if the inputs were read; cut to maxText bytes.
	text, other string
	read        bool // whether the other text was read
}

type kind struct {
	Name, Title string
	Examples    []*Example // examples to show
}

// kinds lists all kinds, in the order of the page.
var kinds = []kind{
	{Name: "least evidence", Title: "Removed on the least evidence"},
	{Name: "related", Title: "Kept, and most like another"},
	{Name: "mosaic", Title: "Made of several others"},
	{Name: spreadKind, Title: "From all over the report"},
}

// perKind is the most examples of a kind.
const perKind = 8

// Collector builds a Digest from the lines of a report.
type Collector struct {
	d                               Digest
	documents, sites, copies, files top
	pairs                           top
	stream                          stream
	days                            days
	thresholds                      thresholds
	examples                        map[string][]ranked
	totals                          totals
	spread                          spread
}

type ranked struct {
	Example
	rank float64
}

// NewCollector returns a Collector without lines.
func NewCollector() *Collector {
	return &Collector{examples: map[string][]ranked{}, totals: totals{}, spread: spread{}, days: days{}}
}

// Add adds a line. It keeps only strings from the line.
func (c *Collector) Add(l *lines.Line) {
	c.totals.count(l, 0)
	if !l.Kept {
		c.files.add(l.File)
		if l.Of != nil {
			c.pairs.add(pairOf(l))
		}
	}
	c.stream.add(l)
	c.days.add(l)
	if l.SameID && l.Verdict == "duplicate" {
		c.d.SameID++
	}
	c.countSources(l)
	c.spread.add(l)
	at := min(int(l.Score*Bins+1e-9), Bins-1)
	bin := &c.d.Histogram[at]
	switch {
	case l.Verdict == "duplicate" && !l.Exact:
		bin.Duplicates++
		if !l.Kept { // with --remove-within, copies can stay
			c.keep("least evidence", l, evidence(l))
			c.thresholds.add(l)
			if score := scoreOf(l); c.d.least == 0 || score < c.d.least {
				c.d.least = score
			}
		}
	case l.Verdict == "related":
		bin.Related++
		if l.Kept { // with --prefer, a later copy can stay instead
			c.keep("related", l, -float64(max(l.Score, l.Contained)))
		}
	case l.Verdict == "mosaic":
		bin.Mosaics++
		c.keep("mosaic", l, -float64(l.Seen))
	}
}

// countSources counts the source of a copy, its site, and the pair of sites.
func (c *Collector) countSources(l *lines.Line) {
	if l.Verdict != "duplicate" || l.Of == nil {
		return
	}
	c.documents.add(*l.Of)
	of := siteOf(*l.Of)
	if of == "" {
		return
	}
	c.sites.add(of)
	if site := siteOf(l.ID); site != "" && site != of {
		c.copies.add(site + "\n" + of) // neither has a line feed
	}
}

// siteOf returns the host of an id if the id is a URL, else "".
func siteOf(id string) string {
	if !strings.Contains(id[:min(len(id), 16)], "://") {
		return ""
	}
	u, err := url.Parse(id)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// keep keeps a line as an example if it ranks among the first of its kind.
func (c *Collector) keep(kind string, l *lines.Line, rank float64) {
	c.examples[kind] = insert(c.examples[kind], perKind, kind, l, rank)
}

// insert inserts a line among at most n examples that are ordered by rank.
func insert(kept []ranked, n int, kind string, l *lines.Line, rank float64) []ranked {
	if len(kept) == n && rank >= kept[n-1].rank {
		return kept
	}
	at, _ := slices.BinarySearchFunc(kept, rank, func(r ranked, rank float64) int {
		return cmp.Or(cmp.Compare(r.rank, rank), -1) // behind its equals
	})
	kept = slices.Insert(kept, at, ranked{exampleOf(kind, l), rank})
	return kept[:min(len(kept), n)]
}

// evidence returns the score, or an estimated share below it, as on pages with menus. If the filter
// alone decided, there is no score, but a share of the text that it has seen.
func evidence(l *lines.Line) float64 {
	if l.Of != nil && l.Estimated {
		return float64(min(l.Score, l.Contained))
	}
	return scoreOf(l)
}

func exampleOf(kind string, l *lines.Line) Example {
	e := Example{
		Kind: kind, ID: l.ID, Score: float64(l.Score), Contained: float64(l.Contained),
		Shared: append([]string{}, l.Sample...), Where: whereOf(l),
	}
	switch {
	case l.Of != nil:
		e.Of = *l.Of
	case l.Verdict == "consumed":
		for i := range l.Passages {
			if of := l.Passages[i].Of; !slices.Contains(e.Also, of) {
				e.Also = append(e.Also, of)
			}
		}
	default:
		for i := range l.Also {
			e.Also = append(e.Also, l.Also[i].ID)
		}
	}
	return e
}

// Digest returns the summary of all lines.
func (c *Collector) Digest() *Digest {
	const n = 15
	d := c.d
	d.Documents, d.Sites, d.Files = c.documents.most(n), c.sites.most(n), c.files.most(n)
	d.Map, d.Stream, d.Days, d.Thresholds = mapOf(c.pairs.most(maxCounters)), c.stream.steps(), c.days.steps(), c.thresholds.list()
	d.Copies = []SiteCopy{}
	for _, m := range c.copies.most(n) {
		site, of, _ := strings.Cut(m.Value, "\n")
		d.Copies = append(d.Copies, SiteCopy{site, of, m.Count, m.Over})
	}
	for i := range d.Histogram {
		d.Histogram[i].From = float64(i) / Bins
	}
	d.Examples = []Example{}
	for _, kind := range kinds {
		for _, r := range c.examples[kind.Name] {
			d.Examples = append(d.Examples, r.Example)
		}
	}
	d.Examples = append(d.Examples, c.spread.choose(d.Examples)...)
	d.Totals = c.totals.list()
	for _, t := range c.totals {
		d.Lines += t.Documents
		d.Removed += t.Removed
	}
	d.Lines -= c.totals["unique"].Kept // others lose to a later copy that is preferred
	d.Exact = c.totals["exact duplicate"].Documents
	d.Related = c.totals["related"].Documents
	d.Mosaics = c.totals["mosaic"].Documents
	d.Consumed = c.totals["consumed"].Documents
	d.Duplicates = d.Exact + c.totals["duplicate"].Documents
	return &d
}

// Total counts the documents of a verdict. Bytes counts their texts, and is known after ReadTexts.
type Total struct {
	Verdict      string `json:"verdict"`
	Documents    int64  `json:"documents"`
	Kept         int64  `json:"kept"`
	Removed      int64  `json:"removed"`
	Bytes        int64  `json:"bytes,omitempty"`
	RemovedBytes int64  `json:"removed_bytes,omitempty"`
}

// verdictNames lists the verdicts in the order of totals. Exact duplicates are counted separately.
var verdictNames = []string{"unique", "exact duplicate", "duplicate", "related", "mosaic", "consumed"}

func verdictOf(l *lines.Line) string {
	switch {
	case l == nil:
		return "unique"
	case l.Exact && l.Verdict == "duplicate":
		return "exact duplicate"
	}
	return l.Verdict
}

// totals holds the totals by verdict.
type totals map[string]Total

// count counts a document by its line, or nil.
func (all totals) count(l *lines.Line, bytes int64) {
	t := all[verdictOf(l)]
	t.Verdict = verdictOf(l)
	t.Documents++
	t.Bytes += bytes
	if l == nil || l.Kept {
		t.Kept++
	} else {
		t.Removed++
		t.RemovedBytes += bytes
	}
	all[t.Verdict] = t
}

// list returns the totals of the verdicts that occurred.
func (all totals) list() []Total {
	list := []Total{}
	for _, verdict := range verdictNames {
		if t, met := all[verdict]; met {
			list = append(list, t)
		}
	}
	return list
}

// Sum returns the total of all verdicts.
func (d *Digest) Sum() Total {
	sum := Total{Verdict: "all"}
	for _, t := range d.Totals {
		sum.Documents += t.Documents
		sum.Kept += t.Kept
		sum.Removed += t.Removed
		sum.Bytes += t.Bytes
		sum.RemovedBytes += t.RemovedBytes
	}
	return sum
}

// top counts values. The note of a counter numbers the value's first arrival, to order equals.
type top struct {
	commonest.Counters[string, int]
	next int
}

// maxCounters is the most values counted at once. Up to this number, counts are exact.
const maxCounters = 1 << 16

func (t *top) add(value string) {
	t.Most = maxCounters
	t.Add(value, t.next)
	t.next++
}

// Count counts the occurrences of a value.
type Count struct {
	Value string `json:"value"`
	Count int64  `json:"count"`
	// Over is the most by which Count is too high. It is 0 for up to 65,536 values.
	Over int64 `json:"over,omitempty"`
}

// most returns the n most frequent values, the earliest of equals first.
func (t *top) most(n int) []Count {
	all := slices.SortedFunc(slices.Values(t.All()), func(a, b *commonest.Counter[string, int]) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Note, b.Note))
	})
	found := []Count{}
	for _, c := range all[:min(n, len(all))] {
		found = append(found, Count{c.Key, int64(c.Count), int64(c.Over)})
	}
	return found
}

// page holds the values of a page, as text or HTML.
type page struct {
	*Digest
	Bins   []Bin // from the first to the last with documents
	Most   int64 // the most documents in one bin
	Tables []table
	Kinds  []kind
}

type table struct {
	Title, Head, What string
	Counts            []Count
	Find              bool // the values are ids, which the list of removals can find
}

// page fills a page. what names a pair of sites, and copies joins the two.
func (d *Digest) page(what, copies string) page {
	sites := make([]Count, len(d.Copies))
	for i, c := range d.Copies {
		sites[i] = Count{c.Site + copies + c.Of, c.Count, c.Over}
	}
	p := page{Digest: d, Kinds: slices.Clone(kinds), Tables: []table{
		{"Copied most", "copies", "document", d.Documents, true},
		{"Copied most, by site", "copies", "site", d.Sites, true},
		{"Who copies whom", "copies", what, sites, false},
		{"Removed most, by input", "removed", "input", d.Files, true},
	}}
	for i := range d.Examples {
		at := slices.IndexFunc(kinds, func(k kind) bool { return k.Name == d.Examples[i].Kind })
		p.Kinds[at].Examples = append(p.Kinds[at].Examples, &d.Examples[i])
	}
	first, end := len(d.Histogram), 0
	for i, b := range d.Histogram {
		if n := b.All(); n > 0 {
			first, end, p.Most = min(first, i), i+1, max(p.Most, n)
		}
	}
	if end > 0 {
		p.Bins = d.Histogram[first:end]
	}
	return p
}

// Steps returns the thresholds with removals of their own: the next one removes fewer.
func (d *Digest) Steps() (steps []Threshold) {
	for _, t := range d.Thresholds {
		if len(t.Weakest) > 0 {
			steps = append(steps, t)
		}
	}
	return steps
}

// All counts the documents of a bin.
func (b Bin) All() int64 { return b.Duplicates + b.Related + b.Mosaics }
