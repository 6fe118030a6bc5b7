// Package apply does the steps of a journal or of a log on an index, one after the other. The same steps
// make the same index.
package apply

import (
	"encoding/json"
	"fmt"
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
}

// Applier is for one goroutine.
type Applier struct {
	Index *index.Index
	// Done is called for each step that the index has, before a checkpoint can contain it.
	Done func(e *journal.Entry, answer []byte) error
	// Decided is called with the result of each document; nil for nothing.
	Decided func(r *dedup.Result)

	now   time.Time
	batch string
}

// Now is the arrival of the step being done, for [index.Policy].
func (a *Applier) Now() time.Time { return a.now }

// Arrive sets the arrival of the next step.
func (a *Applier) Arrive(ns int64) { a.now = time.Unix(0, ns) }

// Do does a step, and returns its answer in JSON. That about a document is the value of
// pipeline.AnnotationField. With index.ErrFull there is an answer too: the document is the last one.
func (a *Applier) Do(s *Step) (answer []byte, err error) {
	a.Arrive(s.Time)
	if s.Kind == journal.Seen {
		return a.decide(&s.Entry, &s.Sketch)
	}
	return a.takeBack(&s.Entry)
}

func (a *Applier) decide(e *journal.Entry, sketch *feature.Sketch) (answer []byte, err error) {
	if err := a.enter(e.Batch); err != nil {
		return nil, err
	}
	r, err := a.Index.Decide(dedup.Document{ID: e.ID, Sketch: sketch, Added: e.Added, Text: e.Text})
	if err != nil {
		return nil, err
	}
	a.Index.NoteDependent(e.ID, &r)
	if err := pipeline.Retry(a.Index, &r, false); err != nil {
		return nil, err
	}
	if answer, err = pipeline.Answer(&r); err == nil {
		err = a.Done(e, answer)
	}
	if err != nil {
		return nil, err
	}
	if a.Decided != nil {
		a.Decided(&r)
	}
	return answer, a.Index.Ack(int64(len(e.Text) + len(e.ID) + len(e.Added)))
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
func (a *Applier) takeBack(e *journal.Entry) (answer []byte, err error) {
	var n int
	switch e.Kind {
	case journal.Forgotten:
		n, err = a.forget(e.ID)
	case journal.Cancelled:
		n, err = a.cancel(e.ID)
	default:
		err = fmt.Errorf("an entry of kind %d takes nothing back", e.Kind)
	}
	if err != nil {
		return nil, err
	}
	if answer, err = json.Marshal(taken{n}); err != nil {
		return nil, err
	}
	return answer, a.Done(e, answer)
}

func (a *Applier) forget(id string) (n int, err error) {
	table := a.Index.Table()
	for {
		nums, err := table.ByID(id)
		if err != nil || len(nums) == 0 {
			return n, err
		}
		more, err := table.Forget(nums)
		if n += more; err != nil {
			return n, err
		}
	}
}

func (a *Applier) cancel(batch string) (n int, err error) {
	table := a.Index.Table()
	nums, err := table.BatchDocs(batch)
	if err == nil {
		n, err = table.Forget(nums)
	}
	if err == nil {
		err = table.EndBatch(batch)
	}
	if err != nil {
		n = 0
	}
	return n, err
}
