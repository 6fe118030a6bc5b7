// Package commonest counts the most frequent values of a stream in a fixed number of counters.
package commonest

// Counters count values by the Space-Saving rule (Metwally, Agrawal, El Abbadi, "Efficient
// Computation of Frequent and Top-k Elements in Data Streams", 2005): a new value takes over the
// smallest counter. A count is never too low. It is too high by at most the smallest count. The
// zero value holds no counters; Most has to be set first.
type Counters[K comparable, N any] struct {
	Most  int // number of values counted at once; up to it, counts are exact
	byKey map[K]*Counter[K, N]
	heap  []*Counter[K, N] // a binary heap with the smallest count on top
}

// Counter is the count of one value.
type Counter[K comparable, N any] struct {
	Key   K
	Note  N // belongs to the key
	Count uint64
	Over  uint64 // how much Count may be too high
	at    int    // position in the heap
}

// Add counts a value and returns its counter. The note is kept if the value gets a counter now.
func (c *Counters[K, N]) Add(key K, note N) *Counter[K, N] {
	if c.byKey == nil {
		c.byKey = make(map[K]*Counter[K, N], min(c.Most, 256))
	}
	n, known := c.byKey[key]
	switch {
	case known:
	case len(c.heap) < c.Most:
		n = &Counter[K, N]{Key: key, Note: note, at: len(c.heap)}
		c.heap = append(c.heap, n)
		c.byKey[key] = n
		c.up(n)
	default:
		n = c.heap[0]
		delete(c.byKey, n.Key)
		n.Key, n.Note, n.Over = key, note, n.Count
		c.byKey[key] = n
	}
	n.Count++
	c.down(n)
	return n
}

// All returns the counters, the smallest count first and the others in no order.
func (c *Counters[K, N]) All() []*Counter[K, N] { return c.heap }

// up moves a new counter of count 0 to its place.
func (c *Counters[K, N]) up(n *Counter[K, N]) {
	for n.at > 0 {
		parent := c.heap[(n.at-1)/2]
		if parent.Count <= n.Count {
			return
		}
		c.swap(n, parent)
	}
}

// down moves an incremented counter to its place.
func (c *Counters[K, N]) down(n *Counter[K, N]) {
	for {
		least := n
		for _, at := range [2]int{2*n.at + 1, 2*n.at + 2} {
			if at < len(c.heap) && c.heap[at].Count < least.Count {
				least = c.heap[at]
			}
		}
		if least == n {
			return
		}
		c.swap(n, least)
	}
}

func (c *Counters[K, N]) swap(a, b *Counter[K, N]) {
	a.at, b.at = b.at, a.at
	c.heap[a.at], c.heap[b.at] = a, b
}
