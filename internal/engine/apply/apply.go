// Package apply applies the entries of a journal or a log to an index, always with the same result.
package apply

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"runtime"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
)

// Step is an entry to apply. The step of a document has its sketch.
type Step struct {
	journal.Entry
	Offset  int64 // of the record in a log
	Stamped bool  // the log's broker has set Time
	Sketch  feature.Sketch
	Answer  []byte // JSON; for a document, the value of pipeline.AnnotationField
}

// NewDocument returns the step of a document.
func NewDocument(id string, text []byte, exact bool) *Step {
	return &Step{Entry: journal.Entry{Kind: journal.Seen, Exact: exact, ID: id, Text: text}}
}

// Refused returns the step of a bad record. It has no kind, and its answer is set.
func Refused(bad *corpus.BadRecord) *Step { return &Step{Answer: pipeline.BadAnswer(bad)} }

// NoFile is the file name of documents that come from no file. A generated id begins with it.
const NoFile = "\x00body"

// Lines returns a block of JSON lines, numbered from first.
func Lines(data []byte, first int64) *corpus.Block {
	return &corpus.Block{File: NoFile, First: corpus.Place{Record: first}, Data: data, Format: jsonl.Format{}}
}

// Parsed returns the step of a document of NoFile. A document without an id is refused, because no
// later answer could name it.
func Parsed(doc *corpus.Document) *Step {
	switch {
	case doc.Bad != nil:
		return Refused(doc.Bad)
	case bytes.HasPrefix(doc.ID, []byte(NoFile)):
		return Refused(&corpus.BadRecord{At: doc.At, Reason: "it has no id, and later answers name documents by their ids"})
	}
	return NewDocument(string(doc.ID), doc.Text, doc.Exact)
}

// Applier applies steps to an index. It is not safe for concurrent use.
type Applier struct {
	Index *index.Index
	// Done is called with each applied step, before a checkpoint can contain it.
	Done func(s *Step) error
	// Applied is called after Done, with the result of a document, else nil. It may be nil.
	Applied func(s *Step, r *dedup.Result)

	now   time.Time
	batch string // of the following documents
}

// Now returns the arrival time of the current step, for [index.Policy].
func (a *Applier) Now() time.Time { return a.now }

// Arrive sets the arrival time of the next step.
func (a *Applier) Arrive(ns int64) { a.now = time.Unix(0, ns) }

// Do applies a step and sets its answer, even with index.ErrFull: that document is the last one.
func (a *Applier) Do(s *Step) error {
	a.Arrive(s.Time)
	if s.Kind != journal.Seen {
		return a.takeBack(s)
	}
	if s.Batch != a.batch {
		if err := a.Index.SetBatch(s.Batch); err != nil {
			return err
		}
		a.batch = s.Batch
	}
	r, err := a.Index.Decide(dedup.Document{ID: s.ID, Sketch: &s.Sketch, Added: s.Added, Text: s.Text})
	if err != nil {
		return err
	}
	a.Index.NoteDependent(s.ID, &r)
	if err := pipeline.Retry(a.Index, &r, false); err != nil {
		return err
	}
	s.Answer = pipeline.Answer(&r)
	if err := a.Done(s); err != nil {
		return err
	}
	if a.Applied != nil {
		a.Applied(s, &r)
	}
	return a.Index.Ack(int64(len(s.Text) + len(s.ID) + len(s.Added)))
}

// taken is the answer of takeBack. Its JSON form is a contract.
type taken struct {
	Forgotten int `json:"forgotten"` // live documents
}

func (a *Applier) takeBack(s *Step) (err error) {
	var n int
	switch s.Kind {
	case journal.Forgotten:
		n, err = a.Index.Forget(s.ID)
	case journal.Cancelled:
		n, err = a.Index.Cancel(s.ID)
	default:
		err = fmt.Errorf("an entry of kind %d takes nothing back", s.Kind)
	}
	if err == nil {
		s.Answer, err = json.Marshal(taken{n})
	}
	if err == nil {
		err = a.Done(s)
	}
	if err != nil {
		return err
	}
	if a.Applied != nil {
		a.Applied(s, nil)
	}
	return a.Index.Ack(int64(len(s.ID)))
}

// Check refuses an index in dir that a server cannot use.
func Check(x *index.Index, dir string) error {
	switch {
	case x.Table() == nil:
		return fmt.Errorf("index %s has no side table: a server names earlier documents, so make it without --filter-only", dir)
	case x.Scheme().Passages > 0:
		return fmt.Errorf("index %s finds passages, and a server does not: give another index", dir)
	}
	return nil
}

// Extractors holds the idle extractors. It is safe for concurrent use.
type Extractors chan *feature.Extractor

// NewExtractors returns n extractors; 0 means one for each processor.
func NewExtractors(scheme feature.Scheme, n int) (Extractors, error) {
	n = cmp.Or(max(n, 0), runtime.GOMAXPROCS(0))
	free := make(Extractors, n)
	for range n {
		e, err := feature.NewExtractor(scheme)
		if err != nil {
			return nil, err
		}
		free <- e
	}
	return free, nil
}

// Sketch extracts the sketches of the documents among steps.
func (free Extractors) Sketch(steps ...*Step) {
	e := <-free
	defer func() { free <- e }()
	for _, s := range steps {
		if s.Kind == journal.Seen {
			e.ExtractFor(&s.Sketch, s.Text, s.Exact)
		}
	}
}
