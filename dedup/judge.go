package dedup

import (
	"cmp"
	"slices"

	"github.com/firstseen/firstseen/feature/method"
)

// The third step of a decision judges by the candidates' records, without I/O. The method compares
// two documents; rule 10 combines several results.

// found is the finding about a candidate.
type found struct {
	candidate int // index in decider.found.Candidates, -1 for none
	at        int // index in decider.selected
	method.Finding
}

// verdict decides by the fetched records. A result from one document takes precedence over one from
// all together (rule 10).
func (c *decider) verdict(r *Result) error {
	witness, relation, err := c.alone(r)
	if err != nil {
		return err
	}
	whole := c.judge.Whole()
	r.Seen = method.Share(c.union, whole)
	switch {
	case witness.candidate >= 0:
		r.Verdict, r.Score = Duplicate, witness.Score
		r.Counted = witness.Thin && !c.confirming.active
		r.Contained, r.Estimated = witness.Contained, witness.Estimated
		r.Distance, r.ByDistance = witness.Distance, witness.ByDistance
		c.fillSources(witness, r)
	case relation.candidate >= 0:
		r.Verdict, r.Score, r.New, r.Differ = Related, relation.Share, relation.New, relation.Differ
		r.Contained, r.Estimated = relation.Contained, relation.Estimated
		c.fillSources(relation, r)
	case r.Seen > 0 && r.Seen >= c.rules.Threshold:
		r.Verdict = Mosaic
		c.fillSources(found{candidate: -1}, r)
		r.Score = method.Share(r.Also[0].Weight, whole)
		r.Contained = r.Score
	default:
		// A unique document has no Seen: it is unknown if the table was not asked.
		r.Seen = 0
	}
	r.Kept = r.Verdict != Duplicate && !(r.Verdict == Mosaic && c.rules.RemoveMosaics)
	return nil
}

// alone finds the best candidate that makes the document a copy, and the best that it is only
// related to. Ties go to the earliest.
func (c *decider) alone(r *Result) (witness, relation found, err error) {
	witness.candidate, relation.candidate = -1, -1
	tries := c.confirming.tries[:0]
	for at, i := range c.selected {
		e := &c.found.Candidates[i]
		f := found{candidate: i, at: at}
		if f.Finding, err = c.judge.Compare(e, c.read.all[at].Sketch); err != nil {
			return witness, relation, damaged(e.Num, err)
		}
		switch {
		case c.confirming.active && f.Relation == method.Copy:
			tries = append(tries, f)
		case f.Relation == method.Copy && c.better(i, f.Score, &witness, witness.Score):
			witness = f
		}
		c.relate(f, &relation)
	}
	c.confirming.tries = tries
	if c.confirming.active {
		witness, err = c.confirmed(&relation, r)
	}
	return witness, relation, err
}

func (c *decider) relate(f found, best *found) {
	if f.Relation == method.Related && c.better(f.candidate, f.Share, best, best.Share) {
		*best = f
	}
}

// better reports whether candidate i, with that share, precedes the best so far.
func (c *decider) better(i int, share float64, best *found, bestShare float64) bool {
	return best.candidate < 0 || share > bestShare ||
		share == bestShare && c.found.Candidates[i].Num < c.found.Candidates[best.candidate].Num
}

// exact sets the result for a copy of num, which has that number of features (rule 2).
func (c *decider) exact(num uint32, features int, r *Result) {
	r.Verdict, r.Kept, r.Exact = Duplicate, false, true
	r.Of = Source{Num: num, Shared: r.Segments, Weight: c.judge.Whole()}
	r.Score, r.Seen, r.Contained = 1, 1, 1
	r.OfSegments = features
}

// fillSources sets the sources of the document and the shared features.
func (c *decider) fillSources(f found, r *Result) {
	r.OfSegments = f.Features
	c.sources = c.sources[:0]
	for i := range c.found.Candidates {
		e := &c.found.Candidates[i]
		s := Source{Num: e.Num, Shared: len(c.reported(e.Shared)), Weight: e.Weight}
		switch {
		case i == f.candidate:
			r.Of = s
		case s.Shared > 0:
			c.sources = append(c.sources, s)
		}
	}
	slices.SortFunc(c.sources, func(a, b Source) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Num, b.Num)) // the heavier first
	})
	r.Also = append(r.Also, c.sources[:min(maxAlso, len(c.sources))]...)
	r.SharedSegments = c.sharedWith(f.candidate)
}

// sharedWith lists the features held by a candidate, or by any if it is -1, longest first.
func (c *decider) sharedWith(candidate int) []int {
	c.shared = c.shared[:0]
	for i := range c.found.Candidates {
		if i != candidate && candidate >= 0 {
			continue
		}
		for _, at := range c.reported(c.found.Candidates[i].Shared) {
			c.shared = append(c.shared, int(at))
		}
	}
	slices.Sort(c.shared)
	c.shared = slices.Compact(c.shared)
	return c.shared
}

// reported returns the prefix of a candidate's shared features that results report.
func (c *decider) reported(shared []uint32) []uint32 {
	n, _ := slices.BinarySearch(shared, uint32(c.sketch.Parts()))
	return shared[:n]
}
