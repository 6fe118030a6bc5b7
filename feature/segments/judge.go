package segments

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/firstseen/firstseen/feature/method"
)

// minComparable is the least number of segments that is significant (rules 2, 5, 8 and 9). A share
// over comparable segments counts only from this number on. Of fewer, one long quoted passage can
// be most.
const minComparable = 5

// boundary is the number of a text's runs of three words, per segment, that cross the segment's
// ends (rule 3). They are lost with either neighbour, so a segment of n words vouches for n-2 runs.
// With this weight, a document of many short lines, half of them recurring, is not half a copy. On
// the labelled sets in docs/quality.md, it lowers false removals from 1.6% to 0.4% of edited news,
// and from 8 to 0 of manual pages.
const boundary = 2

// A Judge weighs the text that one document shares with others. Its buffers are reused.
//
// Both scores use the same arithmetic over weights. Features are sorted as they were chosen,
// longest first. So the part comparable with a document known down to its cut-off is a prefix.
type Judge struct {
	Rules    method.Rules
	sketch   *method.Sketch
	features []method.Feature // the segments; leads weigh nothing
	prefix   []uint64         // prefix[p] is the size of the first p features
	whole    uint64           // the size of the document
}

// NewJudge returns a Judge with the given rules.
func NewJudge(r method.Rules) *Judge { return &Judge{Rules: r} }

// Load sets the document under judgement.
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

// BySegments reports whether the score counts features instead of words.
func (j *Judge) BySegments() bool { return j.Rules.Score == method.ScoreSegments }

// Weight returns the weight of the i-th feature when shared: its runs of three words (rule 3).
func (j *Judge) Weight(i int) uint64 { return j.sizeWithout(i, boundary) }

// Size returns the weight of the i-th feature as a part of the text.
func (j *Judge) Size(i int) uint64 { return j.sizeWithout(i, 0) }

func (j *Judge) sizeWithout(i int, words uint32) uint64 {
	switch {
	case i >= len(j.features):
		return 0
	case j.BySegments():
		return 1
	}
	return uint64(max(j.features[i].Units, words) - words)
}

// Whole returns the denominator of rule 4.
func (j *Judge) Whole() uint64 { return j.whole }

// denominator returns the denominator of shares over the first p features (rules 4 and 7). It
// includes short pieces only if all segments are comparable.
func (j *Judge) denominator(p int) uint64 {
	if p == len(j.features) {
		return j.whole
	}
	return j.prefix[p]
}

func (j *Judge) reaches(weight uint64, p int) bool {
	return method.Share(weight, j.denominator(p)) >= j.Rules.Threshold
}

// MayReach implements rule 5. The filter has no false negatives and the table only refutes, so
// false is final.
func (j *Judge) MayReach(seen []bool) bool {
	return j.mayReach(func(i int) bool { return seen[i] })
}

// mayReach reports whether shared segments reach the threshold over any possibly comparable prefix.
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

// Select picks candidates with sufficient weight. Common segments are not shared (rule 6).
func (j *Judge) Select(dst []int, f *method.Found) []int {
	for i := range f.Candidates {
		if j.reaches(f.Candidates[i].Weight, min(minComparable, len(j.features))) {
			dst = append(dst, i)
		}
	}
	return dst
}

// MayReachWith is MayReach for the segments shared with c alone.
func (j *Judge) MayReachWith(c *method.Candidate) bool {
	if !j.reaches(c.Weight, min(minComparable, len(j.features))) {
		return false // over more segments it would have to weigh more
	}
	return j.mayReach(func(i int) bool {
		_, is := slices.BinarySearch(c.Shared, uint32(i))
		return is
	})
}

// Compare implements rules 7 and 8, and the part of rule 9 about comparable segments.
func (j *Judge) Compare(c *method.Candidate, data []byte) (method.Finding, error) {
	r, rest, err := ParseRecord(data)
	if err != nil || len(rest) > 0 {
		return method.Finding{}, errRecord
	}
	return j.CompareRecord(c, &r), nil
}

// CompareRecord is Compare with a parsed record.
func (j *Judge) CompareRecord(c *method.Candidate, r *Record) method.Finding {
	p := j.comparable(r)
	over := j.WeightOver(c, p)
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

// comparable returns the number of the document's features that could be among those chosen from
// r's document (rule 7). These are all, or those down to its cut-off.
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

// WeightOver returns the shared weight within the first p features. It is all of the shared weight
// unless the keys of different segments collide.
func (j *Judge) WeightOver(c *method.Candidate, p int) (weight uint64) {
	for _, i := range c.Shared {
		if int(i) >= p {
			break
		}
		weight += j.Weight(int(i))
	}
	return weight
}

// Record appends the stored data of the document to dst.
func (j *Judge) Record(dst []byte) []byte {
	r := j.record()
	return r.Append(dst)
}

// Same implements rule 2. It ignores the number of segments if both texts have few. An additional
// comma changes that number, and a text with few segments would not be found by its other ones.
func (j *Judge) Same(data []byte) (same bool, features int, err error) {
	a, _, err := ParseRecord(data)
	b := j.record()
	few := max(a.Features, b.Features) < minComparable
	same = err == nil && a.Whole == b.Whole && a.CutWidth == b.CutWidth && a.CutOrder == b.CutOrder &&
		(few || a.Features == b.Features)
	return same, a.Features, err
}

// A Record is the method's part of a document's stored data: see docs/format.md, "Data of a
// document".
type Record struct {
	Features int    // segments chosen
	CutWidth uint32 // width of the last chosen segment if there were more; else 0
	CutOrder uint64 // Order of that segment, its rank among equal widths; else 0
	Whole    uint64 // whole-text fingerprint
}

var errRecord = errors.New("the stored segments of a document are invalid: the store is damaged, or another program wrote it")

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

// ParseRecord parses a record, written by Append, at the start of b. It returns the rest of b.
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
