package show

import (
	"cmp"
	"slices"

	"github.com/firstseen/firstseen/internal/report/commonest"
)

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
