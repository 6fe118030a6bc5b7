package dedup

import (
	"slices"

	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
)

// A decider takes one document through the three steps: finding its candidates (candidates.go),
// reading their records, and judging (judge.go). The first two use the filter and the store; the
// third needs neither. Its buffers are reused.
type decider struct {
	rules  Rules
	judge  method.Judge
	sketch *feature.Sketch
	keys   []uint64 // of its features, and of the whole text
	seen   []bool   // the filter's answer for each key
	counts Counts

	answers   answers
	pairs     []uint64 // one document<<32 | feature for each posting
	postings  postings // of the pairs
	positions []uint32 // the features of pairs that are not common
	found     method.Found
	union     uint64 // the weight of all features with holders that are not common

	selected []int // the candidates to compare
	read     records

	confirming confirming

	sources []Source
	shared  []int
	also    []Source
}

func (c *decider) load(s *feature.Sketch, keys []uint64, seen []bool) {
	c.sketch, c.keys, c.seen = s, keys, seen
	c.judge.Load(s)
}

// decide judges the document with a table, by the rules of docs/design.md, "The decision".
func (c *decider) decide(table Asker) (Result, error) {
	r, err := c.byRules(table)
	if err == nil {
		c.keepUnconfirmed(&r)
	}
	return r, err
}

func (c *decider) byRules(table Asker) (Result, error) {
	r, n := c.unique(), len(c.sketch.Features)
	if c.seen[n] {
		if done, err := c.decideExact(table, &r); done || err != nil {
			return r, err
		}
	}
	if !c.judge.MayReach(c.seen[:n]) { // rule 4
		return r, nil
	}
	r, err := c.byHolders(table)
	if err == nil && r.Counted {
		r.Counted, err = c.countsNot(table) // else a page would count each time it comes
	}
	if err != nil {
		return r, err
	}
	c.also = r.Also
	return r, c.nameSources(table, &r)
}

// countsNot reports whether no document with the text of this one counts already (rule 5).
func (c *decider) countsNot(table Asker) (bool, error) {
	counts := c.counts
	nums, err := c.holdersOfWhole(table)
	c.counts = counts
	return !slices.Contains(nums, Counted), err
}

// byHolders judges by the documents that hold the seen keys.
func (c *decider) byHolders(table Asker) (Result, error) {
	r, n := c.unique(), len(c.sketch.Features)
	// The filter proves that keys it has not seen are absent (rule 5).
	if err := c.answers.lookupSeen(table, c.keys[:n], c.seen); err != nil {
		return r, err
	}
	c.count(len(c.answers.keys))
	c.gather()
	c.selected = c.judge.Select(c.selected[:0], &c.found)
	c.read.nums = c.read.nums[:0]
	for _, i := range c.selected {
		c.read.nums = append(c.read.nums, c.found.Candidates[i].Num)
	}
	if err := c.read.read(table); err != nil {
		return r, err
	}
	return r, c.verdict(&r)
}

// unique returns the result for a document if nothing else is found.
func (c *decider) unique() Result {
	return Result{Kept: true, Segments: c.sketch.Parts(), Also: c.also[:0]}
}

// decideExact looks for a kept document with the same whole text. It is the best possible witness,
// found by one key however common the features (rule 2). The key may also belong to a feature, so
// the stored records of its holders are compared.
func (c *decider) decideExact(table Asker, r *Result) (done bool, err error) {
	nums, err := c.holdersOfWhole(table)
	if err != nil {
		return false, err
	}
	c.count(1)
	for _, num := range named(nums) { // nearly always the first
		if err := c.fetchOne(table, num); err != nil {
			return false, err
		}
		same, features, err := c.judge.Same(c.read.all[0].Sketch)
		if err != nil {
			return false, damaged(num, err)
		}
		if same {
			if same, err = c.confirmExact(num, features, r); err != nil {
				return false, err
			}
		}
		if same {
			c.exact(num, features, r)
			r.Of.ID = string(c.read.ids[0])
			return true, nil
		}
	}
	return false, nil
}

func (c *decider) fetchOne(table Asker, num uint32) error {
	c.read.nums = append(c.read.nums[:0], num)
	return c.read.read(table)
}

// nameSources adds the ids of the documents in a result.
func (c *decider) nameSources(table Asker, r *Result) error {
	c.read.nums = c.read.nums[:0]
	if r.Of.Num != 0 {
		c.read.nums = append(c.read.nums, r.Of.Num)
	}
	for i := range r.Also {
		c.read.nums = append(c.read.nums, r.Also[i].Num)
	}
	if err := c.read.read(table); err != nil {
		return err
	}
	ids := c.read.ids
	if r.Of.Num != 0 {
		r.Of.ID, ids = string(ids[0]), ids[1:]
	}
	for i := range r.Also {
		r.Also[i].ID = string(ids[i])
	}
	return nil
}
