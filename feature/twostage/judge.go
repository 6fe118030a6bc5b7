package twostage

import (
	"errors"
	"slices"

	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/segments"
)

// The numbers of the rules. What others gave is in docs/quality.md.
const (
	// One part in minShare of the text is what segments have to weigh to be worth a
	// look (rule 5), and those of a candidate for it to be compared (rule 12); or
	// minRunKeys runs.
	minShare   = 5
	minRunKeys = 3
	// maxLonger is how many times as long as the document a candidate may be for
	// sketches to tell how much of it stands there (rule 13).
	maxLonger = 2
	// contained is the share of a document that makes a copy of it whatever else the
	// candidate holds, and the most that is asked of one (rule 13).
	contained = 0.8
	// Pages with menus (rule 14): one part in minCommon of the text has to be common,
	// so many segments that are not have to be shared, both together hold explained
	// of the document, and the lengths be no further apart than minLength to
	// minLength+1. Of what the shared ones hold sketches have to find the part
	// confirmed: the longest segments of code are its comments.
	minCommon = 8
	minShared = 10
	explained = 0.72
	confirmed = 0.6
	minLength = 4
)

// A Judge compares one document with others. Its buffers are reused.
type Judge struct {
	rules    method.Rules
	segments *segments.Judge
	sketch   *method.Sketch
	own      method.Sketch // its segments alone
	known    known
	other    known  // of the candidate
	uncommon uint64 // weight of the segments that are not common
	common   uint64 // size of those that are
}

var errRecord = errors.New("what is stored of a document's runs is not what was written: the store is damaged, or another program's")

// NewJudge returns a Judge by the rules.
func NewJudge(r method.Rules) *Judge {
	return &Judge{rules: r, segments: segments.NewJudge(r)}
}

// Load makes s the document under judgement.
func (j *Judge) Load(s *method.Sketch) {
	j.sketch, j.own = s, *s
	j.own.Features = s.Features[:s.Parts()]
	j.segments.Load(&j.own)
	j.known = known{}
	if len(s.Data) == 0 {
		return // made by hand: of no runs
	}
	if err := j.known.parse(s.Data); err != nil {
		panic(err) // a sketch of another method
	}
}

// Weight is rule 3; 0 for a run key.
func (j *Judge) Weight(i int) uint64 {
	if i >= j.sketch.Parts() {
		return 0
	}
	return j.segments.Weight(i)
}

// Size is what a segment counts in the whole; 0 for a run key.
func (j *Judge) Size(i int) uint64 {
	if i >= j.sketch.Parts() {
		return 0
	}
	return j.segments.Size(i)
}

// Whole is the denominator of rule 4.
func (j *Judge) Whole() uint64 { return j.segments.Whole() }

// bySegments reports whether segments alone decide.
func (j *Judge) bySegments() bool { return j.rules.Score == method.ScoreSegments }

// MayReach is rule 5.
func (j *Judge) MayReach(seen []bool) bool {
	parts := j.sketch.Parts()
	if j.segments.MayReach(seen[:parts]) {
		return true
	}
	if j.bySegments() {
		return false
	}
	var weight uint64
	runKeys := 0
	for i, is := range seen {
		switch {
		case !is:
		case i < parts:
			weight += j.segments.Weight(i)
		default:
			runKeys++
		}
	}
	return j.enough(weight, runKeys)
}

// enough reports whether so much makes a candidate.
func (j *Judge) enough(weight uint64, runKeys int) bool {
	return weight > 0 && minShare*weight >= j.Whole() || runKeys >= minRunKeys
}

// Select is rule 12.
func (j *Judge) Select(dst []int, f *method.Found) []int {
	if j.bySegments() {
		return j.segments.Select(dst, f)
	}
	j.weigh(f)
	for i := range f.Candidates {
		c := &f.Candidates[i]
		if j.enough(c.Weight, j.runKeys(c)) || j.holdsHalf(c) || j.segments.MayReachWith(c) {
			dst = append(dst, i)
		}
	}
	return dst
}

