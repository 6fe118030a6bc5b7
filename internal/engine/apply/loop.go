package apply

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/firstseen/firstseen/index"
)

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
