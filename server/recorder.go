package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/journal"
	"github.com/firstseen/firstseen/internal/step"
)

// state is the value index.ServedValue: which journals an index has already.
type state struct {
	Next  uint64 `json:"next"`            // generation of the first journal that the index does not have whole
	Done  uint64 `json:"done,omitempty"`  // entries of that journal that the index has
	Ended bool   `json:"ended,omitempty"` // the last server came to an ordinary end
}

// values are the owner's values of an index in this state.
func (s state) values() map[string][]byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // it has numbers and a bool
	}
	return map[string][]byte{index.ServedValue: b}
}

// recorder writes the journal in groups. Entries that come while a group is on its way to the disk are
// the next group. So a group waits for at most one other.
type recorder struct {
	dir    string
	header journal.Header

	// These belong to the goroutine that adds.

	entries uint64                       // in this journal
	bytes   int64                        // in this journal
	limit   int64                        // bytes after which it is to be rotated
	next    func() (*journal.Log, error) // waits for the next journal, made before it is needed; nil for none
	dropped func() error                 // waits until old journals are removed

	mu      sync.Mutex
	changed sync.Cond
	log     *journal.Log
	pending []byte        // entries of the next group
	waiting []func(error) // for it
	spare   []byte
	writing bool
	closed  bool
	err     error // of the journal: nothing can be answered any more
	stopped chan struct{}
}

// maxPending bounds the bytes of entries not yet on the disk.
const maxPending = 256 << 20

// newRecorder begins the journal of a header in the folder dir. It should be rotated after limit bytes.
func newRecorder(dir string, h journal.Header, limit int64) (*recorder, error) {
	r := &recorder{dir: dir, header: h, limit: limit, dropped: func() error { return nil }, stopped: make(chan struct{})}
	r.changed.L = &r.mu
	var err error
	if r.log, err = journal.Create(journalPath(dir, h.Generation), h); err != nil {
		return nil, err
	}
	go r.write()
	return r, nil
}

func journalPath(dir string, generation uint64) string {
	return filepath.Join(dir, index.ServedName(generation))
}

// add appends an entry to the next group.
func (r *recorder) add(e *journal.Entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.pending) > maxPending && r.err == nil {
		r.changed.Wait()
	}
	before := len(r.pending)
	r.pending = e.Append(r.pending)
	r.entries++
	if r.bytes += int64(len(r.pending) - before); r.bytes > r.limit/2 {
		r.prepare()
	}
	r.changed.Broadcast()
	return r.err
}

// state is the place in the journals behind all that was added.
func (r *recorder) state() state { return state{Next: r.header.Generation, Done: r.entries} }

// isLong reports whether the journal has reached its limit.
func (r *recorder) isLong() bool { return r.bytes >= r.limit }

// prepare makes the next journal: rotate then waits for no disk.
func (r *recorder) prepare() {
	if r.next != nil {
		return
	}
	h := r.header
	h.Generation++
	r.next = sync.OnceValues(func() (*journal.Log, error) { return journal.Create(journalPath(r.dir, h.Generation), h) })
	go func(next func() (*journal.Log, error)) { _, _ = next() }(r.next)
}

// after calls done when all entries added so far are on the disk, or can no longer come there.
func (r *recorder) after(done func(error)) {
	r.mu.Lock()
	idle, err := len(r.pending) == 0 && !r.writing, r.err
	if !idle && err == nil {
		r.waiting = append(r.waiting, done)
		r.changed.Broadcast()
	}
	r.mu.Unlock()
	if idle || err != nil {
		done(err)
	}
}

// write brings groups to the disk until the recorder is closed.
func (r *recorder) write() {
	defer close(r.stopped)
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		for len(r.pending) == 0 && len(r.waiting) == 0 && !r.closed {
			r.changed.Wait()
		}
		if len(r.pending) == 0 && len(r.waiting) == 0 {
			return
		}
		r.writeGroup()
	}
}

// writeGroup is called with the lock, and gives it up while it writes.
func (r *recorder) writeGroup() {
	group, waiting := r.pending, r.waiting
	r.pending, r.spare, r.waiting, r.writing = r.spare[:0], nil, nil, true
	err := r.err
	r.mu.Unlock()
	if len(group) > 0 && err == nil {
		err = r.log.Append(nil, group)
	}
	for _, done := range waiting {
		done(err)
	}
	r.mu.Lock()
	if r.writing, r.err = false, err; cap(group) <= 1<<20 {
		r.spare = group[:0]
	}
	r.changed.Broadcast()
}

// drain waits until all entries are on the disk.
func (r *recorder) drain() error {
	done := make(chan error, 1)
	r.after(func(err error) { done <- err })
	return <-done
}

// rotate begins the journal of the next generation. Only the goroutine that adds may call it.
func (r *recorder) rotate() error {
	if err := r.drain(); err != nil {
		return err
	}
	r.prepare()
	next, err := r.next()
	r.next = nil
	if err == nil {
		err = step.Done("began a journal")
	}
	if err != nil {
		return fmt.Errorf("beginning a journal: %w", err)
	}
	old := r.log
	r.mu.Lock()
	r.log = next
	r.header.Generation++
	r.mu.Unlock()
	r.entries, r.bytes = 0, 0
	return old.Close()
}

// dropOld begins to remove the journals before this one. It returns the error of the last time.
func (r *recorder) dropOld() error {
	err := r.dropped()
	generation := r.header.Generation
	r.dropped = sync.OnceValue(func() error { return dropBefore(r.dir, generation) })
	go func(dropped func() error) { _ = dropped() }(r.dropped)
	return err
}

// dropBefore removes the journals below a generation. One that a crash brings back means nothing: the
// index knows the next generation.
func dropBefore(dir string, generation uint64) error {
	have, err := index.ServedLogs(dir)
	for _, n := range have {
		if n >= generation {
			break
		}
		if err := os.Remove(journalPath(dir, n)); err != nil {
			return fmt.Errorf("removing a journal: %w", err)
		}
	}
	return err
}

// close ends the writing, after all entries are on the disk. A journal without entries is removed.
func (r *recorder) close() error {
	err := r.dropped()
	if r.next != nil {
		if next, failed := r.next(); failed == nil {
			err = errors.Join(err, next.Close(), os.Remove(journalPath(r.dir, r.header.Generation+1)))
		}
	}
	r.mu.Lock()
	r.closed = true
	r.changed.Broadcast()
	r.mu.Unlock()
	<-r.stopped
	return errors.Join(err, r.err, r.log.Close())
}
