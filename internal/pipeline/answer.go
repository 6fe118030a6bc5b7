package pipeline

import (
	"fmt"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/report"
)

// Answer returns the value of AnnotationField for a decided document, as JSON.
func Answer(r *dedup.Result) ([]byte, error) {
	if r.Verdict == dedup.Unique && !r.Again {
		return annotate(r, nil)
	}
	line := report.Report(r, "", nil, nil)
	return annotate(r, &line)
}

// BadAnswer returns the value of AnnotationField for a bad record, as JSON.
func BadAnswer(bad *corpus.BadRecord) ([]byte, error) {
	value, err := report.AppendJSON(nil, refusal{Verdict: "bad", Line: bad.At, Reason: bad.Reason})
	if err != nil {
		err = fmt.Errorf("annotating: %w", err)
	}
	return value, err
}

// Retry turns the result of a document that was kept before, with this id and text, into the earlier
// one, and marks it as sent again. Other results stay. With drop, it marks the result alone.
func Retry(x *index.Index, r *dedup.Result, drop bool) error {
	if x.Table() == nil || !r.Exact || !r.SameID || !x.Owns(r.Of.Num) {
		return nil
	}
	if r.Again = true; drop {
		return nil
	}
	kept, err := x.Kept(r.Of.Num)
	if err != nil {
		return err
	}
	r.Verdict, r.Kept = kept.Verdict, true
	return nil
}
