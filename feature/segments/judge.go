package segments

import (
	"encoding/binary"
	"errors"
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
	Rules    method.Rules
	sketch   *method.Sketch
	features []method.Feature // its segments; leads of a method that has them weigh nothing
	prefix   []uint64         // prefix[p] is the size of the first p features
	whole    uint64           // the size of the document
}

// NewJudge returns a Judge by the rules.
func NewJudge(r method.Rules) *Judge { return &Judge{Rules: r} }

// Load makes s the document under judgement.
func (j *Judge) Load(s *method.Sketch) {
	j.sketch, j.features = s, s.Features[:s.Parts()]
	j.prefix = append(j.prefix[:0], 0)
	for i := range j.features {
		j.prefix = append(j.prefix, j.prefix[i]+j.Size(i))
	}
	j.whole = j.prefix[len(j.features)]
	if !j.BySegments() && !s.Truncated {
		j.whole = s.Units
	}
}

// BySegments reports whether features count, and not their words.
func (j *Judge) BySegments() bool { return j.Rules.Score == method.ScoreSegments }

// Weight is the weight of the i-th feature when shared: the runs of three words inside it, rule 3.
func (j *Judge) Weight(i int) uint64 { return j.sizeWithout(i, boundary) }

// Size is the weight of the i-th feature in the whole.
func (j *Judge) Size(i int) uint64 { return j.sizeWithout(i, 0) }

// sizeWithout is the size of the i-th feature without so many words.
func (j *Judge) sizeWithout(i int, words uint32) uint64 {
	switch {
	case i >= len(j.features):
		return 0
	case j.BySegments():
		return 1
	}
	return uint64(max(j.features[i].Units, words) - words)
}

// Whole is the denominator of rule 4.
func (j *Judge) Whole() uint64 { return j.whole }

// denominator is the size that shares over the first p features refer to (rules 4 and
// 7): all of the document's text, short pieces included, only when all of its
// segments are comparable.
func (j *Judge) denominator(p int) uint64 {
	if p == len(j.features) {
		return j.whole
	}
	return j.prefix[p]
}

func (j *Judge) reaches(weight uint64, p int) bool {
	return method.Share(weight, j.denominator(p)) >= j.Rules.Threshold
}

// MayReach is rule 5. The filter's answers have no false negatives and the table can
// only refute, so a no is final.
func (j *Judge) MayReach(seen []bool) bool {
	return j.mayReach(func(i int) bool { return seen[i] })
}

// mayReach reports whether the shared segments reach the threshold over any prefix that an earlier
// document's cut-off could leave comparable.
func (j *Judge) mayReach(shared func(i int) bool) bool {
	n := len(j.features)
	var weight uint64
	for i := range n {
		if shared(i) {
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
		if j.reaches(f.Candidates[i].Weight, min(minComparable, len(j.features))) {
			dst = append(dst, i)
		}
	}
	return dst
}

// MayReachWith is MayReach of those segments alone that a candidate shares.
func (j *Judge) MayReachWith(c *method.Candidate) bool {
	if !j.reaches(c.Weight, min(minComparable, len(j.features))) {
		return false // nor over more, if it is no heavier
	}
	return j.mayReach(func(i int) bool {
		_, is := slices.BinarySearch(c.Shared, uint32(i))
		return is
	})
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
	switch whole := f.Score >= j.Rules.Threshold; {
	case whole && j.enough(p):
		f.Relation = method.Copy
	case whole || p >= minComparable && f.Share >= j.Rules.Threshold:
		f.Relation = method.Related
	}
	return f
}

// comparable returns how many of the document's features could be among those chosen
// from the document of r (rule 7): all of them, or those at or above its cut-off.
func (j *Judge) comparable(r *Record) int {
	if r.CutWidth == 0 {
		return len(j.features)
	}
	p, _ := slices.BinarySearchFunc(j.features, *r, func(f method.Feature, r Record) int {
		if f.Width > r.CutWidth || f.Width == r.CutWidth && f.Order <= r.CutOrder {
			return -1
		}
		return 1
	})
	return p
}

// enough reports whether p comparable features justify a removal (rule 9).
func (j *Judge) enough(p int) bool {
	n := len(j.features)
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
	r := j.record()
	return r.Append(dst)
}

// Same is the comparison of rule 2. One comma more changes the number of segments, of
// which a text with few would not be found again by the others.
func (j *Judge) Same(data []byte) (same bool, features int, err error) {
	a, _, err := ParseRecord(data)
	b := j.record()
	few := max(a.Features, b.Features) < minComparable
	same = err == nil && a.Whole == b.Whole && a.CutWidth == b.CutWidth && a.CutOrder == b.CutOrder &&
		(few || a.Features == b.Features)
	return same, a.Features, err
}

// A Record is the method's part of the data stored with a document: see docs/format.md, "Data of a
// document".
type Record struct {
	Features int    // segments chosen
	CutWidth uint32 // width of the last chosen segment if there were more; else 0
	CutOrder uint64 // its Order, its place among segments of that width; else 0
	Whole    uint64 // whole-text fingerprint
}

var errRecord = errors.New("what is stored of a document's segments is not what was written: the store is damaged, or another program's")

// record returns the record of the document under judgement.
func (j *Judge) record() Record {
	r := Record{Features: len(j.features), Whole: j.sketch.Whole}
	if j.sketch.Truncated {
		last := j.features[len(j.features)-1]
		r.CutWidth, r.CutOrder = last.Width, last.Order
	}
	return r
}

// Append appends the record to b.
func (r *Record) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(r.Features))
	if r.CutWidth == 0 && r.CutOrder == 0 {
		b = append(b, 0)
	} else {
		b = binary.AppendUvarint(b, uint64(r.CutWidth)+1)
		b = binary.LittleEndian.AppendUint64(b, r.CutOrder)
	}
	return binary.LittleEndian.AppendUint64(b, r.Whole)
}

// ParseRecord reads what Append has written at the beginning of b, and returns the
// rest.
func ParseRecord(b []byte) (r Record, rest []byte, err error) {
	features, n := binary.Uvarint(b)
	if n <= 0 || features > 1<<31 {
		return r, b, errRecord
	}
	r.Features, b = int(features), b[n:]
	width, n := binary.Uvarint(b)
	if b = b[max(n, 0):]; n <= 0 || width > 1<<32 || width > 0 && len(b) < 8 {
		return r, b, errRecord
	}
	if width > 0 {
		r.CutWidth, r.CutOrder, b = uint32(width-1), binary.LittleEndian.Uint64(b), b[8:]
	}
	if len(b) < 8 {
		return r, b, errRecord
	}
	r.Whole = binary.LittleEndian.Uint64(b)
	return r, b[8:], nil
}
