package docmap

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"time"

	"github.com/zeebo/xxh3"
	"go.etcd.io/bbolt"
)

const (
	keyLimit = 8    // documents a key keeps
	idLimit  = 1024 // documents an id keeps

	pageSize     = 4096
	lockPatience = time.Second

	defaultMemtableKeys = 7 << 20 // 117 MB of slots
)

// The two lists of runs.
const (
	ofKeys = 0
	ofIDs  = 1
)

var (
	bucketMeta = []byte("meta")
	bucketDocs = []byte("docs")
	bucketPend = []byte("pend")
	keyTable   = []byte("table")
	keyState   = []byte("state")
)

// Options say how a table is opened. The zero value of each field but Scheme
// is useful.
type Options struct {
	// Scheme is the name of the scheme the keys are made with. It is stored
	// in a new table and must equal that of an existing one.
	Scheme string
	// ReadOnly opens an existing table for look-ups. Several processes can,
	// as long as none has it open for writing.
	ReadOnly bool
	// MemtableKeys is the number of keys kept in memory before they are
	// sorted into a run: 7,340,032 by default, which take 120 MB. Tables
	// with the same content need the same value to be the same files.
	MemtableKeys int
	// PendingKeys is the number of keys after which Full asks for a
	// checkpoint: by default a fifth of MemtableKeys.
	PendingKeys int
	// UUID identifies a new table; the zero value has one drawn at random.
	UUID [16]byte
	// MaxFileSize, if positive, makes a checkpoint that would need a larger
	// file fail, in bytes.
	MaxFileSize int

	noSync bool // for tests: what they find does not depend on the disk
}

func (o Options) withDefaults() Options {
	if o.MemtableKeys <= 0 {
		o.MemtableKeys = defaultMemtableKeys
	}
	if o.PendingKeys <= 0 {
		o.PendingKeys = max(1, o.MemtableKeys/5)
	}
	return o
}

// A Table maps keys to the documents that hold them. It is for one goroutine.
type Table struct {
	path string
	opt  Options
	db   *bbolt.DB

	head   header
	state  map[string][]byte
	docs   uint32 // documents, with those not in the file yet
	spaces [2]space
	log    keyLog
	recs   docLog

	read    *bbolt.Tx // held between checkpoints, opened when needed
	docCur  *bbolt.Cursor
	mapping uintptr // address of the mapped file when runs last looked
	version uint64  // grows with every change; iterators compare it
	arena   []byte  // values of the transaction being built

	// committed is called after every transaction, for tests that look at
	// the file as a crash at that moment would leave it.
	committed func()
	// sliceBytes bounds the values in one transaction of a flush or merge.
	sliceBytes int
}

// A space is one of the two indexes: of keys, of ids.
type space struct {
	mem   *memtable
	runs  []*run // oldest first; the target of a merge before its sources
	build builder
}

// Open opens the table in the file path, creating it if there is none and
// Options does not say ReadOnly. The errors are ErrScheme, ErrVersion,
// ErrDamaged and ErrLocked, or those of the system.
func Open(path string, opt Options) (*Table, error) {
	t := &Table{path: path, opt: opt.withDefaults(), sliceBytes: 8 << 20}
	t.log.reset()
	if len(opt.Scheme) > math.MaxUint16 {
		return nil, fmt.Errorf("opening the table %s: the scheme's name is too long", path)
	}
	if err := t.guarded(t.open); err != nil {
		_ = t.Close()
		return nil, fmt.Errorf("opening the table: %w", err)
	}
	return t, nil
}

func (t *Table) open() error {
	exists, err := t.precheck()
	if err != nil {
		return err
	}
	if !exists && t.opt.ReadOnly {
		return fmt.Errorf("%s: %w", t.path, fs.ErrNotExist)
	}
	if err := t.openFile(t.opt.ReadOnly); err != nil {
		return err
	}
	for i, limit := range []int{ofKeys: keyLimit, ofIDs: idLimit} {
		if t.spaces[i].mem, err = newMemtable(t.opt.MemtableKeys, limit); err != nil {
			return err
		}
		t.spaces[i].build.limit = limit
	}
	if !exists {
		return t.create()
	}
	return t.load()
}

// precheck walks the pages of an existing file before bbolt follows them. It
// holds bbolt's own lock for reading meanwhile.
func (t *Table) precheck() (exists bool, err error) {
	info, err := os.Stat(t.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if info.Size() < 3*pageSize {
		return false, damage("it has %d bytes", info.Size())
	}
	if err := t.openFile(true); err != nil {
		return false, err
	}
	err = checkPages(t.path)
	return true, errors.Join(err, t.db.Close())
}

func (t *Table) openFile(readOnly bool) error {
	opt := &bbolt.Options{
		Timeout:  lockPatience,
		ReadOnly: readOnly,
		PageSize: pageSize,
		MaxSize:  t.opt.MaxFileSize,
		NoSync:   t.opt.noSync,
		// The array keeps free pages in order and hands out the lowest,
		// so the same transactions give the same file, and a compact one.
		FreelistType:    bbolt.FreelistArrayType,
		InitialMmapSize: initialMapping,
	}
	db, err := bbolt.Open(t.path, 0o644, opt)
	switch {
	case errors.Is(err, bbolt.ErrTimeout):
		return fmt.Errorf("%s: %w by another process: wait for it to end, or use another index", t.path, ErrLocked)
	case errors.Is(err, bbolt.ErrInvalid), errors.Is(err, bbolt.ErrChecksum), errors.Is(err, bbolt.ErrVersionMismatch):
		return damage("%v", err)
	case err != nil:
		return err
	}
	t.db = db
	return nil
}

func (t *Table) create() error {
	t.head = header{scheme: t.opt.Scheme, uuid: t.opt.UUID, nextRun: 1}
	if t.head.uuid == [16]byte{} {
		if _, err := rand.Read(t.head.uuid[:]); err != nil {
			return err
		}
	}
	t.state = make(map[string][]byte)
	t.recs.open.first = 1
	return t.update(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{bucketMeta, bucketDocs, bucketPend} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return putHeader(tx, &t.head, t.state)
	})
}

