package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/internal/step"
	"github.com/firstseen/firstseen/report"
)

// Outputs are the files a run writes. Each may be nil.
type Outputs struct {
	Kept     *corpus.Writer // the kept records or, with Annotate, all of them
	Report   *corpus.Writer // a line of JSON for each document that is not unique
	Rejects  *corpus.Writer // a line of JSON for each bad record
	Annotate bool           // add the verdict to every record of Kept
}

// AnnotationField is the field that holds the verdict of an annotated record.
const AnnotationField = "firstseen"

func (o *Outputs) all() []*corpus.Writer {
	return []*corpus.Writer{o.Kept, o.Report, o.Rejects}
}

// Abort gives the outputs up, leaving what was written in partial files.
func (o *Outputs) Abort() error { return o.each((*corpus.Writer).Abort) }

// Close finishes all outputs: each gets its name. It goes on after an error.
func (o *Outputs) Close() error { return o.each((*corpus.Writer).Close) }

// each calls f for every output there is, after an error too.
func (o *Outputs) each(f func(*corpus.Writer) error) error {
	var errs []error
	for _, w := range o.all() {
		if w != nil {
			errs = append(errs, f(w))
		}
	}
	return errors.Join(errs...)
}

type outputs struct {
	Outputs
	format corpus.Format // of the inputs, and of Kept
	before Written       // by the run that is continued
	buf    []byte
}

// annotation is the value of the field in an annotated record.
type annotation struct {
	Verdict   string        `json:"verdict"`
	Kept      bool          `json:"kept"`
	Of        *string       `json:"of,omitempty"`
	Score     *report.Share `json:"score,omitempty"`
	Contained *report.Share `json:"contained,omitempty"`
	Estimated bool          `json:"estimated,omitempty"`
	Shared    int           `json:"shared,omitempty"`
	Count     int           `json:"segments"`
	SameID    bool          `json:"same_id,omitempty"`
	Again     bool          `json:"again,omitempty"`
}

// refusal is the value of the field in the record that answers a bad one.
type refusal struct {
	Verdict string       `json:"verdict"` // "bad"
	Kept    bool         `json:"kept"`    // false
	Line    corpus.Place `json:"line"`
	Reason  string       `json:"reason"`
}

func (o *outputs) wantsReports() bool { return o.Report != nil || o.Annotate }

// document writes one document; line is its report if it is not unique.
func (o *outputs) document(rec *record, r *dedup.Result, line *report.Reported) error {
	if o.Report != nil && line != nil {
		if err := o.line(o.Report, line); err != nil {
			return err
		}
	}
	switch {
	case o.Kept == nil || !r.Kept && !o.Annotate:
		return nil
	case o.Annotate:
		return o.annotated(rec, r, line)
	}
	return o.format.Keep(o.Kept, rec.raw)
}

// line writes v as a line of JSON.
func (o *outputs) line(w *corpus.Writer, v any) (err error) {
	if o.buf, err = report.AppendJSON(o.buf[:0], v); err != nil {
		return fmt.Errorf("writing report: %w", err)
	}
	o.buf = append(o.buf, '\n')
	return w.WriteRecord(o.buf)
}

func (o *outputs) annotated(rec *record, r *dedup.Result, line *report.Reported) error {
	a := annotation{Verdict: r.Verdict.String(), Kept: r.Kept, Count: r.Segments, SameID: r.SameID, Again: r.Again}
	if line != nil && !r.Again { // whom it resembled when it was kept is not known any more
		a.Of, a.Score, a.Shared = line.Of, &line.Score, line.Shared
		a.Contained, a.Estimated = &line.Contained, line.Estimated
	}
	value, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("annotating: %w", err)
	}
	return o.format.Annotate(o.Kept, rec.raw, rec.slot, value)
}

// reject writes a bad record and, where every record has an answer, that one.
func (o *outputs) reject(bad *corpus.BadRecord) error {
	if o.Annotate && o.Kept != nil {
		if err := o.refuse(bad); err != nil {
			return err
		}
	}
	if o.Rejects == nil {
		return nil
	}
	o.buf = append(bad.AppendJSON(o.buf[:0]), '\n')
	return o.Rejects.WriteRecord(o.buf)
}

func (o *outputs) refuse(bad *corpus.BadRecord) (err error) {
	answer := refusal{Verdict: "bad", Line: bad.At, Reason: bad.Reason}
	if o.buf, err = report.AppendJSON(o.buf[:0], answer); err != nil {
		return fmt.Errorf("annotating: %w", err)
	}
	return o.format.Answer(o.Kept, AnnotationField, o.buf)
}

// empty answers a record that holds nothing.
func (o *outputs) empty() error {
	if !o.Annotate || o.Kept == nil {
		return nil
	}
	return o.format.Keep(o.Kept, nil)
}

// flush hands on what was written, where somebody waits for it.
func (o *outputs) flush() error { return o.each((*corpus.Writer).Flush) }

// sync brings what was written to the disk and returns how much that is; if
// ended, no more will be. An output that had its name already when the run was
// continued is as it was: forgetting how long would have the next start make it
// anew, empty.
func (o *outputs) sync(ended bool) (written Written, err error) {
	for i, w := range o.all() {
		if w == nil {
			written[i] = o.before[i]
			continue
		}
		if ended {
			written[i], err = w.Seal()
		} else {
			written[i], err = w.Sync()
		}
		if err != nil {
			return written, err
		}
	}
	return written, step.Done("synced outputs")
}
