package segments

import (
	"slices"

	"github.com/firstseen/firstseen/feature/method"
)

// minComparable is from how many segments on a number of them says something (rules
// 2, 5, 8 and 9). So many of a document's must be comparable with an earlier one
// known only down to its cut-off for the share over them to count: of fewer, one long
// passage quoted is most.
const minComparable = 5

// boundary is the number of a text's runs of three words, for each segment, that lie across its
// ends (rule 3). They are lost with either neighbour, so a segment of n words vouches for n-2 of
// the text's runs. With this weight, a document of many short lines, half of them recurring, is not
// half a copy. Measured on the labelled sets in docs/quality.md, against a weight of n: false
// removals 1.6% to 0.4% of edited news, 8 to 0 of manual pages.
const boundary = 2

// A Judge weighs the text that one document shares with others. Its buffers are reused.
//
// With both scores the judging is the same arithmetic over weights. Features come longest first, in
// the order in which they are chosen. So the comparable part of an earlier document known only down
// to its cut-off is always a prefix of them.
type Judge struct {
	rules  method.Rules
	sketch *method.Sketch
	prefix []uint64 // prefix[p] is the size of the first p features
	whole  uint64   // the size of the document
}

// NewJudge returns a Judge by the rules.
func NewJudge(r method.Rules) *Judge { return &Judge{rules: r} }

// Load makes s the document under judgement.
func (j *Judge) Load(s *method.Sketch) {
	j.sketch = s
	j.prefix = append(j.prefix[:0], 0)
	for i := range s.Features {
		j.prefix = append(j.prefix, j.prefix[i]+j.Size(i))
	}
	j.whole = j.prefix[len(s.Features)]
	if j.rules.Score == method.ScoreText && !s.Truncated {
		j.whole = s.Units
	}
}

// Weight is the weight of the i-th feature when shared: the runs of three words inside it, rule 3.
func (j *Judge) Weight(i int) uint64 {
	if j.rules.Score == method.ScoreSegments {
		return 1
	}
	return uint64(max(j.sketch.Features[i].Units, boundary) - boundary)
}

// Size is the weight of the i-th feature in the whole.
func (j *Judge) Size(i int) uint64 {
	if j.rules.Score == method.ScoreSegments {
		return 1
	}
	return uint64(j.sketch.Features[i].Units)
}

// Whole is the denominator of rule 4.
func (j *Judge) Whole() uint64 { return j.whole }

// denominator is the size that shares over the first p features refer to (rules 4 and
// 7): all of the document's text, short pieces included, only when all of its
// segments are comparable.
func (j *Judge) denominator(p int) uint64 {
	if p == len(j.sketch.Features) {
		return j.whole
	}
	return j.prefix[p]
}

func (j *Judge) reaches(weight uint64, p int) bool {
	return method.Share(weight, j.denominator(p)) >= j.rules.Threshold
}

// MayReach is rule 5. The filter's answers have no false negatives and the table can
// only refute, so a no is final. It is asked of every prefix that an earlier
// document's cut-off could leave comparable.
func (j *Judge) MayReach(seen []bool) bool {
	n := len(j.sketch.Features)
	var weight uint64
	for i := range n {
		if seen[i] {
			weight += j.Weight(i)
		}
		if p := i + 1; (p >= minComparable || p == n) && j.reaches(weight, p) {
			return true
		}
	}
	return false
}

// Select picks the candidates with enough weight to suffice. A common segment counts as shared with
// no document (rule 6).
func (j *Judge) Select(dst []int, f *method.Found) []int {
	for i := range f.Candidates {
		if j.reaches(f.Candidates[i].Weight, min(minComparable, len(j.sketch.Features))) {
			dst = append(dst, i)
		}
	}
	return dst
}

// MayReachWith is MayReach of those segments alone that a candidate shares.
func (j *Judge) MayReachWith(c *method.Candidate) bool {
	n, shared := len(j.sketch.Features), c.Shared
	if !j.reaches(c.Weight, min(minComparable, n)) {
		return false // nor over more, if it is no heavier
	}
	var weight uint64
	for i := range n {
		if len(shared) > 0 && int(shared[0]) == i {
			weight += j.Weight(i)
			shared = shared[1:]
		}
		if p := i + 1; (p >= minComparable || p == n) && j.reaches(weight, p) {
			return true
		}
	}
	return false
}

// Compare is rules 7 and 8, and of rule 9 whether enough is comparable to justify a
// removal.
func (j *Judge) Compare(c *method.Candidate, data []byte) (method.Finding, error) {
	r, rest, err := ParseRecord(data)
	if err != nil || len(rest) > 0 {
		return method.Finding{}, errRecord
	}
	return j.CompareRecord(c, &r), nil
}

// CompareRecord is Compare with a record that was parsed.
func (j *Judge) CompareRecord(c *method.Candidate, r *Record) method.Finding {
	p := j.comparable(r)
	over := j.weightOver(c, p)
	f := method.Finding{
		Score:      method.Share(c.Weight, j.whole),
		Share:      method.Share(over, j.denominator(p)),
		Comparable: p, Features: r.Features,
	}
	f.Contained = f.Score
	switch whole := f.Score >= j.rules.Threshold; {
	case whole && j.enough(p):
		f.Relation = method.Copy
	case whole || p >= minComparable && f.Share >= j.rules.Threshold:
		f.Relation = method.Related
	}
	return f
}

// comparable returns how many of the document's features could be among those chosen
// from the document of r (rule 7): all of them, or those at or above its cut-off.
func (j *Judge) comparable(r *Record) int {
	features := j.sketch.Features
	if r.CutWidth == 0 {
		return len(features)
	}
	p, _ := slices.BinarySearchFunc(features, *r, func(f method.Feature, r Record) int {
		if f.Width > r.CutWidth || f.Width == r.CutWidth && f.Order <= r.CutOrder {
			return -1
		}
		return 1
	})
	return p
}

// enough reports whether p comparable features justify a removal (rule 9).
func (j *Judge) enough(p int) bool {
	n := len(j.sketch.Features)
	return p == n || p >= minComparable && 2*p >= n
}

// weightOver is the weight that a candidate holds of the first p features: all it
// holds, unless the keys of two different segments are equal.
func (j *Judge) weightOver(c *method.Candidate, p int) (weight uint64) {
	for _, i := range c.Shared {
		if int(i) >= p {
			break
		}
		weight += j.Weight(int(i))
	}
	return weight
}

// Record appends the data stored with the document.
func (j *Judge) Record(dst []byte) []byte {
	r := recordOf(j.sketch)
	return r.Append(dst)
}

// Same is the comparison of rule 2. One comma more changes the number of segments, of
// which a text with few would not be found again by the others.
func (j *Judge) Same(data []byte) (same bool, features int, err error) {
	a, _, err := ParseRecord(data)
	b := recordOf(j.sketch)
	few := max(a.Features, b.Features) < minComparable
	same = err == nil && a.Whole == b.Whole && a.CutWidth == b.CutWidth && a.CutOrder == b.CutOrder &&
		(few || a.Features == b.Features)
	return same, a.Features, err
}
