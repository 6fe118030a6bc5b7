// Package recorder writes the journals of a server in groups, begins the next one before it is needed,
// and removes old ones.
package recorder

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

// State is the value index.ServedValue: which journals an index has already.
type State struct {
	Next  uint64 `json:"next"`            // generation of the first journal that the index does not have whole
	Done  uint64 `json:"done,omitempty"`  // entries of that journal that the index has
	Ended bool   `json:"ended,omitempty"` // the last server came to an ordinary end
}

// Values are the owner's values of an index in this state.
func (s State) Values() map[string][]byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // it has a number and a bool
	}
	return map[string][]byte{index.ServedValue: b}
}

// A Recorder writes the journal. Entries that come while a group is on its way to the disk are the
// next group. So a group waits for at most one other.
type Recorder struct {
	dir    string
	header journal.Header

	// These belong to the goroutine that adds.

	entries uint64       // in this journal
	bytes   int64        // in this journal
	limit   int64        // bytes after which it is to be rotated
	next    chan created // the next journal, made before it is needed; nil for none
	removed chan error   // old journals are being removed; nil for no

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

// created is a journal, or the reason why there is none.
type created struct {
	log *journal.Log
	err error
}

// New begins the journal of a header in the folder dir. It should be rotated after limit bytes.
func New(dir string, h journal.Header, limit int64) (*Recorder, error) {
	r := &Recorder{dir: dir, header: h, limit: limit, stopped: make(chan struct{})}
	r.changed.L = &r.mu
	var err error
	if r.log, err = journal.Create(Path(r.dir, h.Generation), h); err != nil {
		return nil, err
	}
	go r.write()
	return r, nil
}

// Path is the file of a journal.
func Path(dir string, generation uint64) string {
	return filepath.Join(dir, index.ServedName(generation))
}

// Add appends an entry to the next group.
func (r *Recorder) Add(e *journal.Entry) error {
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

// State is the place in the journals behind all that was added.
func (r *Recorder) State() State { return State{Next: r.header.Generation, Done: r.entries} }

// Long reports whether the journal has reached its limit.
func (r *Recorder) Long() bool { return r.bytes >= r.limit }

// prepare makes the next journal: rotate then waits for no disk.
func (r *Recorder) prepare() {
	if r.next != nil {
		return
	}
	r.next = make(chan created, 1)
	h := r.header
	h.Generation++
	go func(made chan<- created) {
		log, err := journal.Create(Path(r.dir, h.Generation), h)
		made <- created{log, err}
	}(r.next)
}

// After calls done when all entries added so far are on the disk, or can no longer come there.
func (r *Recorder) After(done func(error)) {
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
func (r *Recorder) write() {
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
func (r *Recorder) writeGroup() {
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

// Drain waits until all entries are on the disk.
func (r *Recorder) Drain() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for (len(r.pending) > 0 || r.writing) && r.err == nil {
		r.changed.Wait()
	}
	return r.err
}

// Rotate begins the journal of the next generation. Only the goroutine that adds may call it.
func (r *Recorder) Rotate() error {
	if err := r.Drain(); err != nil {
		return err
	}
	r.prepare()
	made := <-r.next
	r.next = nil
	if made.err == nil {
		made.err = step.Done("began a journal")
	}
	if made.err != nil {
		return fmt.Errorf("beginning a journal: %w", made.err)
	}
	old := r.log
	r.mu.Lock()
	r.log = made.log
	r.header.Generation++
	r.mu.Unlock()
	r.entries, r.bytes = 0, 0
	return old.Close()
}

// DropOld begins to remove the journals before this one. It returns the error of the last time.
func (r *Recorder) DropOld() error {
	err := r.Dropped()
	r.removed = make(chan error, 1)
	go func(generation uint64, removed chan<- error) {
		removed <- DropBefore(r.dir, generation)
	}(r.header.Generation, r.removed)
	return err
}

// Dropped waits until old journals are removed.
func (r *Recorder) Dropped() error {
	if r.removed == nil {
		return nil
	}
	err := <-r.removed
	r.removed = nil
	return err
}

// DropBefore removes the journals below a generation. One that a crash brings back means nothing: the
// index knows the next generation.
func DropBefore(dir string, generation uint64) error {
	have, err := index.ServedLogs(dir)
	if err != nil {
		return err
	}
	for _, n := range have {
		if n >= generation {
			break
		}
		if err := os.Remove(filepath.Join(dir, index.ServedName(n))); err != nil {
			return fmt.Errorf("removing a journal: %w", err)
		}
	}
	return nil
}

// Settle waits until nothing is done in the background.
func (r *Recorder) Settle() error {
	if r.next != nil {
		made := <-r.next
		r.next <- made
	}
	return r.Dropped()
}

// Close ends the writing, after all entries are on the disk. A journal without entries is removed.
func (r *Recorder) Close() error {
	err := r.Dropped()
	if r.next != nil {
		if made := <-r.next; made.err == nil {
			err = errors.Join(err, made.log.Close(), os.Remove(Path(r.dir, r.header.Generation+1)))
		}
	}
	r.mu.Lock()
	r.closed = true
	r.changed.Broadcast()
	r.mu.Unlock()
	<-r.stopped
	return errors.Join(err, r.err, r.log.Close())
}
