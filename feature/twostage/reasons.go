package twostage

import (
	"fmt"

	"github.com/firstseen/firstseen/feature/method"
)

// Reasons implements method.Reasoner.
func (j *Judge) Reasons(c *method.Candidate, record []byte) (why []method.Reason, err error) {
	r, err := j.parse(record)
	if err != nil {
		return nil, err
	}
	say := func(rule, format string, args ...any) {
		why = append(why, method.Reason{Rule: rule, Says: fmt.Sprintf(format, args...)})
	}
	f := j.CompareRecord(c, &r)
	units := " words or characters"
	if j.BySegments() {
		units = ""
	}
	say("4", "segments shared: %d; they weigh %d of %d%s, a score of %s by segments, against the threshold of %s", j.ownShared(c), c.Weight, j.Whole(), units, share(f.Score), share(j.Rules.Threshold))
	if f.Comparable < j.sketch.Parts() {
		say("7", "only the %d longest segments of the earlier document are stored: %d of %d can be compared, and it holds %s of them", f.Features, f.Comparable, j.sketch.Parts(), share(f.Share))
	}
	if j.BySegments() {
		say("9", "with score=segments, the segments decide: %s", relationText(f.Relation))
		return why, nil
	}
	say("12", "%s", j.candidateText(c))
	a, b := j.known.distinct, j.other.distinct
	switch {
	case min(j.known.runs, j.other.runs) < minRuns:
		say("13", "sketches need texts with at least %d runs of five words, and these have %d and %d, so segments decide: %s", minRuns, j.known.runs, j.other.runs, relationText(f.Relation))
	case b > stillTold*a:
		say("13", "the earlier document has %d distinct runs of five words, more than four times the %d of this one, so segments decide: %s", b, a, relationText(f.Relation))
	case b > maxLonger*a:
		by := relationText(f.Relation)
		j.byBoth(c, &f)
		say("13", "the earlier document has %d distinct runs of five words, more than twice the %d of this one, and contains about %s of those; segments say %s, both together: %s", b, a, share(j.known.sketch.Compare(&j.other.sketch, a, b).Share(a)), by, relationText(f.Relation))
	default:
		j.sketchReasons(c, &f, say)
	}
	return why, nil
}

// sketchReasons explains the results of rules 13 and 14.
func (j *Judge) sketchReasons(c *method.Candidate, f *method.Finding, say func(rule, format string, args ...any)) {
	a, b := j.known.distinct, j.other.distinct
	o := j.known.sketch.Compare(&j.other.sketch, a, b)
	say("13", "by the sketches of %d and %d distinct runs, C = %s of the document is in the earlier one, and M = %s of the longer one is common to both", a, b, share(o.Share(a)), share(o.Share(max(a, b))))
	asked := j.asked(c)
	j.bySketch(c, f)
	score, which := o.Share(max(a, b)), "M, since C is below 0.8"
	if o.Share(a) >= max(contained, j.Rules.Threshold) {
		score, which = o.Share(a), "C"
	}
	switch {
	case f.New.To > 0:
		say("13", "the score is %s (%s) and reaches the required %s, but the earlier document lacks a long passage, words %d to %d of %d: %s", share(score), which, share(asked), f.New.From+1, f.New.To, f.New.Of, relationText(f.Relation))
	case f.Relation == method.Copy && f.Score != score:
		say("14", "two pages under one menu: outside the common part their segments agree to %s, and the sketches confirm it: a copy", share(f.Score))
	case score >= asked:
		say("13", "the score is %s (%s) and reaches the required %s: a copy", share(score), which, share(asked))
	default:
		say("13", "the score is %s (%s) and does not reach the required %s: %s", share(score), which, share(asked), relationText(f.Relation))
	}
}

func (j *Judge) candidateText(c *method.Candidate) string {
	var text string
	switch own, keys := method.Share(c.Weight, j.Whole()), j.runKeys(c); {
	case c.Weight > 0 && minShare*c.Weight >= j.Whole():
		text = fmt.Sprintf("a candidate: the shared segments weigh %s of the document, and a fifth is required (a)", share(own))
	case keys >= minRunKeys:
		text = fmt.Sprintf("a candidate: %d run keys are shared, and %d are required (b)", keys, minRunKeys)
	case j.leadsAll(c):
		text = "a candidate: with common segments it holds half of the document, or three run keys (d, e)"
	case keys >= fewRunKeys:
		text = fmt.Sprintf("a candidate: %d run keys are shared, which is enough if 80%% is required (e)", keys)
	case j.MayReachWith(c):
		text = "a candidate: the shared segments reach the threshold among the longest ones (c)"
	default:
		text = fmt.Sprintf("no candidate: the shared segments weigh %s of the document and %d run keys are shared; a fifth, or %d keys, are required", share(own), keys, fewRunKeys)
	}
	if j.common > 0 {
		text += fmt.Sprintf("; %s of it is common to eight or more documents, and is not evidence", share(method.Share(j.common, j.Whole())))
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
