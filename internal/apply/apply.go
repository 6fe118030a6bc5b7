// Package apply does the steps of a journal or of a log on an index, one after the other. The same steps
// make the same index.
package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/journal"
	"github.com/firstseen/firstseen/internal/pipeline"
)

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

// Document decides a document, and returns the value of pipeline.AnnotationField. It has an answer with
// index.ErrFull, too: the document is the last one.
func (a *Applier) Document(e *journal.Entry, sketch *feature.Sketch) (answer []byte, err error) {
	a.Arrive(e.Time)
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

// taken is the answer of TakeBack. The JSON form is a contract.
type taken struct {
	Forgotten int `json:"forgotten"` // documents that were live
}

// TakeBack forgets documents by their id, or cancels a batch. Its answer is JSON.
func (a *Applier) TakeBack(e *journal.Entry) (answer []byte, err error) {
	var n int
	a.Arrive(e.Time)
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

var (
	// ErrLater means that a log gives no answer now. The step may be in the log all the same.
	ErrLater = errors.New("the log gives no answer now: send this request again later")
	// ErrReadOnly means that a follower appends nothing.
	ErrReadOnly = errors.New("this follower only reads its log: give documents to firstseen serve --log, or append them to the topic")
	// ErrTooLong means that a step is longer than a record of the log may be.
	ErrTooLong = errors.New("the document is longer than a record of the log may be: raise max.message.bytes of the topic, or leave it out")
	// ErrGone means that a verdict is not in memory, or that the record has none.
	ErrGone = errors.New("the verdict is no longer in memory, or the record is settings: see the topic of firstseen follow --verdicts")
)
