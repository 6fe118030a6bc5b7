package twostage

import (
	"errors"
	"fmt"
	"slices"

	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/segments"
	"github.com/firstseen/firstseen/feature/short"
)

// The constants of the rules. docs/quality.md compares alternatives. A change of any verdict raises
// dedup.RulesVersion.
const (
	// Segments must weigh one part in minShare of the text to justify a look-up (rule 4) or a
	// comparison (rule 6). One key of letters or words also suffices.
	minShare = 5
	// Sketches decide if a candidate is up to maxLonger times as long as the document (rule 8).
	maxLonger = 4
	// contained is the share of a document that makes it a copy whatever else the candidate holds.
	contained = 0.85
	// enough is the most that common segments make rule 8 ask for, unless the threshold is more.
	enough = 0.8
	// Pages with menus (rule 9): one part in minCommon of the text must be common, and at least
	// minShared other segments shared. Together these must hold the share explained of all segments.
	// The lengths may differ at most as minLength and minLength+1 do. Sketches must confirm one part
	// in minShare of the document, and the share confirmed of the shared segments: the longest
	// segments of code are comments.
	minCommon = 12
	minShared = 10
	explained = 0.72
	minLength = 4
	confirmed = 0.6
)

// A Judge compares one document with others. Its buffers are reused.
type Judge struct {
	segments.Judge
	sketch   *method.Sketch
	known    known
	places   []byte // of its runs, as in Sketch.Data; none if a caller made the sketch
	sorted   places // places sorted on demand; runs is 0 before
	other    known  // of the candidate
	words    short.Judge
	uncommon uint64 // weight of the uncommon segments
	common   uint64 // size of the common ones
}

var errRecord = errors.New("the stored letters of a document are invalid: the store is damaged, or another program wrote it")

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
	if j.places, err = j.known.parse(s.Data); err == nil && len(j.known.words) > 0 {
		err = j.words.Load(j.known.words)
	}
	if n := len(j.places); n > 0 && n != j.known.sketch.Places() {
		err = errRecord
	}
	if err != nil {
		panic(err) // from another method
	}
}

// MayReach implements rule 4.
func (j *Judge) MayReach(seen []bool) bool {
	if j.BySegments() {
		return j.Judge.MayReach(seen)
	}
	parts := j.sketch.Parts()
	if slices.Contains(seen[parts:], true) {
		return true
	}
	var weight uint64
	for i, is := range seen[:parts] {
		if is {
			weight += j.Weight(i)
		}
	}
	return j.mayBe(weight)
}

// mayBe reports whether shared segments of this weight make a candidate.
func (j *Judge) mayBe(weight uint64) bool {
	return weight > 0 && (minShare*weight >= j.Whole() || method.Share(weight, j.Whole()) >= j.Rules.Threshold)
}

