package docmap

import (
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"go.etcd.io/bbolt"
)

const (
	keyLimit = 8    // documents a key keeps
	idLimit  = 1024 // documents an id keeps

	pageSize     = 4096
	lockPatience = time.Second

	defaultMemtableKeys = 6 << 20 // 104 MB of slots
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
	// in a new table and must equal that of an existing one. A table that is
	// only read may be opened without: its owner then follows [Table.Scheme].
	Scheme string
	// ReadOnly opens an existing table for look-ups. Several processes can,
	// as long as none has it open for writing.
	ReadOnly bool
	// MemtableKeys is the number of keys kept in memory before they are
	// sorted into a run: 6,291,456 by default, which take 104 MB. A quarter as
	// many ids has the same effect. Tables
	// of the same documents need the same value to have the same runs.
	MemtableKeys int
	// PendingKeys is the number of keys after which Full asks for a
	// checkpoint: by default a tenth of MemtableKeys.
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
		o.PendingKeys = max(1, o.MemtableKeys/10)
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
	ahead entries // of the bin after the one being packed
}

// Open opens the table in the file path, creating it if there is none and
// Options does not say ReadOnly. The errors are ErrScheme, ErrVersion,
// ErrDamaged and ErrLocked, or those of the system. Two processes must not create
// the same table at the same moment.
func Open(path string, opt Options) (*Table, error) {
	t := &Table{path: path, opt: opt.withDefaults(), sliceBytes: 4 << 20}
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
