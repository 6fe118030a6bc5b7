package docmap

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/zeebo/xxh3"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/firstseen/firstseen/docmap/boltcheck"
	"github.com/firstseen/firstseen/docmap/memtable"
	"github.com/firstseen/firstseen/internal/base/durable"
)

// open opens the file, and first creates a missing one if the options allow it.
func (t *Table) open() error {
	exists, err := t.precheck()
	switch {
	case err != nil:
		return err
	case !exists && (t.opt.ReadOnly || t.opt.AsIs):
		return fmt.Errorf("%s: %w", t.path, fs.ErrNotExist)
	case !exists:
		err = t.createFile()
	}
	if err == nil && !t.opt.ReadOnly {
		err = t.openFile(false, true, 0)
	}
	if err == nil && exists && !t.opt.ReadOnly {
		err = durable.RemoveLeft(t.path + newSuffix) // left by Compact; the table is locked now
	}
	if err != nil {
		return err
	}
	return t.load()
}

// precheck checks the pages of an existing file before bbolt follows them, under bbolt's shared
// lock. It leaves the file open to read, for a table that does no more. An empty file is a lost table: createFile renames a new one only when it is complete.
func (t *Table) precheck() (exists bool, err error) {
	info, err := os.Stat(t.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.Mode().IsRegular(): // bbolt would block on it, or fail
		return false, fmt.Errorf("%s is not a file: give another name", t.path)
	case info.Size() < 3*pageSize:
		return false, damage("it has %d bytes", info.Size())
	}
	if err := t.openFile(true, false, 0); err != nil {
		return false, err
	}
	if t.opt.ReadOnly {
		t.pages, err = boltcheck.Open(t.path, checkedLater)
		return true, err
	}
	err = t.checkPages()
	return true, errors.Join(err, t.db.Close())
}

// checkedLater names the buckets with nearly all pages of a file. A table that only reads checks
// these pages when it first reads them: see snapshot.floor.
func checkedLater(name []byte) bool {
	return bytes.HasPrefix(name, []byte("run")) || string(name) == string(bucketDocs) || string(name) == string(bucketRemoved)
}

// checkPages checks the pages of the newest state or, if frozen, of the state that t reads.
func (t *Table) checkPages() error {
	if !t.frozen {
		return boltcheck.File(t.path)
	}
	tx := t.read.tx
	return boltcheck.Tree(t.path, uint64(tx.Cursor().Bucket().Root()), uint64(tx.Size())/pageSize)
}

// Freeze returns the table as of the last checkpoint, for another goroutine to read. Until it is
// closed, bbolt reuses none of its pages, so the file grows by everything written. A checkpoint
// that outgrows the mapping (64 GiB at first) waits until it is closed. Close it before t.
func (t *Table) Freeze() (*Table, error) {
	if t.db == nil {
		return nil, errClosed
	}
	f := newTable(t.path, t.opt)
	st := t.db.Stats()
	f.db, f.frozen, f.freePages = t.db, true, st.FreePageN+st.PendingPageN
	f.opt.ReadOnly, f.opt.Scheme = true, ""
	if err := f.guarded(f.load); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// initialMapping returns the initial size of bbolt's mapping. Tests return 0 to force remapping.
var initialMapping = addressSpace

// openFile opens the file with bbolt and additional flags. It drops bbolt's O_CREATE, which would
// turn a missing file into an empty table. Loading the free list requires sound pages.
func (t *Table) openFile(readOnly, freeList bool, flags int) error {
	opt := &bbolt.Options{
		Timeout:  lockPatience,
		ReadOnly: readOnly,
		PageSize: pageSize,
		MaxSize:  t.opt.MaxFileSize,
		NoSync:   t.opt.noSync || t.opt.Temporary,
		// With NoSync alone, bbolt still syncs a file that grows.
		NoGrowSync: t.opt.Temporary,
		// The array allocates the lowest free page, so the file stays compact. Free pages are few.
		FreelistType:    bbolt.FreelistArrayType,
		PreLoadFreelist: freeList,
		InitialMmapSize: initialMapping(),
		OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
			return os.OpenFile(name, flag&^os.O_CREATE|flags, mode)
		},
	}
	db, err := bbolt.Open(t.path, 0o644, opt)
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return fmt.Errorf("%s: %w by another process: wait for it to end (firstseen serve answers while it writes), or use another index", t.path, ErrLocked)
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, bolterrors.ErrVersionMismatch):
		return damage("%v", err)
	case err != nil:
		return err
	}
	t.db = db
	return nil
}

// newSuffix ends the name of a table's file until the file is complete.
const newSuffix = ".new"

// createNew creates the file with empty buckets and the changes of f.
func (t *Table) createNew(f func(c *change)) error {
	err := durable.RemoveLeft(t.path)
	if err == nil {
		err = t.openFile(false, true, os.O_CREATE|os.O_EXCL)
	}
	if err != nil {
		return err
	}
	return t.update(func(c *change) {
		for _, name := range [][]byte{bucketMeta, bucketDocs, bucketPend} {
			c.bucket(name)
		}
		f(c)
	})
}

