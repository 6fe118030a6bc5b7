package show

import (
	"cmp"
	"container/heap"
	"slices"
)

// top counts values in a fixed number of counters by the Space-Saving rule (Metwally, Agrawal, El
// Abbadi, "Efficient Computation of Frequent and Top-k Elements in Data Streams", 2005): a new
// value takes over the smallest counter. A count is never too low. It is too high by at most the
// smallest counter's count when it was taken over.
type top struct {
	at   map[string]*counter
	heap counters
	next int // number of the next value met
}

type counter struct {
	value string
	count int64
	over  int64 // how much count may be too high
	first int   // number of the value: those met earlier come first among equals
	place int   // in the heap
}

// maxCounters is how many values are counted at once: up to that number, counts are exact.
const maxCounters = 1 << 16

func (t *top) add(value string) {
	if t.at == nil {
		t.at = map[string]*counter{}
	}
	c, known := t.at[value]
	switch {
	case known:
	case len(t.heap) < maxCounters:
		c = &counter{value: value, first: t.next}
		t.next++
		t.at[value] = c
		heap.Push(&t.heap, c)
	default:
		c = t.heap[0]
		delete(t.at, c.value)
		c.value, c.over, c.first = value, c.count, t.next
		t.next++
		t.at[value] = c
	}
	c.count++
	heap.Fix(&t.heap, c.place)
}

// Count is a value and how often it was met.
type Count struct {
	Value string `json:"value"`
	Count int64  `json:"count"`
	// Over is how much Count may be too high: more than 0 only if there were more than 65,536
	// values.
	Over int64 `json:"over,omitempty"`
}

// most are the n values met most often, the first of equals first.
func (t *top) most(n int) []Count {
	all := slices.Clone(t.heap)
	slices.SortFunc(all, func(a, b *counter) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.first, b.first))
	})
	found := []Count{}
	for _, c := range all[:min(n, len(all))] {
		found = append(found, Count{c.value, c.count, c.over})
	}
	return found
}

// counters is a heap with the smallest count on top.
type counters []*counter

func (h counters) Len() int { return len(h) }

func (h counters) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].count, h[j].count), cmp.Compare(h[i].first, h[j].first)) < 0
}

func (h counters) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h *counters) Push(x any) {
	c := x.(*counter)
	c.place = len(*h)
	*h = append(*h, c)
}

// Pop is never called: counters are taken over, not given back.
func (h *counters) Pop() any { panic("a counter is given back") }