// Select implements rule 6.
func (j *Judge) Select(dst []int, f *method.Found) []int {
	if j.BySegments() {
		return j.Judge.Select(dst, f)
	}
	j.weigh(f)
	for i := range f.Candidates {
		if c := &f.Candidates[i]; j.leads(c) > 0 || j.mayBe(c.Weight) {
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

// leads returns the number of keys of letters and words shared with the candidate.
func (j *Judge) leads(c *method.Candidate) int { return len(c.Shared) - j.ownShared(c) }

// ownShared returns the number of uncommon segments shared with the candidate.
func (j *Judge) ownShared(c *method.Candidate) int {
	n, _ := slices.BinarySearch(c.Shared, uint32(j.sketch.Parts()))
	return n
}

// parse parses the segment part of a record, and the rest into j.other.
func (j *Judge) parse(record []byte) (segments.Record, error) {
	r, rest, err := segments.ParseRecord(record)
	if err != nil {
		return r, err
	}
	if rest, err = j.other.parse(rest); err == nil && len(rest) > 0 {
		err = errRecord
	}
	return r, err
}

// Compare implements rules 7 to 9.
func (j *Judge) Compare(c *method.Candidate, record []byte) (method.Finding, error) {
	r, err := j.parse(record)
	if err != nil {
		return method.Finding{}, err
	}
	f := j.CompareRecord(c, &r)
	switch {
	case j.BySegments():
	case j.wordsDecide():
		err = j.byWords(&f)
	case j.sketchesDecide():
		j.bySketch(c, &f)
	}
	return f, err
}

// wordsDecide reports whether both texts are short, and at least one is too short for a sketch.
func (j *Judge) wordsDecide() bool {
	return len(j.known.words) > 0 && len(j.other.words) > 0 && !(j.known.sketched() && j.other.sketched())
}

// byWords decides about short texts.
func (j *Judge) byWords(f *method.Finding) error {
	w, err := j.words.Compare(j.other.words, j.Rules.Threshold)
	if err != nil {
		return err
	}
	f.Relation, f.Score, f.Contained = method.Unrelated, w.Score, w.Score
	switch {
	case w.Copy:
		f.Relation, f.Sure = method.Copy, true // the words are the text
		return nil
	case w.Score >= j.Rules.Threshold:
		f.Relation, f.Share = method.Related, w.Score
	}
	f.Differ = w.Differ.String()
	return nil
}

// sketchesDecide reports whether both texts have sketches, and the candidate is not too long.
func (j *Judge) sketchesDecide() bool {
	return j.known.sketched() && j.other.sketched() && j.other.distinct <= maxLonger*j.known.distinct
}

func (j *Judge) bySketch(c *method.Candidate, f *method.Finding) {
	a, b := j.known.distinct, j.other.distinct
	o := j.known.sketch.Compare(&j.other.sketch, a, b)
	f.Contained, f.Estimated = o.Share(a), true
	f.Score, _ = j.score(f.Contained, o.Share(max(a, b)))
	var new stretch
	copied := f.Score >= j.asked()
	if copied {
		new = j.newStretch()
	}
	switch related := f.Relation != method.Unrelated; {
	case copied && !new.spans(newBins, newShare):
		f.Relation, f.Sure = method.Copy, j.known.sketch.Contains(&j.other.sketch, a, b)
		f.Thin = f.Score < contained && new.spans(frameBins, frameShare)
	case j.sameOutsideCommon(c, f.Contained):
		f.Relation, f.Score = method.Copy, method.Share(c.Weight, j.uncommon)
	case f.Contained >= j.Rules.Threshold:
		f.Relation, f.Share = method.Related, f.Contained
	case related:
		f.Relation, f.Share = method.Related, method.Share(c.Weight, j.Whole())
	}
	if f.Relation != method.Copy && copied {
		f.New = new.letters()
	}
}

// score returns the score of rule 8 by the shares of the document (C) and of the longer text (M).
func (j *Judge) score(c, m float64) (score float64, isC bool) {
	if c >= max(contained, j.Rules.Threshold) {
		return c, true
	}
	return m, false
}

// newStretch returns the widest passage missing entirely from the candidate, if any (rule 8).
func (j *Judge) newStretch() (none stretch) {
	if len(j.places) == 0 {
		return none
	}
	if j.sorted.runs == 0 {
		j.sorted.Sort(&j.known.sketch, j.places, j.known.runs)
	}
	return j.sorted.New(&j.known.sketch, &j.other.sketch)
}

// asked returns the score that a candidate must reach (rule 8). Common segments say nothing about
// the origin of a text, so T of the rest must be in E.
func (j *Judge) asked() float64 {
	t := j.Rules.Threshold
	return min(restOf(method.Share(j.common, j.Whole()), t), max(t, enough))
}

// restOf returns the common part of a text plus a share of the rest. It rounds the product
// separately: a fused multiply-add on some processors could change the verdict.
func restOf(common, share float64) float64 { return common + float64((1-common)*share) }

// sameOutsideCommon implements rule 9. Two pages with a common part, such as a menu, are copies if
// the rest of their text is.
func (j *Judge) sameOutsideCommon(c *method.Candidate, contained float64) bool {
	shared, whole := c.Shared[:j.ownShared(c)], j.Whole()
	a, b := j.known.distinct, j.other.distinct
	if minCommon*j.common < whole || len(shared) < minShared || (minLength+1)*min(a, b) < minLength*max(a, b) {
		return false
	}
	own, letters := j.sizes(shared)
	return method.Share(c.Weight, j.uncommon) >= j.Rules.Threshold &&
		method.Share(j.common+own, whole) >= explained &&
		minShare*contained >= 1 && contained*float64(a) >= confirmed*float64(letters)
}

// sizes returns the size of some segments, and about how many letters they have: five to a word of
// six columns, three to a Han character of two.
func (j *Judge) sizes(of []uint32) (size, letters uint64) {
	for _, i := range of {
		f := &j.sketch.Features[i]
		size += j.Size(int(i))
		letters += uint64(f.Width)/2 + 2*uint64(f.Units)
	}
	return size, letters
}

// Record appends the stored data of the document to dst.
func (j *Judge) Record(dst []byte) []byte {
	r := segments.Record{Features: j.sketch.Parts(), Whole: j.sketch.Whole}
	return j.known.append(r.Append(dst))
}

// Same implements rule 2. It compares only what does not depend on marks between words.
func (j *Judge) Same(record []byte) (same bool, features int, err error) {
	r, err := j.parse(record)
	return err == nil && r.Whole == j.sketch.Whole && j.known.same(&j.other), r.Features, err
}

// Reasons implements method.Reasoner.
func (j *Judge) Reasons(c *method.Candidate, record []byte) (why []method.Reason, err error) {
	f, err := j.Compare(c, record)
	if err != nil {
		return nil, err
	}
	say := func(rule, format string, args ...any) {
		why = append(why, method.Reason{Rule: rule, Says: fmt.Sprintf(format, args...)})
	}
	units := " words or characters"
	if j.BySegments() {
		units = ""
	}
	say("3", "segments shared: %d; they weigh %d of %d%s, a score of %s by segments, against the threshold of %s", j.ownShared(c), c.Weight, j.Whole(), units, share(method.Share(c.Weight, j.Whole())), share(j.Rules.Threshold))
	if !j.BySegments() {
		say("6", "%s", j.candidateText(c))
	}
	switch result := relationText(f.Relation); {
	case j.BySegments():
		say("10", "with score=segments, the segments decide: %s", result)
	case j.wordsDecide():
		differ := ""
		if f.Relation != method.Copy {
			differ = ", and differ in: " + f.Differ
		}
		say("7", "both texts are short, so their words decide; %s of the words are in the earlier one%s: %s", share(f.Score), differ, result)
	case !j.known.sketched() || !j.other.sketched():
		say("8", "one of the texts is too short for a sketch, and they have %d and %d runs of letters, so segments decide: %s", j.known.runs, j.other.runs, result)
	case !j.sketchesDecide():
		say("8", "the earlier document has %d distinct runs of letters, more than %d times the %d of this one, so segments decide: %s", j.other.distinct, maxLonger, j.known.distinct, result)
	default:
		j.sketchReasons(&f, say)
	}
	return why, nil
}

// sketchReasons explains the results of rules 8 and 9.
func (j *Judge) sketchReasons(f *method.Finding, say func(rule, format string, args ...any)) {
	a, b := j.known.distinct, j.other.distinct
	o := j.known.sketch.Compare(&j.other.sketch, a, b)
	say("8", "by the sketches of %d and %d distinct runs of letters, C = %s of the document is in the earlier one, and M = %s of the longer one is common to both", a, b, share(o.Share(a)), share(o.Share(max(a, b))))
	asked := j.asked()
	score, isC := j.score(o.Share(a), o.Share(max(a, b)))
	which := "C"
	if !isC {
		which = fmt.Sprintf("M, since C is below %v", contained)
	}
	switch {
	case f.New.To > 0:
		say("8", "the score is %s (%s) and reaches the required %s, but the earlier document lacks a long passage, letters %d to %d of %d: %s", share(score), which, share(asked), f.New.From+1, f.New.To, f.New.Of, relationText(f.Relation))
	case f.Relation == method.Copy && f.Score != score:
		say("9", "two pages under one menu: outside the common part their segments agree to %s, and the sketches confirm it: a copy", share(f.Score))
	case score >= asked:
		say("8", "the score is %s (%s) and reaches the required %s: a copy", share(score), which, share(asked))
	default:
		say("8", "the score is %s (%s) and does not reach the required %s: %s", share(score), which, share(asked), relationText(f.Relation))
	}
}

func (j *Judge) candidateText(c *method.Candidate) string {
	text := fmt.Sprintf("the shared segments weigh %s of the document, and %d keys of letters or words are shared; a fifth, or one key, makes a candidate", share(method.Share(c.Weight, j.Whole())), j.leads(c))
	if j.common > 0 {
		text += fmt.Sprintf("; %s of the document is common to eight or more documents, and is not evidence", share(method.Share(j.common, j.Whole())))
	}
	return text
}

func relationText(r method.Relation) string {
	return [...]string{
		method.Unrelated: "unrelated", method.Related: "related, and kept", method.Copy: "a copy",
	}[r]
}

// share formats a share as reports do, rounded down so that it never seems to reach a threshold.
func share(s float64) string { return fmt.Sprintf("%.4f", float64(int(s*1e4+1e-9))/1e4) }
