package twostage

import (
	"errors"
	"slices"

	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/segments"
)

// The constants of the rules. docs/quality.md compares alternatives.
const (
	// Segments must weigh one part in minShare of the text to justify a look-up (rule 5). A
	// candidate's shared segments need the same weight for a comparison (rule 12). minRunKeys runs
	// also suffice. With only fewRunKeys a candidate must meet stricter conditions.
	minShare   = 5
	minRunKeys = 3
	fewRunKeys = 2
	// If a candidate is up to maxLonger times as long as the document, sketches alone decide (rule
	// 13). Up to stillTold times as long, the share from sketches is reduced by uncertain per
	// additional length. Below denied, it overrules the segments.
	maxLonger = 2
	stillTold = 4
	uncertain = 0.075
	denied    = 0.3
	// This reduction does not apply if minComparable or more segments are comparable and all but
	// one part in nearlyAll of them are shared.
	minComparable = 5
	nearlyAll     = 10
	// contained is the share of a document that makes it a copy whatever else the candidate holds,
	// unless the threshold is higher. No rule asks for more (rule 13).
	contained = 0.8
	// Pages with menus (rule 14): one part in minCommon of the text must be common, and at least
	// minShared other segments shared. Together these must hold the share explained of all segments
	// and the share spoken of the document's runs. The lengths may differ at most as minLength and
	// minLength+1 do. Sketches must confirm the share confirmed of the words in the shared
	// segments. They must also confirm one part in minShare of the document. The longest segments
	// of code are comments, and those of tables are seldom a tenth of the text.
	minCommon = 8
	minShared = 10
	explained = 0.72
	spoken    = 0.4
	confirmed = 0.6
	minLength = 4
)

// A Judge compares one document with others. Its buffers are reused.
type Judge struct {
	segments.Judge
	sketch   *method.Sketch
	known    known
	places   []byte // of its runs, as in Sketch.Data; none if a caller made the sketch
	sorted   places // places sorted on demand; runs is 0 before
	other    known  // of the candidate
	uncommon uint64 // weight of the uncommon segments
	common   uint64 // size of the common ones
}

var errRecord = errors.New("the stored runs of a document are invalid: the store is damaged, or another program wrote it")

// NewJudge returns a Judge with the given rules.
func NewJudge(r method.Rules) *Judge {
	return &Judge{Judge: segments.Judge{Rules: r}}
}

// Load sets the document under judgement.
func (j *Judge) Load(s *method.Sketch) {
	j.sketch = s
	j.Judge.Load(s)
	j.known, j.places, j.sorted.runs = known{}, nil, 0
	if len(s.Data) == 0 {
		return // made by a caller, without runs
	}
	var err error
	if j.places, err = j.known.parse(s.Data, true); err != nil {
		panic(err) // from another method
	}
}

// MayReach implements rule 5.
func (j *Judge) MayReach(seen []bool) bool {
	parts := j.sketch.Parts()
	if j.Judge.MayReach(seen) {
		return true
	}
	if j.BySegments() {
		return false
	}
	var weight uint64
	runKeys := 0
	for i, is := range seen {
		switch {
		case !is:
		case i < parts:
			weight += j.Weight(i)
		default:
			runKeys++
		}
	}
	return runKeys >= fewRunKeys || j.enough(weight, runKeys)
}

// enough reports whether this weight or number of run keys makes a candidate.
func (j *Judge) enough(weight uint64, runKeys int) bool {
	return weight > 0 && minShare*weight >= j.Whole() || runKeys >= minRunKeys
}

// Select implements rule 12.
func (j *Judge) Select(dst []int, f *method.Found) []int {
	if j.BySegments() {
		return j.Judge.Select(dst, f)
	}
	j.weigh(f)
	for i := range f.Candidates {
		c := &f.Candidates[i]
		keys := j.runKeys(c)
		if keys >= fewRunKeys || j.enough(c.Weight, keys) || j.leadsAll(c) || j.MayReachWith(c) {
			dst = append(dst, i)
		}
	}
	return dst
}

func (j *Judge) weigh(f *method.Found) {
	j.common, j.uncommon = 0, 0
	for i := range j.sketch.Parts() {
		j.uncommon += j.Weight(i)
	}
	for _, i := range f.Common {
		j.common += j.Size(int(i))
		j.uncommon -= j.Weight(int(i))
	}
}

func (j *Judge) runKeys(c *method.Candidate) int { return len(c.Shared) - j.ownShared(c) }

// ownShared returns the number of uncommon segments shared with the candidate.
func (j *Judge) ownShared(c *method.Candidate) int {
	n, _ := slices.BinarySearch(c.Shared, uint32(j.sketch.Parts()))
	return n
}

// leadsAll reports whether a candidate holds half of the text, or enough runs, including features
// common only through removed documents. These may be a frame, so the candidate is compared but
// must meet stricter conditions.
func (j *Judge) leadsAll(c *method.Candidate) bool {
	return c.CommonWeight > 0 && 2*(c.Weight+c.CommonWeight) >= j.Whole() ||
		c.CountedLeads > 0 && j.runKeys(c)+c.CountedLeads >= minRunKeys
}

// parse parses the segment part of a record, and its runs into j.other.
func (j *Judge) parse(record []byte) (segments.Record, error) {
	r, rest, err := segments.ParseRecord(record)
	if err == nil {
		_, err = j.other.parse(rest, false)
	}
	return r, err
}

