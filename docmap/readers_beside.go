package docmap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/firstseen/firstseen/docmap/boltcheck"
)

// openBeside opens a table for reading beside a process that writes it. done is false if there is
// no writer and none can start: then the caller opens the table alone and keeps writers out.
func (t *Table) openBeside() (done bool, err error) {
	if !canShare || !t.opt.ReadOnly {
		return false, nil
	}
	for {
		at, err := os.OpenFile(t.path+readersSuffix, os.O_RDWR|os.O_APPEND, 0)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != nil && t.isWritten():
			return false, fmt.Errorf("%s is being written, and its readers must sign in: %w; make that file writable, or wait for the run to end", t.path, err)
		case err != nil:
			return false, nil
		}
		if err := lockShared(at); err != nil {
			return false, errors.Join(err, at.Close())
		}
		t.signedIn = at
		named, err := t.attach()
		if named || err != nil {
			return true, err
		}
		if err := t.leave(); err != nil { // its writer has ended
			return false, err
		}
	}
}

func stillNamed(f *os.File, path string) bool {
	a, err := f.Stat()
	b, err2 := os.Stat(path)
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// attempts is how often a reader tries to sign in while the newest state stays the same. One try
// takes some microseconds.
const attempts = 1000

// attach opens the newest state and signs in for it. named is false if the sign-in file is no
// longer the table's.
func (t *Table) attach() (named bool, err error) {
	for range attempts {
		if err := t.openFile(true, 0); err != nil {
			return false, err
		}
		if !stillNamed(t.signedIn, t.path+readersSuffix) {
			return false, nil
		}
		// From here on the sign-in keeps the state, and the file's lock must not keep a writer out.
		if err := unlock(t.file); err != nil {
			return false, err
		}
		s, err := newSnapshot(t.db)
		if err != nil {
			return false, err
		}
		t.own.read = s
		if err := t.sign(uint64(s.tx.ID())); err != nil {
			return false, err
		}
		now, err := newest(t.db)
		if err != nil {
			return false, err
		}
		if now == s.tx.ID() {
			t.since, t.sizeThen = time.Now(), fileSize(t.path)
			t.mapped(s)
			return true, t.checkState()
		}
		err = errors.Join(t.sign(uint64(s.tx.ID())|signedOut), t.own.stop(), t.db.Close())
		if t.db = nil; err != nil {
			return false, err
		}
	}
	return false, fmt.Errorf("%s: %w: it changes faster than it can be opened", t.path, ErrLocked)
}

// The longest stay of a reader: until it leaves, the file grows by everything written. Tests make
// it short.
var (
	mostTime       = 10 * time.Minute
	mostSize int64 = 1 << 30
)

// fileSize returns the length of a file, 0 if it is unknown.
func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// stayed returns ErrReopen if a reader beside a writer has stayed too long.
func (t *Table) stayed() error {
	if t.signedIn == nil || time.Since(t.since) <= mostTime && fileSize(t.path)-t.sizeThen <= mostSize {
		return nil
	}
	return fmt.Errorf("%s: %w", t.path, ErrReopen)
}

func (t *Table) sign(what uint64) error {
	if _, err := t.signedIn.Write(binary.LittleEndian.AppendUint64(nil, what)); err != nil {
		return fmt.Errorf("signing in as a reader: %w", err)
	}
	return nil
}

// leave closes a sign-in file that was not the table's.
func (t *Table) leave() error {
	f := t.signedIn
	t.signedIn = nil
	err := f.Close()
	if t.db != nil {
		err = errors.Join(err, t.db.Close())
		t.db = nil
	}
	return err
}

// isWritten reports whether a process may be writing the table.
func (t *Table) isWritten() bool {
	f, err := os.Open(t.path)
	if err != nil {
		return false
	}
	defer f.Close() // it is only locked
	free, err := tryLock(f)
	return err != nil || !free
}

// checkState walks the pages of the state being read.
func (t *Table) checkState() error {
	if t.signedIn == nil {
		return damaged(boltcheck.File(t.path))
	}
	_, err := t.pagesReached(t.own.read)
	return damaged(err)
}

// pagesReached walks the pages of a state and counts them.
func (t *Table) pagesReached(s *snapshot) (uint64, error) {
	return boltcheck.Tree(t.path, uint64(s.tx.Cursor().Bucket().Root()), uint64(s.tx.Size())/pageSize)
}

// signOut ends reading beside a writer. It notes the snapshot's transaction, so it comes before
// the snapshot is closed. The caller runs after once the snapshot is closed.
func (t *Table) signOut() (after func() error) {
	if t.signedIn == nil {
		return func() error { return nil }
	}
	f := t.signedIn
	var err error
	if t.own.read != nil {
		err = t.sign(uint64(t.own.read.tx.ID()) | signedOut)
	}
	t.signedIn = nil
	return func() error { return errors.Join(err, t.lastOut(f), f.Close()) }
}

// lastOut removes the sign-in file if no process reads or writes the table any more.
func (t *Table) lastOut(f *os.File) error {
	table, err := os.Open(t.path)
	if err != nil {
		return nil // the file is gone with the table, or cannot be judged
	}
	defer table.Close()                                   // and unlocked
	if free, err := tryLock(table); err != nil || !free { // a writer has the table, or starts
		return err
	}
	if free, err := tryLock(f); err != nil || !free {
		return err
	}
	if !stillNamed(f, t.path+readersSuffix) {
		return nil
	}
	return removeLeft(t.path + readersSuffix)
}
