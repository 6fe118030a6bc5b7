package apply

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/firstseen/firstseen/index"
)

var (
	// ErrBusy means that too much work waits: try again later.
	ErrBusy = errors.New("too many requests wait: send this one again later")
	// ErrClosed means that the loop is closed.
	ErrClosed = errors.New("the server is going down: send this request again later")
	// ErrLater means that a log gives no answer now. The step may be in the log all the same.
	ErrLater = errors.New("the log gives no answer now: send this request again later")
	// ErrReadOnly means that a follower appends nothing.
	ErrReadOnly = errors.New("this follower only reads its log: give documents to firstseen serve --log, or append them to the topic")
	// ErrTooLong means that a step is longer than a record of the log may be.
	ErrTooLong = errors.New("the document is longer than a record of the log may be: raise max.message.bytes of the topic, or leave it out")
	// ErrGone means that a verdict is not in memory, or that the record has none.
	ErrGone = errors.New("the verdict is no longer in memory, or the record is settings: see the topic of firstseen follow --verdicts")
)

// patience is how long work may wait before it begins.
const patience = 5 * time.Second

// stepEvery is how many documents are decided between two pieces of the work that checkpoints have
// left, as long as other work waits.
const stepEvery = 128

// Loop does pieces of work in one goroutine, in the order in which they come. Its other methods are for
// any number of goroutines.
type Loop struct {
	// Failed is ended by Fail, with the first error as its cause. The loop fails with the index.
	Failed context.Context
	Fail   context.CancelCauseFunc

	index   *index.Index
	worked  func()
	queue   chan *work
	closing chan struct{}
	stopped chan struct{} // Run has ended
}

type work struct {
	docs  int
	do    func(done func(error))
	begun atomic.Bool // it is being done, or its sender has left
	done  chan error  // has one
}

// NewLoop returns a loop in which so much work may wait. Between other work it does what checkpoints of
// the index have left, and calls worked after each piece of that.
func NewLoop(waiting int, x *index.Index, worked func()) *Loop {
	l := &Loop{index: x, worked: worked, queue: make(chan *work, waiting), closing: make(chan struct{}), stopped: make(chan struct{})}
	l.Failed, l.Fail = context.WithCancelCause(context.Background())
	return l
}

// Step does a piece of the work that checkpoints have left, and reports whether there is more.
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

// Waiting is how much work waits.
func (l *Loop) Waiting() int { return len(l.queue) }

// Do has work done that decides a number of documents, and waits until do calls done.
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

// Put waits for a place among the work, and not until it is done.
func (l *Loop) Put(docs int, do func()) {
	w := &work{docs: docs, do: func(func(error)) { do() }}
	select {
	case l.queue <- w:
	case <-l.closing:
	}
}

// Run does work until the loop is closed, and then the work that waits.
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

// Close ends the loop when all that waits is done. It is called once.
func (l *Loop) Close() {
	close(l.closing)
	<-l.stopped
}
