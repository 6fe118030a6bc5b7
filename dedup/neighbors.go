package dedup

import (
	"errors"
	"fmt"

	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
)

// A near is the memory of a method that finds documents by more than equal keys. It holds all kept
// documents, and names the features that those near a document were kept under. These are looked up
// in place of the document's own.
type neighbors struct {
	memory method.Memory
	sketch feature.Sketch // of the document, with those features
	keys   []uint64
	seen   []bool
	has    uint64 // documents in memory
}

var errUncounted = errors.New("this method has all kept documents in memory, and the store does not say how many it has: use another method, or a store with the method Documents")

// newNeighbors fills a method's memory from the store. It returns nil for a method without a memory, and
// without a store.
func newNeighbors(m method.Method, table Store) (*neighbors, error) {
	r, ok := m.(method.Rememberer)
	if !ok || table == nil {
		return nil, nil
	}
	counted, ok := table.(interface{ Documents() uint32 })
	if !ok {
		return nil, errUncounted
	}
	n := &neighbors{memory: r.NewMemory()}
	return n, n.fill(table, counted.Documents())
}

// A liver is a Store that can take documents back, after which it knows nothing of them.
type liver interface{ Live(num uint32) bool }

// fill reads the stored records of all documents.
func (n *neighbors) fill(table Store, documents uint32) error {
	const together = 1024
	var r records
	dead, someDead := table.(liver)
	for done := uint32(0); done < documents; {
		r.nums = r.nums[:0]
		for len(r.nums) < together && done < documents {
			if done++; !someDead || dead.Live(done) {
				r.nums = append(r.nums, done)
			}
		}
		if err := r.read(table); err != nil {
			return fmt.Errorf("reading what is kept: %w", err)
		}
		for i, data := range r.data {
			record, err := ParseRecord(data)
			if err == nil {
				err = n.add(record.Sketch)
			}
			if err != nil {
				return fmt.Errorf("document %d: %w", r.nums[i], err)
			}
		}
	}
	return nil
}

// add remembers the stored record of a document.
func (n *neighbors) add(sketch []byte) error {
	n.has++
	return n.memory.Add(sketch)
}

// Thin takes the largest number of documents that the store names. If a method has twice as many
// and more in memory, the memory is filled anew. Documents not named are no candidates, whether
// they are in memory or not.
func (d *Deduper) Thin(documents uint64) (err error) {
	if d.neighbors != nil && d.neighbors.has > 2*documents {
		d.neighbors = nil // or both would be in memory
		d.neighbors, err = newNeighbors(d.method, d.Cfg.Table)
	}
	return err
}

// load makes s, whose own keys are loaded already, the document of c, to be looked up by its near
// documents.
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
