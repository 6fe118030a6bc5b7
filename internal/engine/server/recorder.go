package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/semaphore"

	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/base/owners"
	"github.com/firstseen/firstseen/internal/base/step"
)

// state is the value owners.Served: the journal entries that the index includes.
type state struct {
	Next  uint64 `json:"next"`            // first journal not wholly in the index
	Done  uint64 `json:"done,omitempty"`  // entries of that journal in the index
	Ended bool   `json:"ended,omitempty"` // the last server ended cleanly
	// Checkpoint is the number of the checkpoint that ended it. After another one, the index has had
	// more than its entries.
	Checkpoint uint64 `json:"checkpoint,omitempty"`
	position          // of the index
	// Begins has the positions of the journals that are kept up to Next, if a standby wants them.
	Begins []position `json:"begins,omitempty"`
}

// values returns the owner's values of an index in this state.
func (s state) values() map[string][]byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // numbers and a bool only
	}
	return map[string][]byte{owners.Served: b}
}

// header describes a journal. docs/format.md, "A server's journal", has its fields.
type header struct {
	Generation uint64
	Table      string          // the uuid of the side table in hexadecimal
	Rules      json.RawMessage // by which its documents were decided
}

// recorder writes the journal in groups. Entries that arrive while one is being written form the
// next group, so a group waits for at most one other. Its methods are for one goroutine.
type recorder struct {
	dir     string
	header  header
	log     *journal.Log
	at      position                     // after all entries
	entries uint64                       // in this journal
	bytes   int64                        // in this journal
	limit   int64                        // bytes after which to rotate it
	next    func() (*journal.Log, error) // waits for the next journal, created early; nil for none
	dropped func() error                 // waits until old journals are removed
	pending []byte                       // entries not yet in the queue
	queue   chan handed
	room    *semaphore.Weighted // for bytes in the queue
	took    *histogram          // of a write
	feed    *feed
	fail    func(error) // called once, after a failed write
	stopped chan error  // gets the error of write when it returns
}

// handed is part of a group.
type handed struct {
	entries []byte
	upto    uint64      // position after them
	done    func(error) // nil for none
}

// maxPending bounds the bytes of entries not yet on disk, beside those of one request.
const maxPending = 256 << 20

// newRecorder creates a journal in the folder dir, which begins at a position. It should be rotated
// after limit bytes. fail receives the error of a write, and took the time of each.
func newRecorder(dir string, h header, at position, feed *feed, limit int64, fail func(error), took *histogram) (*recorder, error) {
	log, err := journal.Served.Create(journalPath(dir, h.Generation), h)
	if err != nil {
		return nil, err
	}
	r := &recorder{
		dir: dir, header: h, at: at, feed: feed, log: log, limit: limit, dropped: func() error { return nil }, took: took, fail: fail,
		queue: make(chan handed, 256), room: semaphore.NewWeighted(maxPending), stopped: make(chan error, 1),
	}
	feed.began(h.Generation, at, log.Size())
	go func() { r.stopped <- r.write() }()
	return r, nil
}

func journalPath(dir string, generation uint64) string {
	return filepath.Join(dir, owners.Journal(generation))
}

// add encodes an entry for the next hand.
func (r *recorder) add(e *journal.Entry) {
	before := len(r.pending)
	r.pending = e.Append(r.pending)
	r.at.add(r.pending[before:])
	r.entries++
	if r.bytes += int64(len(r.pending) - before); r.bytes > r.limit/2 {
		r.prepare()
	}
	if len(r.pending) >= maxPending/4 { // of one large request
		r.hand(nil)
	}
}

// prepare creates the next journal in the background, so that rotate does not wait for the disk.
func (r *recorder) prepare() {
	if r.next != nil {
		return
	}
	h := r.header
	h.Generation++
	r.next = sync.OnceValues(func() (*journal.Log, error) { return journal.Served.Create(journalPath(r.dir, h.Generation), h) })
	go func(next func() (*journal.Log, error)) { _, _ = next() }(r.next)
}

// hand queues the added entries for writing. done, if not nil, is called when they and all before
// them are on disk, or have failed.
func (r *recorder) hand(done func(error)) {
	if len(r.pending) == 0 && done == nil {
		return
	}
	h := handed{r.pending, r.at.Entries, done}
	_ = r.room.Acquire(context.Background(), h.weight()) // write releases all
	r.queue <- h
	r.pending = nil
}

func (h *handed) weight() int64 { return min(int64(len(h.entries)), maxPending) }

// write writes groups to the disk until the queue is closed.
func (r *recorder) write() (err error) {
	for first := range r.queue {
		parts, group := []handed{first}, first.entries
		for len(r.queue) > 0 {
			part := <-r.queue
			parts, group = append(parts, part), append(group, part.entries...)
		}
		if len(group) > 0 && err == nil {
			begun := time.Now()
			if err = r.log.Append(group); err != nil {
				r.fail(err)
			} else {
				r.feed.update(func(w *written) { w.entries, w.size = parts[len(parts)-1].upto, r.log.Size() })
			}
			r.took.observe(time.Since(begun))
		}
		for i := range parts {
			r.room.Release(parts[i].weight())
			if done := parts[i].done; done != nil {
				done(err)
			}
		}
	}
	return err
}

// drain waits until all entries are on disk.
func (r *recorder) drain() error {
	done := make(chan error, 1)
	r.hand(func(err error) { done <- err })
	return <-done
}

// rotate begins the journal of the next generation.
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
	r.log, r.entries, r.bytes = next, 0, 0
	r.header.Generation++
	r.feed.began(r.header.Generation, r.at, next.Size())
	return old.Close()
}

// dropOld starts removing older journals, and returns the error of the previous removal. Unless the
// disk is short of room bytes, those that standbys may want stay.
func (r *recorder) dropOld(room uint64) error {
	err := r.dropped()
	generation := r.feed.drop(r.dir, room)
	r.dropped = sync.OnceValue(func() error { return dropBefore(r.dir, generation) })
	go func(dropped func() error) { _ = dropped() }(r.dropped)
	return err
}

// dropBefore removes the journals below a generation. The index ignores any that a crash restores.
func dropBefore(dir string, generation uint64) error {
	have, err := owners.Journals(dir)
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

// close stops the writing after all entries are on disk.
func (r *recorder) close() error {
	err := r.dropped()
	if r.next != nil {
		if next, failed := r.next(); failed == nil {
			err = errors.Join(err, next.Close(), os.Remove(journalPath(r.dir, r.header.Generation+1)))
		}
	}
	r.hand(nil)
	close(r.queue)
	return errors.Join(err, <-r.stopped, r.log.Close())
}

// position is a place in the history of an index: how many entries its servers have written, and the
// digest of them all. Two indexes at equal positions have had the same entries.
type position struct {
	Entries uint64 `json:"entries"`
	Chain   uint64 `json:"chain"`
}

// add moves the position behind an encoded entry.
func (p *position) add(entry []byte) {
	p.Entries++
	p.Chain = xxh3.HashSeed(entry, p.Chain)
}

func (p position) String() string { return fmt.Sprintf("%d-%016x", p.Entries, p.Chain) }

func parsePosition(s string) (p position, err error) {
	if n, bad := fmt.Sscanf(s, "%d-%x", &p.Entries, &p.Chain); n != 2 || bad != nil || p.String() != s {
		err = fmt.Errorf("%q is no position: want the number of entries, a hyphen and 16 hexadecimal digits", s)
	}
	return p, err
}
