package dedup

import (
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
)

// A decision is one document on its way through the three steps: its candidates are
// found (candidates.go), their records fetched (fetch.go), and judged (judge.go). The
// first two ask the filter and the store, the third asks nobody. Its buffers are
// reused.
type decision struct {
	rules  Rules
	judge  method.Judge
	sketch *feature.Sketch

	asked     []int // the features looked up, in order
	postings  postings
	pairs     []uint64 // one document<<32 | feature for each posting
	positions []uint32 // the features of pairs that are not common
	found     method.Found
	union     uint64 // the weight of all features held that are not common

	selected []int // the candidates to compare
	read     records
	sketches [][]byte // what is stored of those read

	sources []Source
	shared  []int
	also    []Source
}

// load makes s the document to decide about.
func (c *decision) load(s *feature.Sketch) {
	c.sketch = s
	c.judge.Load(s)
}

// decide judges a document beside a table, by the rules of docs/design.md, "The
// decision".
func (d *Deduper) decide(s *feature.Sketch) (Result, error) {
	d.load(s)
	c, n := &d.decision, len(s.Features)
	r := Result{Kept: true, Segments: s.Parts(), Also: c.also[:0]}
	if d.Seen[n] {
		if done, err := d.decideExact(n, &r); done || err != nil {
			return r, err
		}
	}
	if !c.judge.MayReach(d.Seen[:n]) { // rule 5
		return r, nil
	}
	if err := d.lookup(n); err != nil {
		return r, err
	}
	c.gather()
	if err := c.fetch(d.Cfg.Table); err != nil {
		return r, err
	}
	if err := c.verdict(&r); err != nil {
		return r, err
	}
	c.also = r.Also
	return r, c.nameSources(d.Cfg.Table, &r)
}

// decideExact looks for a kept document with the same whole text: the best witness
// there is, found by one key however common the features (rule 2). That key may also
// be one of a feature, so what is stored of its holders is compared. n is how many
// features there are.
func (d *Deduper) decideExact(n int, r *Result) (done bool, err error) {
	nums, err := d.lookupWhole(n)
	if err != nil {
		return false, err
	}
	c := &d.decision
	for _, num := range nums { // the first is it, nearly always
		if err := c.fetchOne(d.Cfg.Table, num); err != nil {
			return false, err
		}
		same, features, err := c.judge.Same(c.sketches[0])
		if err != nil {
			return false, c.damaged(num, err)
		}
		if same {
			c.exact(num, features, r)
			r.Of.ID = string(c.read.ids[0])
			return true, nil
		}
	}
	return false, nil
}
