// Package apply does the steps of a journal or of a log on an index, one after the other. The same steps
// make the same index.
package apply

import (
	"cmp"
	"encoding/json"
	"fmt"
	"runtime"
	"time"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/journal"
	"github.com/firstseen/firstseen/internal/pipeline"
)

// Step is an entry to do. A document has its sketch.
type Step struct {
	journal.Entry
	Sketch feature.Sketch
	Answer []byte // in JSON; about a document it is the value of pipeline.AnnotationField
}

// Applier is for one goroutine.
type Applier struct {
	Index *index.Index
	// Done is called for each step that the index has, before a checkpoint can contain it.
	Done func(s *Step) error
	// Decided is called with the result of each document; nil for nothing.
	Decided func(r *dedup.Result)

	now   time.Time
	batch string
}

// Now is the arrival of the step being done, for [index.Policy].
func (a *Applier) Now() time.Time { return a.now }

// Arrive sets the arrival of the next step.
func (a *Applier) Arrive(ns int64) { a.now = time.Unix(0, ns) }

// Do does a step, and sets its answer. With index.ErrFull there is one too: the document is the last one.
func (a *Applier) Do(s *Step) error {
	a.Arrive(s.Time)
	if s.Kind != journal.Seen {
		return a.takeBack(s)
	}
	if err := a.enter(s.Batch); err != nil {
		return err
	}
	r, err := a.Index.Decide(dedup.Document{ID: s.ID, Sketch: &s.Sketch, Added: s.Added, Text: s.Text})
	if err != nil {
		return err
	}
	a.Index.NoteDependent(s.ID, &r)
	if err := pipeline.Retry(a.Index, &r, false); err != nil {
		return err
	}
	if s.Answer, err = pipeline.Answer(&r); err == nil {
		err = a.Done(s)
	}
	if err != nil {
		return err
	}
	if a.Decided != nil {
		a.Decided(&r)
	}
	return a.Index.Ack(int64(len(s.Text) + len(s.ID) + len(s.Added)))
}

// enter sets the batch of the documents that follow.
func (a *Applier) enter(batch string) error {
	if batch == a.batch {
		return nil
	}
	if err := a.Index.SetBatch(batch); err != nil {
		return err
	}
	a.batch = batch
	return nil
}

// taken is the answer of takeBack. The JSON form is a contract.
type taken struct {
	Forgotten int `json:"forgotten"` // documents that were live
}

// takeBack forgets documents by their id, or cancels a batch.
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
	if err != nil {
		return err
	}
	return a.Done(s)
}

// Extractors are those that are not in use. They are for any number of goroutines.
type Extractors chan *feature.Extractor

// NewExtractors returns n extractors; 0 is one for each processor.
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

// Sketch makes the sketches of the documents among steps.
func (free Extractors) Sketch(steps ...*Step) {
	e := <-free
	defer func() { free <- e }()
	for _, s := range steps {
		if s.Kind == journal.Seen {
			e.ExtractFor(&s.Sketch, s.Text, s.Exact)
		}
	}
}
