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
