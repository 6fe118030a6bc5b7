package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/step"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// Outputs are the files a run writes. Each may be nil.
type Outputs struct {
	Kept    *output.Writer // the kept records or, with Annotate, all records
	Report  *output.Writer // a line of JSON for each document not unique
	Rejects *output.Writer // a line of JSON for each bad record
	Tree    *output.Tree   // if not nil, Kept is each of its outputs in turn
}

// AnnotationField is the field that holds the verdict of an annotated record.
const AnnotationField = "firstseen"

func (o *Outputs) all() []*output.Writer {
	if o.Tree != nil {
		return []*output.Writer{nil, o.Report, o.Rejects}
	}
	return []*output.Writer{o.Kept, o.Report, o.Rejects}
}

// Abort abandons the outputs and leaves the written bytes in partial files.
func (o *Outputs) Abort() error { return errors.Join(o.each((*output.Writer).Abort), o.Tree.Abort()) }

// Close finishes all outputs and gives them their names. It continues after an error.
func (o *Outputs) Close() error { return errors.Join(o.each((*output.Writer).Close), o.Tree.Close()) }

func (o *Outputs) each(f func(*output.Writer) error) error {
	var errs []error
	for _, w := range o.all() {
		if w != nil {
			errs = append(errs, f(w))
		}
	}
	return errors.Join(errs...)
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

// lines is a document's output besides its record.
type lines struct {
	kept       bool
	result     *dedup.Result // valid until the next decision
	report     []byte        // its line of the report, nil for none
	annotation []byte        // with Annotate
}

// prepare appends the lines of a document to dst. It touches no output, so it may run concurrently.
func (c *committer) prepare(dst []byte, rec *record, r *dedup.Result) (l lines, _ []byte, err error) {
	l.kept, l.result = r.Kept, r
	var told *report.Reported
	if (r.Verdict != dedup.Unique || r.Again || len(r.Passages) > 0) && (c.out.Report != nil || c.job.Annotate) {
		line := report.Report(r, rec.name(), &rec.set, rec.Text)
		line.File, line.Line = rec.of.source.File, rec.At
		if !rec.Time.IsZero() {
			line.Time = &rec.Time
		}
		line.Fields = report.Fields(rec.Fields, rec.Text)
		if c.job.Spans {
			line.Spans = report.Spans(r, &rec.set, rec.Text)
		}
		told = &line
	}
	if c.out.Report != nil && told != nil {
		at := len(dst)
		if dst, err = report.AppendJSON(dst, told); err != nil {
			return l, dst, fmt.Errorf("writing report: %w", err)
		}
		dst = append(dst, '\n')
		l.report = dst[at:len(dst):len(dst)]
	}
	if c.job.Annotate {
		l.annotation = annotate(r, told)
	}
	return l, dst, nil
}

// record writes the results of a record. l is set if that is a document.
func (c *committer) record(rec *record, l *lines) error {
	if rec.Bad != nil {
		return c.reject(rec)
	}
	if rec.isDocument() && l.report != nil {
		if err := c.out.Report.WriteRecord(l.report); err != nil {
			return err
		}
	}
	format := rec.of.source.Format
	switch {
	case c.out.Kept == nil:
		return nil
	case rec.Other:
		return format.Keep(c.out.Kept, rec.Raw)
	case rec.Empty && c.job.Annotate:
		return format.Keep(c.out.Kept, nil)
	case rec.Empty, !l.kept && !c.job.Annotate:
		return nil
	}
	if err := c.shard(len(rec.Raw)); err != nil {
		return err
	}
	if c.job.Annotate {
		return format.Annotate(c.out.Kept, rec.Raw, rec.Slot, l.annotation)
	}
	return format.Keep(c.out.Kept, rec.Raw)
}

// annotate returns the value added to a record. line is its line of the report, or nil.
func annotate(r *dedup.Result, line *report.Reported) []byte {
	a := annotation{Verdict: report.VerdictOf(r), Kept: r.Kept, Count: r.Segments, SameID: r.SameID, Again: r.Again}
	if line != nil {
		a.Of, a.Score, a.Shared = line.Of, &line.Score, line.Shared
		a.Contained, a.Estimated = &line.Contained, line.Estimated
	}
	return encoded(a)
}

// reject writes a bad record and, if every record has an answer, its answer.
func (c *committer) reject(rec *record) error {
	if c.job.Annotate && c.out.Kept != nil {
		if err := c.shard(len(rec.Bad.Raw)); err != nil {
			return err
		}
		if err := rec.of.source.Format.Answer(c.out.Kept, rec.Raw, AnnotationField, BadAnswer(rec.Bad)); err != nil {
			return err
		}
	}
	if c.out.Rejects == nil {
		return nil
	}
	c.buf = append(rec.Bad.AppendJSON(c.buf[:0]), '\n')
	return c.out.Rejects.WriteRecord(c.buf)
}

// sync brings the written bytes to disk and returns their marks; if ended, no more will come. An
// output that already had its name when the run was continued keeps its mark. Without it, the next
// start would replace the output with an empty one.
func (c *committer) sync(ended bool) (written Written, err error) {
	for i, w := range c.out.all() {
		switch {
		case w == nil && c.job.Resume != nil:
			written[i] = c.job.Resume.Written[i]
		case w == nil:
		case ended:
			written[i], err = w.Seal()
		case c.job.Temporary: // nothing need be on disk before the end
			written[i], err = w.EndFrame()
		default:
			written[i], err = w.Sync()
		}
		if err != nil {
			return written, err
		}
	}
	return written, step.Done("synced outputs")
}

// shard selects the output shard for a record of that many bytes.
func (c *committer) shard(record int) (err error) {
	if c.out.Tree != nil {
		c.out.Kept, err = c.out.Tree.Shard(record)
	}
	return err
}

// Answer returns the value of AnnotationField for a decided document, as JSON.
func Answer(r *dedup.Result) []byte {
	if r.Verdict == dedup.Unique && !r.Again {
		return annotate(r, nil)
	}
	line := report.Report(r, "", nil, nil)
	return annotate(r, &line)
}

// BadAnswer returns the value of AnnotationField for a bad record, as JSON.
func BadAnswer(bad *corpus.BadRecord) []byte {
	value, err := report.AppendJSON(nil, refusal{Verdict: "bad", Line: bad.At, Reason: bad.Reason})
	if err != nil {
		panic(err) // plain values only
	}
	return value
}

// Retry marks the result of a document that was kept before, with this id and text, as sent again.
// Unless drop is set, it also restores the earlier result. Other results stay.
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

// OpenOutputs creates the outputs or, after Continue, cuts those of the unfinished run back to its
// last checkpoint. After an error none is open.
func (l *Ledger) OpenOutputs() (o Outputs, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, o.Abort())
		}
	}()
	worthless, err := l.worthless()
	if err == nil {
		err = l.spare()
	}
	if err != nil {
		return o, err
	}
	names := l.job.names()
	for i, to := range []**output.Writer{&o.Kept, &o.Report, &o.Rejects} {
		switch {
		case names[i] == "":
		case l.goesOn == nil:
			*to, err = output.Create(names[i], worthless...)
		default:
			*to, err = l.reopen(names[i], l.goesOn.Written[i])
		}
		if err != nil {
			return o, err
		}
	}
	if err := errors.Join(BeginOutput(o.Kept, l.job.Enclosure, l.job.Head), BeginOutput(o.Report, l.job.Tabled, nil)); err != nil {
		return o, err
	}
	switch {
	case l.job.Tree == nil:
	case l.goesOn == nil || l.goesOn.Tree == nil:
		o.Tree, err = output.CreateTree(l.job.Tree, worthless...)
	default:
		if o.Tree, err = output.OpenTree(l.job.Tree, *l.goesOn.Tree); err != nil {
			err = &RefusedError{Why: OutputGone, Run: *l.found, Err: err}
		}
	}
	if err == nil && !l.job.Temporary {
		err = output.SyncNames(o.all()...)
	}
	if err == nil {
		err = l.noteStarted(&o)
	}
	return o, err
}

