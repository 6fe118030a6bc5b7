package report

import (
	"cmp"
	"slices"
)

// Commonest counts the segments that kept documents repeat most. Users want to see these
// in a corpus: menus, licences, mail footers.
//
// It keeps a fixed number of counters by the Space-Saving rule (Metwally,
// Agrawal, El Abbadi, "Efficient Computation of Frequent and Top-k Elements in
// Data Streams", 2005): a new key takes over the smallest counter. A count is
// never too low and at most too high by the smallest counter.
//
// The counters are in parts, by the order of segments, which is the same for every secret. The
// counts of a part depend on its own segments alone. So several goroutines can count, each for other
// parts.
type Commonest struct{ parts [CommonParts]counters }

// CommonParts is how many parts the counters are in.
const CommonParts = 8

// CommonPart is the part of a segment, by its order.
func CommonPart(order uint64) int { return int(order % CommonParts) }

type counters struct {
	counters map[uint64]*counter
	heap     []*counter // a binary heap, the smallest count on top
}

type counter struct {
	key   uint64
	order uint64 // of the segment, the same for every secret
	count uint64
	own   uint64 // of count, since the key took the counter over
	Text  string // quoted once own makes it likely to be shown
	at    int    // position in the heap
}

const (
	maxCounters = 256 // of a part
	quoteAt     = 8
)

// Add counts a segment once more, by its key and order, and reports the counter
// if it wants its text.
func (c *Commonest) Add(key, order uint64) (wantsText *counter) {
	return c.parts[CommonPart(order)].add(key, order)
}

func (c *counters) add(key, order uint64) (wantsText *counter) {
	if c.counters == nil {
		c.counters = make(map[uint64]*counter, maxCounters)
	}
	n, ok := c.counters[key]
	switch {
	case ok:
	case len(c.heap) < maxCounters:
		n = &counter{key: key, order: order, at: len(c.heap)}
		c.heap = append(c.heap, n)
		c.counters[key] = n
		c.up(n)
	default:
		n = c.heap[0]
		delete(c.counters, n.key)
		n.key, n.order, n.own, n.Text = key, order, 0, ""
		c.counters[key] = n
	}
	n.count++
	n.own++
	c.down(n)
	if n.own == quoteAt {
		return n
	}
	return nil
}

// up moves a new counter of count 0 to its place.
func (c *counters) up(n *counter) {
	for n.at > 0 {
		parent := c.heap[(n.at-1)/2]
		if parent.count <= n.count {
			return
		}
		c.swap(n, parent)
	}
}

// down moves a counter that was incremented to its place.
func (c *counters) down(n *counter) {
	for {
		least := n
		for _, at := range [2]int{2*n.at + 1, 2*n.at + 2} {
			if at < len(c.heap) && c.heap[at].count < least.count {
				least = c.heap[at]
			}
		}
		if least == n {
			return
		}
		c.swap(n, least)
	}
}

func (c *counters) swap(a, b *counter) {
	a.at, b.at = b.at, a.at
	c.heap[a.at], c.heap[b.at] = a, b
}

// CommonSegment is a segment that many kept documents hold.
type CommonSegment struct {
	Text string `json:"text"`
	// Documents is how many kept documents repeated it after the first. It may be too high, at most
	// by the least of all counters of its part.
	Documents uint64 `json:"documents"`
}

// top returns the n commonest, the commonest first.
func (c *Commonest) Top(n int) []CommonSegment {
	var quoted []*counter
	for i := range c.parts {
		quoted = append(quoted, c.parts[i].heap...)
	}
	quoted = slices.DeleteFunc(quoted, func(n *counter) bool { return n.Text == "" })
	slices.SortFunc(quoted, func(a, b *counter) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.order, b.order))
	})
	common := []CommonSegment{}
	for _, q := range quoted[:min(n, len(quoted))] {
		common = append(common, CommonSegment{q.Text, q.count})
	}
	return common
}