// Compare implements rules 7, 8, 13 and 14.
func (j *Judge) Compare(c *method.Candidate, record []byte) (method.Finding, error) {
	r, err := j.parse(record)
	if err != nil {
		return method.Finding{}, err
	}
	f := j.CompareRecord(c, &r)
	f.Open = !j.BySegments() && j.known.runs < minRuns
	if j.BySegments() || j.known.runs < minRuns || j.other.runs < minRuns {
		return f, nil
	}
	switch a, b := j.known.distinct, j.other.distinct; {
	case b <= maxLonger*a:
		j.bySketch(c, &f)
	case b <= stillTold*a:
		j.byBoth(c, &f)
	}
	return f, nil
}

// byBoth lets segments decide about a longer candidate. Sketches may overrule them either way.
func (j *Judge) byBoth(c *method.Candidate, f *method.Finding) {
	a, b := j.known.distinct, j.other.distinct
	share := j.known.sketch.Compare(&j.other.sketch, a, b).Share(a)
	least := share - float64(uncertain*(method.Share(b, a)-maxLonger))
	switch asked := max(contained, j.Rules.Threshold); {
	case least >= asked || share >= asked && j.holdsNearlyAll(c, f.Comparable):
		f.Relation, f.Score, f.Contained, f.Estimated = method.Copy, asked, share, true
	case f.Relation == method.Copy && share < denied:
		f.Relation, f.Contained, f.Estimated = method.Related, share, true
	}
}

func (j *Judge) holdsNearlyAll(c *method.Candidate, p int) bool {
	var all uint64
	for i := range p {
		all += j.Weight(i)
	}
	return p >= minComparable && nearlyAll*j.WeightOver(c, p) >= (nearlyAll-1)*all
}

func (j *Judge) bySketch(c *method.Candidate, f *method.Finding) {
	a, b := j.known.distinct, j.other.distinct
	o := j.known.sketch.Compare(&j.other.sketch, a, b)
	f.Contained, f.Estimated = o.Share(a), true
	if f.Score = f.Contained; f.Contained < max(contained, j.Rules.Threshold) {
		f.Score = o.Share(max(a, b))
	}
	copied := f.Score >= j.asked(c)
	if copied {
		f.New = j.newPassage()
	}
	switch related := f.Relation != method.Unrelated; {
	case copied && f.New.To == 0:
		f.Relation, f.Sure = method.Copy, j.known.sketch.Contains(&j.other.sketch, a, b)
	case j.sameOutsideCommon(c, f.Contained):
		f.Relation, f.Score, f.New = method.Copy, method.Share(c.Weight, j.uncommon), method.Passage{}
	case f.Contained >= j.Rules.Threshold:
		f.Relation, f.Share = method.Related, f.Contained
	case related:
		f.Relation = method.Related
	}
	f.Thin = f.Relation == method.Copy && f.Score < contained
}

// newPassage returns the long passage missing entirely from the candidate, if any (rule 13).
func (j *Judge) newPassage() (none method.Passage) {
	if len(j.places) == 0 {
		return none
	}
	if j.sorted.runs == 0 && !j.sorted.Sort(&j.known.sketch, j.places, j.known.runs) {
		panic(errRecord) // like Load
	}
	return j.sorted.New(&j.known.sketch, &j.other.sketch)
}

// asked returns the score that a candidate must reach (rule 13). A candidate by half of the text
// needs T, others at most the larger of T and contained. With enough uncommon features, T of the
// uncommon text suffices.
func (j *Judge) asked(c *method.Candidate) float64 {
	t, own := j.Rules.Threshold, c.CommonWeight-c.CountedWeight
	switch common := method.Share(j.common, j.Whole()); {
	case own > 0 && 2*(c.Weight+own) >= j.Whole():
		// It holds half of the text with common segments. If seven kept pages quote it, all its
		// keys are common; but they name the same few documents.
		return t
	case j.enough(c.Weight, j.runKeys(c)):
		return min(restOf(common, t), max(t, contained))
	}
	return max(t, contained)
}

// restOf returns the common part of a text plus a share of the rest. It rounds the product
// separately: a fused multiply-add on some processors could change the verdict.
func restOf(common, share float64) float64 { return common + float64((1-common)*share) }

// sameOutsideCommon implements rule 14. Two pages of similar length with a common part, such as a
// menu, are copies if the rest of their text is.
func (j *Judge) sameOutsideCommon(c *method.Candidate, contained float64) bool {
	a, b := j.known.distinct, j.other.distinct
	whole, own := j.Whole(), uint64(0) // size of the shared uncommon segments
	for _, i := range c.Shared[:j.ownShared(c)] {
		own += j.Size(int(i))
	}
	known := j.common + own
	return minCommon*j.common >= whole && j.ownShared(c) >= minShared &&
		(minLength+1)*min(a, b) >= minLength*max(a, b) && method.Share(c.Weight, j.uncommon) >= j.Rules.Threshold &&
		method.Share(known, whole) >= explained && method.Share(known, a) >= spoken &&
		minShare*contained >= 1 && contained*float64(a) >= confirmed*float64(own)
}

// Record appends the stored data of the document to dst.
func (j *Judge) Record(dst []byte) []byte {
	return j.known.append(j.Judge.Record(dst))
}

// Same implements rule 2. It compares only data about words, however the texts are cut.
func (j *Judge) Same(record []byte) (same bool, features int, err error) {
	r, err := j.parse(record)
	return err == nil && r.Whole == j.sketch.Whole && j.other.runs == j.known.runs && j.other.sketch == j.known.sketch, r.Features, err
}
