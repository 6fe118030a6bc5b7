package dedup

import (
	"errors"
	"fmt"

	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
)

// neighbors uses the memory of a method that does not rely on equal keys alone. The memory holds
// all kept documents, and returns the features under which documents close to a given one were
// kept. These replace the document's own features for look-ups.
type neighbors struct {
	memory method.Memory
	sketch feature.Sketch // the document with those features
	keys   []uint64
	seen   []bool
	has    uint64 // documents in memory
}

var errUncounted = errors.New("this method needs all kept documents in memory, and the store does not report their number: use another method, or a SharedStore")

// newNeighbors fills a method's memory from the store. Without either it returns nil.
func newNeighbors(m method.Method, table Store) (*neighbors, error) {
	r, ok := m.(method.Rememberer)
	if !ok || table == nil {
		return nil, nil
	}
	shared, ok := table.(SharedStore)
	if !ok {
		return nil, errUncounted
	}
	n := &neighbors{memory: r.NewMemory()}
	return n, n.fill(shared)
}

func (n *neighbors) fill(table SharedStore) error {
	const together = 1024
	var r records
	for done, last := uint32(0), table.Documents(); done < last; {
		r.nums = r.nums[:0]
		for len(r.nums) < together && done < last {
			if done++; table.Live(done) {
				r.nums = append(r.nums, done)
			}
		}
		if err := r.read(table); err != nil {
			return fmt.Errorf("reading the kept documents: %w", err)
		}
		for i := range r.all {
			if err := n.add(r.all[i].Sketch); err != nil {
				return damaged(r.nums[i], err)
			}
		}
	}
	return nil
}

func (n *neighbors) add(sketch []byte) error {
	n.has++
	return n.memory.Add(sketch)
}

// Thin takes an upper bound on the number of documents that the store names. If a method's memory
// holds more than twice as many, Thin rebuilds it. Only named documents are candidates anyway.
func (d *Deduper) Thin(documents uint64) (err error) {
	if d.neighbors != nil && d.neighbors.has > 2*documents {
		d.neighbors = nil // else both would be in memory
		d.neighbors, err = newNeighbors(d.method, d.cfg.Table)
	}
	return err
}

// load sets c to s with the features of close documents. c must have loaded s itself.
func (n *neighbors) load(c *decider, s *feature.Sketch) {
	own := len(c.keys) - 1
	n.sketch = method.Sketch{
		Features: n.memory.Near(n.sketch.Features[:0], s),
		Whole:    s.Whole, Width: s.Width, Units: s.Units, Truncated: s.Truncated, Data: s.Data,
	}
	n.sketch.Leads = len(n.sketch.Features)
	n.keys, n.seen = appendKeys(n.keys[:0], &n.sketch), n.seen[:0]
	for range n.sketch.Features {
		n.seen = append(n.seen, true) // the memory has seen them
	}
	n.seen = append(n.seen, c.seen[own])
	c.load(&n.sketch, n.keys, n.seen)
}