// createFile creates an empty table under a temporary name and renames it. A kill before the rename
// leaves nothing that looks like a damaged table.
func (t *Table) createFile() error {
	fresh := newTable(t.path+newSuffix, t.opt)
	fresh.head = header{scheme: t.opt.Scheme, uuid: t.opt.UUID, nextRun: 1}
	if fresh.head.uuid == [16]byte{} {
		_, _ = rand.Read(fresh.head.uuid[:]) // never fails
	}
	err := fresh.createNew(func(c *change) { fresh.putHeader(c, map[string][]byte{}) })
	if err := errors.Join(err, fresh.Close()); err != nil {
		return err
	}
	if t.opt.Temporary {
		return os.Rename(fresh.path, t.path)
	}
	return durable.Rename(fresh.path, t.path)
}

// putHeader writes the table record and, if state is not nil, the owner's values.
func (t *Table) putHeader(c *change, state map[string][]byte) {
	c.put(bucketMeta, keyTable, c.head.encode())
	c.tx.OnCommit(func() {
		t.head = c.head
		for i, runs := range c.head.runs {
			t.spaces[i].runs = runs
		}
	})
	if state != nil {
		c.put(bucketMeta, keyState, encodeState(state))
		c.tx.OnCommit(func() { t.state = state })
	}
}

func (t *Table) load() error {
	for i, limit := range []int{ofKeys: MaxHolders, ofIDs: idLimit} {
		mem, err := memtable.New(t.opt.MemtableKeys, limit)
		if err != nil {
			return err
		}
		t.spaces[i] = space{mem: mem, limit: limit}
	}
	s, err := t.reading()
	if err != nil {
		return err
	}
	meta, docs, pend := s.tx.Bucket(bucketMeta), s.tx.Bucket(bucketDocs), s.tx.Bucket(bucketPend)
	if meta == nil || docs == nil || pend == nil {
		return damage("it is not a table, or parts of it are missing")
	}
	h, err := decodeHeader(meta.Get(keyTable))
	if err != nil {
		return err
	}
	t.head = *h
	if follow := t.opt.AsIs || t.opt.ReadOnly && t.opt.Scheme == ""; !follow && h.scheme != t.opt.Scheme {
		return fmt.Errorf("%s: %w: it was made with %q, not %q; use the same settings, or another index",
			t.path, ErrScheme, h.scheme, t.opt.Scheme)
	}
	if t.state, err = decodeState(meta.Get(keyState)); err != nil {
		return err
	}
	if t.tombstones.win, err = readWindow(s.tx, h); err != nil {
		return err
	}
	if err := errors.Join(t.loadTombstones(s.tx), t.loadBatches(s.tx)); err != nil {
		return err
	}
	t.watchTombstones()
	if err := t.loadOpenBlock(s, docs); err != nil {
		return err
	}
	for i, runs := range h.runs {
		for at, r := range runs {
			runs[at] = t.sizes.newRun(r.runInfo)
		}
		t.spaces[i].runs = runs
	}
	err = t.head.replayPending(pend, func(doc uint32, keys []uint64) error {
		return t.spaces[ofKeys].mem.AddAll([][]uint64{keys}, doc, memtable.Alone)
	})
	if t.idsUnread = true; t.opt.ReadOnly || err != nil {
		return err
	}
	if err := t.readIDs(); err != nil {
		return err
	}
	return t.sweepSlices()
}

func (t *Table) loadOpenBlock(s *snapshot, docs *bbolt.Bucket) error {
	t.docs, t.content = t.head.docs, t.head.content
	open := &docBlock{first: t.docs + 1}
	if first := t.head.openBlock; first > 0 {
		value, err := s.get(docs, binKey(uint64(first)))
		if err == nil {
			open, err = decodeBlock(value, first)
		}
		if err != nil {
			return err
		}
	}
	if open.next() != t.docs+1 {
		return damage("the documents end at %d, not %d", open.next()-1, t.docs)
	}
	t.recs.resize(t.head.win.length)
	t.recs.begin(*open)
	return nil
}

// readIDs adds the ids of documents with pending keys to their memory table, unless they are there.
func (t *Table) readIDs() error {
	for num := t.head.flushed + 1; t.idsUnread && num <= t.head.docs; num++ {
		rec, err := t.record(num)
		if err != nil {
			return err
		}
		id, _, err := splitRecord(rec, num)
		if err != nil {
			return err
		}
		if err := t.spaces[ofIDs].mem.AddAll(t.keysOfIDs([]string{string(id)}), num, memtable.Alone); err != nil {
			return err
		}
	}
	t.idsUnread = false
	return nil
}

func idKey(id string) uint64 { return xxh3.HashStringSeed(id, seedID) }