// putHeader writes the table record and, unless nil, the owner's values.
func putHeader(tx *bbolt.Tx, h *header, state map[string][]byte) error {
	meta := tx.Bucket(bucketMeta)
	if state != nil {
		if err := meta.Put(keyState, encodeState(state)); err != nil {
			return err
		}
	}
	return meta.Put(keyTable, h.encode())
}

// load reads what a table keeps in memory.
func (t *Table) load() error {
	tx, err := t.reading()
	if err != nil {
		return err
	}
	meta, docs, pend := tx.Bucket(bucketMeta), tx.Bucket(bucketDocs), tx.Bucket(bucketPend)
	if meta == nil || docs == nil || pend == nil {
		return damage("it is not a table, or parts of it are missing")
	}
	h, err := decodeHeader(meta.Get(keyTable))
	if err != nil {
		return err
	}
	t.head = *h
	if h.scheme != t.opt.Scheme {
		return fmt.Errorf("%s: %w: it was made with %q, not %q; use the same settings, or another index",
			t.path, ErrScheme, h.scheme, t.opt.Scheme)
	}
	if t.state, err = decodeState(meta.Get(keyState)); err != nil {
		return err
	}
	t.docs = h.docs
	t.recs.open.first = 1
	if h.openBlock > 0 {
		open, err := decodeBlock(docs.Get(binKey(uint64(h.openBlock))), h.openBlock)
		if err != nil {
			return err
		}
		t.recs.open = *open
	}
	if t.recs.open.next() != h.docs+1 {
		return damage("the documents end at %d, not %d", t.recs.open.next()-1, h.docs)
	}
	for i := range t.spaces {
		for _, info := range h.runs[i] {
			t.spaces[i].runs = append(t.spaces[i].runs, newRun(info))
		}
	}
	if err := t.replay(pend); err != nil {
		return err
	}
	if t.opt.ReadOnly {
		return nil
	}
	return t.sweep()
}

// replay fills the memory table from the pending keys and the ids of their
// documents.
func (t *Table) replay(pend *bbolt.Bucket) error {
	next := t.head.flushed + 1
	total := uint64(0)
	var keys []uint64
	for chunk := range t.head.chunks {
		b := pend.Get(binKey(uint64(chunk)))
		var err error
		next, keys, err = replayChunk(b, chunk, next, keys, func(doc uint32, keys []uint64) error {
			total += uint64(len(keys))
			return t.spaces[ofKeys].mem.addAll(keys, doc)
		})
		if err != nil {
			return err
		}
	}
	if next != t.head.docs+1 || total != t.head.pending {
		return damage("pending keys end at document %d of %d", next-1, t.head.docs)
	}
	for num := t.head.flushed + 1; num <= t.head.docs; num++ {
		d, err := t.doc(num)
		if err != nil {
			return err
		}
		if err := t.addID(d.ID, num); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) addID(id string, num uint32) error {
	if id == "" {
		return nil
	}
	return t.spaces[ofIDs].mem.addAll([]uint64{idKey(id)}, num)
}

// idKey is the key of a document id in the index of ids.
func idKey(id string) uint64 { return xxh3.HashStringSeed(id, seedID) }

// reading returns the long-lived read transaction.
func (t *Table) reading() (*bbolt.Tx, error) {
	if t.db == nil {
		return nil, errClosed
	}
	if t.read != nil {
		return t.read, nil
	}
	tx, err := t.db.Begin(false)
	if err != nil {
		return nil, err
	}
	// bbolt maps the file anew when it outgrows the mapping.
	if at := t.db.Info().Data; at != t.mapping {
		for i := range t.spaces {
			for _, r := range t.spaces[i].runs {
				r.forget()
			}
		}
		t.mapping = at
	}
	t.read = tx
	t.docCur = nil
	if docs := tx.Bucket(bucketDocs); docs != nil {
		t.docCur = docs.Cursor()
	}
	return tx, nil
}

func (t *Table) stopReading() error {
	tx := t.read
	t.read, t.docCur = nil, nil
	if tx == nil {
		return nil
	}
	return tx.Rollback()
}

// update runs f in a write transaction.
func (t *Table) update(f func(tx *bbolt.Tx) error) error {
	if err := t.stopReading(); err != nil {
		return err
	}
	info, err := os.Stat(t.path)
	if err != nil {
		return err
	}
	// bbolt grows the file by this much more than it needs.
	t.db.AllocSize = int(min(32<<20, max(64<<10, info.Size()/16)))
	tx, err := t.db.Begin(true)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit, does nothing
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	if t.committed != nil {
		t.committed()
	}
	return nil
}

// Close gives the file and the memory back. What came after the last
// checkpoint is lost. It may be called again.
func (t *Table) Close() error {
	t.version++
	errs := []error{t.stopReading()}
	for i := range t.spaces {
		if m := t.spaces[i].mem; m != nil {
			errs = append(errs, m.close())
		}
		t.spaces[i] = space{}
	}
	if t.db != nil {
		errs = append(errs, t.db.Close())
		t.db = nil
	}
	return errors.Join(errs...)
}