// reopen continues an output. It returns nil for one that already has its name: the run was stopped
// between publishing and noting.
func (l *Ledger) reopen(name string, at output.Mark) (*output.Writer, error) {
	w, err := output.OpenAt(name, at)
	if err == nil || errors.Is(err, output.ErrBusy) {
		return w, err
	}
	if l.goesOn.Ended {
		done, foundErr := output.Published(name, at)
		if done || foundErr != nil {
			return nil, foundErr
		}
	}
	return nil, &RefusedError{Why: OutputGone, Run: *l.found, Err: err}
}

// BeginOutput begins an output with its enclosure or its head, if it has either.
func BeginOutput(w *output.Writer, around output.Enclosure, head []byte) error {
	switch {
	case w == nil:
		return nil
	case around != nil:
		return w.Enclose(around)
	case head != nil:
		return w.Lead(head)
	}
	return nil
}

// started is the index's note of a run over files until it remembers any document: the partial
// files of the run. The same command writes them anew. Any other command puts them aside, because
// the run's inputs may be gone.
type started struct {
	Choices  choices         `json:"choices"`
	Partials []output.FileID `json:"partials"`
}

// worthless returns the partial files of a run of this command that left nothing in the index.
func (l *Ledger) worthless() ([]output.FileID, error) {
	if !l.canStartOver() || l.goesOn != nil {
		return nil, nil
	}
	stored, err := l.index.Started()
	if err != nil || stored == nil {
		return nil, err
	}
	var b started
	if json.Unmarshal(stored, &b) != nil || !reflect.DeepEqual(b.Choices, l.chosen) {
		return nil, nil
	}
	return b.Partials, nil
}

// noteStarted stores the partial files that this run created, before anything is in them.
func (l *Ledger) noteStarted(o *Outputs) error {
	if !l.canStartOver() || l.goesOn != nil {
		return nil
	}
	b := started{Choices: l.chosen}
	for _, w := range o.all() {
		if w != nil && w.ID() != (output.FileID{}) {
			b.Partials = append(b.Partials, w.ID())
		}
	}
	if o.Tree != nil && o.Tree.ID() != (output.FileID{}) {
		b.Partials = append(b.Partials, o.Tree.ID())
	}
	if len(b.Partials) == 0 {
		return nil
	}
	return l.index.NoteStarted(encoded(b))
}
