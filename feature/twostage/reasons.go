package twostage

import (
	"fmt"

	"github.com/firstseen/firstseen/feature/method"
)

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
	score, which := o.Share(max(a, b)), fmt.Sprintf("M, since C is below %v", contained)
	if o.Share(a) >= max(contained, j.Rules.Threshold) {
		score, which = o.Share(a), "C"
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
