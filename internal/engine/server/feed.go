package server

import (
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/firstseen/firstseen/internal/base/durable"
	"github.com/firstseen/firstseen/internal/base/journal"
)

const (
	keptJournals = 32        // for standbys, 64 to 128 MiB each
	keptFor      = time.Hour // after a standby has read or copied
	mostStandbys = 4         // that read at once; each has a group of entries in memory
)

// errGone means that the journals no longer have what follows a position, or never had.
var errGone = errors.New("the entries after this position are gone, or the index has had others: take a snapshot")

// feed lets standbys read the journals while they are written. It is safe for concurrent use.
type feed struct {
	mu      sync.Mutex
	readers []io.Closer // connections of standbys
	copying int         // standbys that take a snapshot
	last    time.Time   // when one has asked or ended
	begins  []position  // of the journals that are kept, the last that of written.generation
	written written
}

// written is what is on disk.
type written struct {
	generation, entries uint64
	size                int64 // of the last journal
	ended               bool  // nothing follows
	changed             chan struct{}
}

func newFeed() *feed { return &feed{written: written{changed: make(chan struct{})}} }

// update changes what is on disk, and wakes the readers.
func (f *feed) update(change func(*written)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.written)
	close(f.written.changed)
	f.written.changed = make(chan struct{})
}

func (f *feed) now() written {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.written
}

// began notes that the next journal begins.
func (f *feed) began(generation uint64, at position, size int64) {
	f.update(func(w *written) {
		f.begins = append(f.begins, at)
		w.generation, w.entries, w.size = generation, at.Entries, size
	})
}

// drop gives up old journals, and returns the generation of the first that is kept: the present one
// if no standby has asked for an hour, or if the disk is short of room.
func (f *feed) drop(dir string, room uint64) uint64 {
	keep := keptJournals
	if free, err := durable.Room(dir); f.wanted() == nil || err != nil || free < 2*room {
		keep = 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begins = f.begins[max(0, len(f.begins)-keep-1):]
	return f.written.generation + 1 - uint64(len(f.begins))
}

// wanted returns the positions of the journals that are kept, or none if no standby wants them.
func (f *feed) wanted() []position {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.readers)+f.copying == 0 && time.Since(f.last) > keptFor {
		return nil
	}
	return f.begins
}

// asked notes that a standby has asked, and reports whether none did before.
func (f *feed) asked() (first bool) {
	first = f.wanted() == nil
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = time.Now()
	return first
}

// copies counts a standby that takes a snapshot, until done.
func (f *feed) copies() (done func()) {
	f.asked()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.copying++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.copying--
		f.last = time.Now()
	}
}

// reads counts the connection of a standby, until done. Beyond mostStandbys, it closes the oldest one,
// which may be that of a standby that has come again.
func (f *feed) reads(c io.Closer) (done func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.readers) >= mostStandbys {
		_ = f.readers[0].Close() // its next write fails
		f.readers = slices.Delete(f.readers, 0, 1)
	}
	f.readers = append(f.readers, c)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.readers = slices.DeleteFunc(f.readers, func(r io.Closer) bool { return r == c })
		f.last = time.Now()
	}
}

// standbys returns the number of standbys that read.
func (f *feed) standbys() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.readers)
}

// end lets the readers read to the end, and waits for them.
func (f *feed) end(patience time.Duration) {
	f.update(func(w *written) { w.ended = true })
	for until := time.Now().Add(patience); f.standbys() > 0 && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
}

// tail reads the entries after a position, journal after journal.
type tail struct {
	feed       *feed
	dir        string
	generation uint64
	file       *os.File
	in         *journal.Reader
	at         position // after what is read
	rest       []byte   // of a group that begins before the position of the tail
}

// open returns a tail, or errGone.
func (f *feed) open(dir string, from position) (_ *tail, err error) {
	t := &tail{feed: f, dir: dir}
	f.mu.Lock()
	w, i := f.written, len(f.begins)-1
	for i > 0 && f.begins[i].Entries > from.Entries {
		i--
	}
	t.at, t.generation = f.begins[i], w.generation+1+uint64(i)-uint64(len(f.begins))
	f.mu.Unlock()
	if t.at.Entries > from.Entries || from.Entries > w.entries {
		return nil, errGone
	}
	if err := t.begin(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = t.file.Close() // only read from
		}
	}()
	for t.at.Entries < from.Entries {
		if t.rest, err = t.in.Next(); err != nil {
			return nil, t.gap(err)
		}
		for t.at.Entries < from.Entries && len(t.rest) > 0 {
			if t.rest, err = t.skip(t.rest); err != nil {
				return nil, err
			}
		}
	}
	if t.at != from {
		return nil, errGone
	}
	return t, nil
}

// begin opens the journal of the tail's generation.
func (t *tail) begin() (err error) {
	t.file, err = os.Open(journalPath(t.dir, t.generation))
	if err == nil {
		if t.in, err = journal.Served.NewReader(t.file, nil); err != nil {
			_ = t.file.Close()
		}
	} else if errors.Is(err, os.ErrNotExist) {
		err = errGone
	}
	return err
}

// gap gives up the journals up to that of the tail, whose end was never on the disk: the checkpoint
// of a killed server alone has it.
func (t *tail) gap(err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, journal.ErrDamaged) {
		return err
	}
	t.feed.mu.Lock()
	defer t.feed.mu.Unlock()
	for len(t.feed.begins) > 1 && t.feed.begins[0].Entries <= t.at.Entries {
		t.feed.begins = t.feed.begins[1:]
	}
	return errGone
}

// skip moves the tail behind the first entry of b, and returns the others.
func (t *tail) skip(b []byte) (rest []byte, err error) {
	_, rest, err = journal.CutEntry(b)
	if err == nil {
		t.at.add(b[:len(b)-len(rest)])
	}
	return rest, err
}

// next returns further entries among those written, or nothing. They are valid until the next call.
func (t *tail) next(w written) (entries []byte, err error) {
	entries, t.rest = t.rest, nil
	for len(entries) == 0 {
		if t.generation == w.generation && t.in.Offset() >= w.size {
			return nil, nil
		}
		entries, err = t.in.Next()
		if t.generation < w.generation && (errors.Is(err, io.EOF) || errors.Is(err, journal.ErrDamaged)) {
			err = t.follow(err)
		}
		if err != nil {
			return nil, err
		}
	}
	for rest := entries; len(rest) > 0; {
		if rest, err = t.skip(rest); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// follow goes on with the next journal, at the end of the present one.
func (t *tail) follow(end error) error {
	t.feed.mu.Lock()
	after := t.feed.written.generation - t.generation // journals after this one
	begins := t.feed.begins
	t.feed.mu.Unlock()
	switch {
	case after > uint64(len(begins)):
		return errGone
	case begins[uint64(len(begins))-after] != t.at:
		return t.gap(end)
	}
	t.generation++
	return errors.Join(t.file.Close(), t.begin())
}
