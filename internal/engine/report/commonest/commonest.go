// Package commonest counts the most frequent values of a stream in a fixed number of counters.
package commonest

import "container/heap"

// Counters counts values by the Space-Saving algorithm (Metwally, Agrawal, El Abbadi, "Efficient
// Computation of Frequent and Top-k Elements in Data Streams", 2005). A new value takes over the
// smallest counter. Counts are never too low, and too high by at most the smallest. Set Most first.
type Counters[K comparable, N any] struct {
	Most  int // number of values counted at once; up to it, counts are exact
	byKey map[K]*Counter[K, N]
	heap  smallest[K, N]
}

// Counter is the count of one value.
type Counter[K comparable, N any] struct {
	Key   K
	Note  N // belongs to the key
	Count uint64
	Over  uint64 // the most by which Count is too high
	at    int    // position in the heap
}

// Add counts a value and returns its counter. The note is kept only for a new counter.
func (c *Counters[K, N]) Add(key K, note N) *Counter[K, N] {
	if c.byKey == nil {
		c.byKey = make(map[K]*Counter[K, N], min(c.Most, 256))
	}
	n, known := c.byKey[key]
	switch {
	case known:
	case len(c.heap) < c.Most:
		n = &Counter[K, N]{Key: key, Note: note, at: len(c.heap)}
		heap.Push(&c.heap, n)
		c.byKey[key] = n
	default:
		n = c.heap[0]
		delete(c.byKey, n.Key)
		n.Key, n.Note, n.Over = key, note, n.Count
		c.byKey[key] = n
	}
	n.Count++
	heap.Fix(&c.heap, n.at)
	return n
}

// All returns the counters, the smallest count first and the others in any order.
func (c *Counters[K, N]) All() []*Counter[K, N] { return c.heap }

// smallest is a heap.Interface with the smallest count on top. Nothing is removed from it.
type smallest[K comparable, N any] []*Counter[K, N]

func (h smallest[K, N]) Len() int           { return len(h) }
func (h smallest[K, N]) Less(i, j int) bool { return h[i].Count < h[j].Count }
func (h *smallest[K, N]) Push(n any)        { *h = append(*h, n.(*Counter[K, N])) }
func (h *smallest[K, N]) Pop() any          { panic("no counter is taken away") }

func (h smallest[K, N]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}
