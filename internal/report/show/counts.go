package show

import (
	"cmp"
	"slices"

	"github.com/firstseen/firstseen/internal/report/commonest"
	"github.com/firstseen/firstseen/internal/report/lines"
)

// Total counts the documents of a verdict. Bytes are those of their texts; they are known after
// ReadTexts.
type Total struct {
	Verdict      string `json:"verdict"`
	Documents    int64  `json:"documents"`
	Kept         int64  `json:"kept"`
	Removed      int64  `json:"removed"`
	Bytes        int64  `json:"bytes,omitempty"`
	RemovedBytes int64  `json:"removed_bytes,omitempty"`
}

// verdictNames are the verdicts in the order of totals. Duplicates are counted in two lines.
var verdictNames = []string{"unique", "exact duplicate", "duplicate", "related", "mosaic"}

func verdictOf(l *lines.Line) string {
	switch {
	case l == nil:
		return "unique"
	case l.Exact && l.Verdict == "duplicate":
		return "exact duplicate"
	}
	return l.Verdict
}

func (t *Total) count(kept bool, bytes int64) {
	t.Documents++
	t.Bytes += bytes
	if kept {
		t.Kept++
	} else {
		t.Removed++
		t.RemovedBytes += bytes
	}
}

func (c *Collector) total(l *lines.Line) *Total {
	if c.totals == nil {
		c.totals = map[string]*Total{}
	}
	verdict := verdictOf(l)
	if c.totals[verdict] == nil {
		c.totals[verdict] = &Total{Verdict: verdict}
	}
	return c.totals[verdict]
}

// allTotals returns the totals of the verdicts met.
func (c *Collector) allTotals() []Total {
	totals := []Total{}
	for _, verdict := range verdictNames {
		if t := c.totals[verdict]; t != nil {
			totals = append(totals, *t)
		}
	}
	return totals
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

// top counts values in at most maxCounters counters. The note of a counter is the number of the
// value's first arrival: among equals, earlier values come first.
type top struct {
	commonest.Counters[string, int]
	next int
}

// maxCounters is how many values are counted at once: up to that number, counts are exact.
const maxCounters = 1 << 16

func (t *top) add(value string) {
	t.Most = maxCounters
	t.Add(value, t.next)
	t.next++
}

// Count is a value and how often it was met.
type Count struct {
	Value string `json:"value"`
	Count int64  `json:"count"`
	// Over is how much Count may be too high: more than 0 only if there were more than 65,536
	// values.
	Over int64 `json:"over,omitempty"`
}

// most returns the n values met most often, the first of equals first.
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

type table struct {
	Title, Head, What string
	Counts            []Count
}

// tables are the values met most often. Sites that copy are called by what and joined by copies.
func (d *Digest) tables(what, copies string) []table {
	sites := make([]Count, len(d.Copies))
	for i, c := range d.Copies {
		sites[i] = Count{c.Site + copies + c.Of, c.Count, c.Over}
	}
	return []table{
		{"Copied most", "copies", "document", d.Documents},
		{"Copied most, by site", "copies", "site", d.Sites},
		{"Who copies whom", "copies", what, sites},
		{"Removed most, by input", "removed", "input", d.Files},
	}
}

// bins are those from the first to the last that has something, and the most that one has.
func (d *Digest) bins() (bins []Bin, most int64) {
	bins = d.Histogram[:]
	for len(bins) > 0 && bins[0].all() == 0 {
		bins = bins[1:]
	}
	for len(bins) > 0 && bins[len(bins)-1].all() == 0 {
		bins = bins[:len(bins)-1]
	}
	for i := range bins {
		most = max(most, bins[i].all())
	}
	return bins, most
}

func (b *Bin) all() int64 { return b.Duplicates + b.Related + b.Mosaics }