// weigh notes how much of the document is common.
func (j *Judge) weigh(f *method.Found) {
	j.common, j.uncommon = 0, 0
	for i := range j.own.Features {
		j.uncommon += j.Weight(i)
	}
	for _, i := range f.Common {
		j.common += j.Size(int(i))
		j.uncommon -= j.Weight(int(i))
	}
}

// runKeys is how many runs the candidate is known to share.
func (j *Judge) runKeys(c *method.Candidate) int { return len(c.Shared) - j.ownShared(c) }

// ownShared is how many segments that are not common it shares.
func (j *Judge) ownShared(c *method.Candidate) int {
	n, _ := slices.BinarySearch(c.Shared, uint32(j.sketch.Parts()))
	return n
}

// holdsHalf reports whether a candidate holds half of the text, common segments
// included. Where seven kept pages quote a text, all its keys are common; but they
// name the same few documents.
func (j *Judge) holdsHalf(c *method.Candidate) bool {
	return c.CommonWeight > 0 && 2*(c.Weight+c.CommonWeight) >= j.Whole()
}

// Compare is rules 7, 8, 13 and 14.
func (j *Judge) Compare(c *method.Candidate, record []byte) (method.Finding, error) {
	r, rest, err := segments.ParseRecord(record)
	if err != nil {
		return method.Finding{}, err
	}
	if err := j.other.parse(rest); err != nil {
		return method.Finding{}, err
	}
	f := j.segments.CompareRecord(c, &r)
	f.Open = !j.bySegments() && j.known.runs < minRuns
	if !j.bySegments() && j.known.runs >= minRuns && j.other.runs >= minRuns && j.other.runs <= maxLonger*j.known.runs {
		j.bySketch(c, &f)
	}
	return f, nil
}

// bySketch lets the sketches decide.
func (j *Judge) bySketch(c *method.Candidate, f *method.Finding) {
	a, b := j.known.runs, j.other.runs
	o := j.known.sketch.Compare(&j.other.sketch, a, b)
	f.Contained, f.Estimated = o.Share(a), true
	if f.Score = f.Contained; f.Contained < max(contained, j.rules.Threshold) {
		f.Score = o.Share(max(a, b))
	}
	switch related := f.Relation != method.Unrelated; {
	case f.Score >= j.asked(c):
		f.Relation = method.Copy
	case j.sameOutsideCommon(c, f.Contained):
		f.Relation, f.Score = method.Copy, method.Share(c.Weight, j.uncommon)
	case f.Contained >= j.rules.Threshold:
		f.Relation, f.Share = method.Related, f.Contained
	case related:
		f.Relation = method.Related
	}
}

// asked is the score that a candidate has to reach, by what made it one: the share T of
// the text that is not common, unless all of the text leads to it.
func (j *Judge) asked(c *method.Candidate) float64 {
	t := j.rules.Threshold
	switch common := method.Share(j.common, j.Whole()); {
	case j.holdsHalf(c):
		return t
	case j.enough(c.Weight, j.runKeys(c)):
		return min(restOf(common, t), max(t, contained))
	}
	return max(t, contained)
}

// restOf is what is common of a text and a share of the rest. The product is rounded by
// itself, so that no processor joins it with the sum and comes to another verdict.
func restOf(common, share float64) float64 { return common + float64((1-common)*share) }

// sameOutsideCommon is rule 14: two pages of one length, of which a part is common, a
// menu, are copies by the rest of their text.
func (j *Judge) sameOutsideCommon(c *method.Candidate, contained float64) bool {
	least, most := min(j.known.runs, j.other.runs), max(j.known.runs, j.other.runs)
	common, shared := method.Share(j.common, j.Whole()), method.Share(c.Weight, j.uncommon)
	return minCommon*j.common >= j.Whole() && j.ownShared(c) >= minShared &&
		(minLength+1)*least >= minLength*most &&
		shared >= j.rules.Threshold && restOf(common, shared) >= explained &&
		contained >= confirmed*(1-common)*shared
}

// Record appends what is stored of the document.
func (j *Judge) Record(dst []byte) []byte {
	return j.known.append(j.segments.Record(dst))
}

// Same is rule 2.
func (j *Judge) Same(record []byte) (same bool, features int, err error) {
	return j.segments.Same(record)
}
