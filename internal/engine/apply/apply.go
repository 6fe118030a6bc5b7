// Package apply applies the entries of a journal or a log to an index, always with the same result.
package apply

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
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
	return corpus.BlockOf(NoFile, first, data, jsonl.Format{})
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
	return a.finish(s, &r)
}

// finish ends a step that has its answer. r is the result of a document, else nil.
func (a *Applier) finish(s *Step, r *dedup.Result) error {
	if err := a.Done(s); err != nil {
		return err
	}
	if a.Applied != nil {
		a.Applied(s, r)
	}
	return a.Index.Ack(int64(len(s.Text) + len(s.ID) + len(s.Added)))
}

// takeBack forgets documents. The answer, the number of live ones, is a contract.
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
	if err != nil {
		return err
	}
	s.Answer = fmt.Appendf(nil, `{"forgotten":%d}`, n)
	return a.finish(s, nil)
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

// SketchAll extracts the sketches of many steps, with all extractors.
func (free Extractors) SketchAll(steps []*Step) {
	var all sync.WaitGroup
	for part := range slices.Chunk(steps, len(steps)/cap(free)+1) {
		all.Go(func() { free.Sketch(part...) })
	}
	all.Wait()
}

var (
	// ErrBusy means that too much work is queued: try again later.
	ErrBusy = errors.New("too many requests are waiting: send this one again later")
	// ErrClosed means that the loop is closed.
	ErrClosed = errors.New("the server is going down: send this request again later")
	// ErrLater means that a log gives no answer now. The step may still be in the log.
	ErrLater = errors.New("no answer from the log yet: send this request again later")
	// ErrReadOnly means that a follower does not append.
	ErrReadOnly = errors.New("this follower only reads its log: send documents to firstseen serve --log, or append them to the topic")
	// ErrTooLong means that a step is longer than the log's limit for a record.
	ErrTooLong = errors.New("the document is larger than the log allows: raise max.message.bytes of the topic, or leave the document out")
	// ErrGone means that a verdict is no longer in memory, or that the record has none.
	ErrGone = errors.New("the verdict is no longer in memory, or the record holds settings: see the topic of firstseen serve follow --verdicts")
)

// patience is the longest time that work waits before it begins.
const patience = 5 * time.Second

// stepEvery is the number of documents decided between two pieces of deferred checkpoint work,
// while other work is queued.
const stepEvery = 128

// Loop runs queued work in one goroutine, in order of arrival. Its methods, except Run and Step,
// are safe for concurrent use.
type Loop struct {
	// Failed ends when Fail is called, with the first error as its cause, or on an index error.
	Failed context.Context
	Fail   context.CancelCauseFunc

	index   *index.Index
	worked  func()
	queue   chan *work
	closing chan struct{}
	stopped chan struct{} // closed when Run returns
}

type work struct {
	docs  int
	do    func(done func(error))
	begun atomic.Bool // started, or given up by its sender
	done  chan error  // has a buffer of one
}

// NewLoop returns a loop with a queue of length waiting. Between other work it does the index's
// deferred checkpoint work, and calls worked after each piece.
func NewLoop(waiting int, x *index.Index, worked func()) *Loop {
	l := &Loop{index: x, worked: worked, queue: make(chan *work, waiting), closing: make(chan struct{}), stopped: make(chan struct{})}
	l.Failed, l.Fail = context.WithCancelCause(context.Background())
	return l
}

// Step does a piece of deferred checkpoint work, and reports whether more is left.
func (l *Loop) Step() (more bool) {
	if l.Failed.Err() != nil {
		return false
	}
	more, err := l.index.Step()
	if err != nil {
		l.Fail(err)
	}
	l.worked()
	return more && err == nil
}

// Waiting returns the length of the queue.
func (l *Loop) Waiting() int { return len(l.queue) }

// Do queues work that decides docs documents, and waits until do calls done.
func (l *Loop) Do(docs int, do func(done func(error))) error {
	w := &work{docs: docs, do: do, done: make(chan error, 1)}
	select {
	case <-l.closing:
		return ErrClosed
	default:
	}
	select {
	case l.queue <- w:
	default:
		return ErrBusy
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-w.done:
		return err
	case <-timer.C:
	case <-l.stopped:
	}
	if w.begun.CompareAndSwap(false, true) {
		return ErrBusy
	}
	return <-w.done
}

// Put waits for a place in the queue, but not for the work to be done.
func (l *Loop) Put(docs int, do func()) {
	w := &work{docs: docs, do: func(func(error)) { do() }}
	select {
	case l.queue <- w:
	case <-l.closing:
	}
}

// Run does queued work until the loop is closed and the queue is empty.
func (l *Loop) Run() {
	defer close(l.stopped)
	for since := 0; ; {
		var w *work
		select {
		case w = <-l.queue:
		default:
			if since = 0; l.Step() {
				continue
			}
			select {
			case w = <-l.queue:
			case <-l.closing:
				if len(l.queue) == 0 {
					return
				}
				continue
			}
		}
		if w.begun.CompareAndSwap(false, true) {
			w.do(func(err error) { w.done <- err })
		}
		if since += w.docs; since >= stepEvery {
			since = 0
			l.Step()
		}
	}
}

// Close ends the loop after all queued work. It must be called only once.
func (l *Loop) Close() {
	close(l.closing)
	<-l.stopped
}
