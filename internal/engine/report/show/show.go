// Package show summarizes a report for a first look: the documents by verdict, the most copied
// sources, the certainty of the decisions, and examples. Memory does not grow with the report. The
// summary is text, JSON or an HTML page.
package show

import (
	"cmp"
	"hash/fnv"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

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

	// Histogram counts inexact copies by score, in Bins equal steps from 0 to 1. A score between
	// two bins belongs to the upper one, and 1 to the last.
	Histogram [Bins]Bin `json:"histogram"`
	// Thresholds says what other thresholds would remove; null if all copies are exact.
	Thresholds []Step `json:"thresholds"`
	// Map is the map of sources; null if all documents are of one group.
	Map *Map `json:"map"`
	// Examples are removals on least evidence, the nearest related, mosaics, and a wide choice.
	Examples []Example `json:"examples"`

	lowest float64 // least score of inexact duplicates; above 1 if there are none
	groups *groups
	course course
	rows   *rows // nil if they are not listed
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
	examples                        map[string][]ranked
	totals                          totals
	spread                          spread

	reached [len(steps)]int64 // duplicates by the threshold they reach
}

type ranked struct {
	Example
	rank float64
}

// NewCollector returns a Collector without lines, for a map by hosts, folders or others. With list
// set, it packs the lines for a page: up to 120 bytes a line, for maxRows lines.
func NewCollector(by string, list bool) *Collector {
	c := &Collector{examples: map[string][]ranked{}, totals: totals{}, spread: spread{}}
	if c.d.groups, c.d.lowest = newGroups(by), 2; list {
		c.d.rows = new(rows)
	}
	return c
}

// Add adds a line. It keeps only strings from the line.
func (c *Collector) Add(l *lines.Line) {
	c.totals.count(l, 0)
	if !l.Kept {
		c.files.add(l.File)
	}
	if l.SameID && l.Verdict == "duplicate" {
		c.d.SameID++
	}
	c.countSources(l)
	c.spread.add(l)
	c.d.course.line(l)
	switch g := c.d.groups; {
	case !g.fromInputs():
		c.d.place(l, g.ofID(l.ID), func() uint16 { return g.ofID(*l.Of) })
	case l.Of != nil:
		g.expect(*l.Of)
	}
	c.bin(l)
}

// bin counts a line in the histogram and keeps it as an example.
func (c *Collector) bin(l *lines.Line) {
	at := min(int(scoreOf(l)*Bins+1e-9), Bins-1)
	bin := &c.d.Histogram[at]
	if l.Verdict == "duplicate" {
		c.step(l)
	}
	switch {
	case l.Verdict == "duplicate" && !l.Exact:
		bin.Duplicates++
		c.d.lowest = min(c.d.lowest, scoreOf(l))
		if !l.Kept { // with --remove-within, copies can stay
			c.keep("least evidence", l, evidence(l), perKind)
		}
	case l.Verdict == "related":
		bin.Related++
		if l.Kept { // with --prefer, a later copy can stay instead
			c.keep("related", l, -float64(max(l.Score, l.Contained)), perKind)
		}
	case l.Verdict == "mosaic":
		bin.Mosaics++
		c.keep("mosaic", l, -float64(l.Seen), perKind)
	}
}

// place puts a line on the map and into the list. of returns the group of its source.
func (d *Digest) place(l *lines.Line, from uint16, of func() uint16) {
	source := uint16(noGroup)
	if l.Of != nil {
		source = of()
	}
	if l.Of != nil && !l.Kept {
		d.groups.count(from, source)
	}
	if d.rows != nil && (l.Verdict != "unique" || !l.Kept) {
		d.rows.add(l, from, source)
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
func (c *Collector) keep(kind string, l *lines.Line, rank float64, most int) {
	kept := c.examples[kind]
	if len(kept) == most && rank >= kept[most-1].rank {
		return
	}
	at, _ := slices.BinarySearchFunc(kept, rank, func(r ranked, rank float64) int {
		return cmp.Or(cmp.Compare(r.rank, rank), -1) // behind its equals
	})
	kept = slices.Insert(kept, at, ranked{exampleOf(kind, l), rank})
	c.examples[kind] = kept[:min(len(kept), most)]
}

// evidence returns the score, or an estimated share below it, as on pages with menus.
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
	d.Totals, d.Thresholds, d.Map = c.totals.list(), c.thresholds(), c.d.groups.chart()
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

// spreadKind is the kind of examples from all over the report.
const spreadKind = "spread"

const (
	maxSpread = 16      // examples shown
	maxPlaces = 1 << 12 // candidates held
)

// place is a part of the report, with at most one example.
type place struct {
	verdict string
	step    int // tenths of the score
	file    string
}

// spread holds one example of each place of a report: the one with the lowest hash. So examples
// come from the whole report, and the same report has the same examples.
type spread map[place]candidate

type candidate struct {
	Example
	place
	hash uint64
}

func (s spread) add(l *lines.Line) {
	if l.Verdict == "unique" {
		return
	}
	at := place{verdictOf(l), min(int(l.Score*10+1e-9), 9), l.File}
	last, known := s[at]
	if !known && len(s) == maxPlaces {
		return
	}
	h := fnv.New64a()
	h.Write([]byte(whereOf(l) + "\n" + l.ID))
	if hash := h.Sum64(); !known || hash < last.hash {
		s[at] = candidate{exampleOf(spreadKind, l), at, hash}
	}
}

// choose returns examples not shown yet, of the least used verdicts, scores, files and id folders.
func (s spread) choose(shown []Example) (chosen []Example) {
	left := slices.SortedFunc(maps.Values(s), func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.Where, b.Where))
	})
	left = slices.DeleteFunc(left, func(c candidate) bool {
		return slices.ContainsFunc(shown, func(e Example) bool { return e.Where == c.Where && e.ID == c.ID })
	})
	used := map[any]int{}
	for len(left) > 0 && len(chosen) < maxSpread {
		best := 0
		for i := range left {
			if left[i].uses(used) < left[best].uses(used) {
				best = i
			}
		}
		for _, trait := range left[best].traits() {
			used[trait]++
		}
		chosen = append(chosen, left[best].Example)
		left = slices.Delete(left, best, best+1)
	}
	slices.SortStableFunc(chosen, func(a, b Example) int { return cmp.Compare(a.Score, b.Score) })
	return chosen
}

// traits returns the traits in which examples should differ.
func (c *candidate) traits() [4]any {
	return [4]any{"verdict " + c.verdict, c.step, "folder " + path.Dir(c.ID), "file " + c.file}
}

func (c *candidate) uses(used map[any]int) (n int) {
	for _, trait := range c.traits() {
		n += used[trait]
	}
	return n
}
