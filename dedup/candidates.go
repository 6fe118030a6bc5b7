package dedup

import (
	"slices"

	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
)

// The first step of a decision: the filter and the store name the earlier documents
// that matter. Nothing is compared here.

// load brings the sketch's keys into d.Keys, its whole-text fingerprint last, and the
// filter's answers into d.Seen (rule 1).
func (d *Deduper) load(s *feature.Sketch) {
	d.Keys = d.Keys[:0]
	for i := range s.Features {
		d.Keys = append(d.Keys, s.Features[i].Key)
	}
	d.Keys = append(d.Keys, s.Whole)
	d.askFilter()
	d.decision.load(s)
}

func (d *Deduper) askFilter() {
	if cap(d.Seen) < len(d.Keys) {
		d.Seen = make([]bool, 2*len(d.Keys))
	}
	d.Seen = d.Seen[:len(d.Keys)]
	if d.Cfg.Filter != nil {
		d.Cfg.Filter.Test(d.Keys, d.Seen)
		return
	}
	for i := range d.Seen {
		d.Seen[i] = true
	}
}

// lookupWhole asks the table who was kept under the document's whole-text fingerprint
// (rule 2), which is the key after the n features'.
func (d *Deduper) lookupWhole(n int) (nums []uint32, err error) {
	found := &d.decision.postings
	if err := found.lookup(d.Cfg.Table, d.Keys[n:]); err != nil {
		return nil, err
	}
	d.count(1)
	return found.of(0), nil
}

// lookup asks the table for the first n keys that the filter has seen (rule 6). The
// other keys are absent for certain.
func (d *Deduper) lookup(n int) error {
	c := &d.decision
	c.asked, d.ask = c.asked[:0], d.ask[:0]
	for i := range n {
		if d.Seen[i] {
			c.asked = append(c.asked, i)
			d.ask = append(d.ask, d.Keys[i])
		}
	}
	if err := c.postings.lookup(d.Cfg.Table, d.ask); err != nil {
		return err
	}
	d.count(len(d.ask))
	return nil
}

// count counts a look-up of so many keys.
func (d *Deduper) count(keys int) {
	d.counts.Lookups++
	for i := range keys {
		if len(d.decision.postings.of(i)) > 0 {
			d.counts.Confirmed++
		} else {
			d.counts.Refuted++
		}
	}
}

// gather makes candidates of the documents that hold features which were looked up,
// in order of arrival. A feature that MaxHolders hold is common (rule 6): it counts
// apart. gather notes the weight that all hold together of the others.
func (c *decision) gather() {
	c.pairs, c.found.Common, c.union = c.pairs[:0], c.found.Common[:0], 0
	for a, i := range c.asked {
		docs := c.postings.of(a)
		what := uint64(i)
		switch {
		case len(docs) >= MaxHolders:
			what |= commonPair
			c.found.Common = append(c.found.Common, uint32(i))
		case len(docs) > 0:
			c.union += c.judge.Weight(i)
		}
		for _, num := range docs {
			c.pairs = append(c.pairs, uint64(num)<<32|what)
		}
	}
	slices.Sort(c.pairs)
	c.group()
}

// commonPair marks a pair of a document and a common feature.
const commonPair = 1 << 31

// group turns the pairs, which are sorted, into candidates.
func (c *decision) group() {
	candidates := c.found.Candidates[:0]
	c.positions = slices.Grow(c.positions[:0], len(c.pairs)) // does not move below
	for _, pair := range c.pairs {
		num, i := uint32(pair>>32), uint32(pair)
		if last := len(candidates) - 1; last < 0 || candidates[last].Num != num {
			candidates = append(candidates, method.Candidate{Num: num, Shared: c.positions[len(c.positions):]})
		}
		e := &candidates[len(candidates)-1]
		weight := c.judge.Weight(int(i &^ commonPair))
		if i&commonPair != 0 {
			e.CommonWeight += weight
			continue
		}
		c.positions = append(c.positions, i)
		e.Shared = e.Shared[:len(e.Shared)+1]
		e.Weight += weight
	}
	c.found.Candidates = candidates
}
