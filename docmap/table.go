// Package docmap keeps, on disk, which documents hold which 64-bit keys. It is the side
// table beside a filter: when the filter has seen a key before, the table names the documents.
//
// A Table is one file. The owner adds documents, each with an id, data of its own and keys,
// and looks keys up. From time to time it makes a Checkpoint. That makes everything durable
// in one transaction, together with values of the owner's own:
//
//	t, err := docmap.Open(path, docmap.Options{Scheme: "fs1-u15b-xxh3-n50-w10"})
//	first, err := t.Add(ids, data, keys, nil, nil)
//	err = t.Lookup(keys[0], holders, n)
//	err = t.Records(holders[:n[0]&^docmap.ClosedKey], ids, data)
//	if t.Full() {
//		err = t.Checkpoint(map[string][]byte{"read": progress})
//	}
//	err = t.Close()
//
// Recent keys are in memory, about 170 MB in all with the defaults, and in the file in order
// of arrival. A full memory table is sorted into a run of packed bins. Runs are merged, so
// that a look-up searches few of them. Writing is sequential, and an entry takes about 8
// bytes of the file. docs/format.md describes the file.
//
// Promises:
//
//   - A look-up returns a key's earliest 8 documents, in order; later ones are not kept. The
//     answer is exact: no document is named falsely.
//   - After a crash at any moment the file is as at the last checkpoint.
//   - The same documents, added in the same order with a checkpoint whenever Full says so,
//     give the same runs with the same bytes.
//   - Damage to the file is an error (ErrDamaged), never another answer. Every checksum is
//     verified before the first use of the bytes it covers.
//
// Keys must be uniform hashes. Others are kept correctly, but time and space then depend on
// how they cluster.
//
// A Table is for one goroutine. One process writes a table at a time. Several can read it with
// Options.ReadOnly when none writes it.
package docmap

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"go.etcd.io/bbolt"

	"github.com/firstseen/firstseen/docmap/boltcheck"
	"github.com/firstseen/firstseen/docmap/memtable"
)

const (
	keyLimit = 8    // documents a key keeps
	idLimit  = 1024 // documents an id keeps

	pageSize     = boltcheck.PageSize
	lockPatience = time.Second
)

// DefaultMemtableKeys is the default of Options.MemtableKeys: 104 MB of slots.
const DefaultMemtableKeys = 6 << 20

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

// Options configure Open. Every field but Scheme has a useful zero value.
type Options struct {
	// Scheme names the rules that make the keys. A new table stores it; an existing one must have
	// the same. With ReadOnly it may be empty: [Table.Scheme] then returns the table's.
	Scheme string
	// ReadOnly opens an existing table for look-ups. Several processes can read at once. None can
	// while another writes.
	ReadOnly bool
	// AsIs opens an existing table of any scheme, and creates none.
	AsIs bool
	// MemtableKeys is the number of keys in memory that are sorted into a run together: 6,291,456
	// by default, in 104 MB. A quarter as many ids has the same effect. Two tables of the same
	// documents have the same runs only with the same value.
	MemtableKeys int
	// PendingKeys is the number of keys after which Full asks for a checkpoint: by default a
	// tenth of MemtableKeys.
	PendingKeys int
	// Stepwise tables leave the work after a checkpoint to Step: the owner answers in between. Such a
	// table has a small MemtableKeys, since its run is written in one transaction.
	Stepwise bool
	// UUID identifies a new table; a zero value is replaced by a random one.
	UUID [16]byte
	// Temporary tables are never opened again, so nothing is made durable.
	Temporary bool
	// MaxFileSize, if positive, limits the file in bytes: a checkpoint that needs more fails.
	MaxFileSize int

	noSync bool  // for tests that do not depend on the disk
	sizes  sizes // for tests: zero means defaultSizes
}

func (o Options) withDefaults() Options {
	if o.MemtableKeys <= 0 {
		o.MemtableKeys = DefaultMemtableKeys
	}
	if o.PendingKeys <= 0 {
		o.PendingKeys = max(1, o.MemtableKeys/10)
	}
	o.sizes = cmp.Or(o.sizes, defaultSizes)
	return o
}

// A Table maps keys to the documents that hold them. It is for one goroutine, except for the
// readers of Share.
type Table struct {
	path  string
	opt   Options
	sizes *sizes
	db    *bbolt.DB

	head   header
	state  map[string][]byte
	spaces [2]space
	wal    wal
	recs   docLog

	tombstones tombstones
	batches    batches
	frozen     bool // made by Freeze: the file is another Table's
	freePages  int  // when it was made

	// Including documents that are not in the file yet:
	docs    uint32 // documents
	content uint64 // their digest

	reader             // of its own goroutine
	shared   []*reader // of other goroutines: those of Share, and those that pack bins
	spread   memtable.Spread
	mapping  uintptr    // address of the mapped file when runs last read it
	used     int64      // bytes of the file in use
	version  uint64     // grows with every change; iterators compare it
	steps    steps      // left by checkpoints
	unsure   bool       // the file may differ from this Table's fields
	source   *Table     // read for new runs, if another
	bins     []packed   // of the transaction being built
	idKeys   [][]uint64 // of keysOfIDs
	idHashes []uint64

	// committed is called after every transaction: tests copy the file
	// there, as a crash would leave it.
	committed func()
}

// A space is one of the two indexes: of keys, of ids.
type space struct {
	mem   *memtable.Table
	limit int // documents that a key keeps
	// keep, if not nil, selects a key's documents for a run written from these entries.
	keep func(docs []uint32) []uint32
	runs []*run // oldest first; the target of a merge before its sources; as in the table record
}

// Open opens the table in the file path. Without ReadOnly it creates a missing file; two
// processes must not create the same table at once. The errors are ErrScheme, ErrVersion,
// ErrDamaged and ErrLocked, or the system's.
func Open(path string, opt Options) (*Table, error) {
	t := newTable(path, opt)
	if len(opt.Scheme) > math.MaxUint16 {
		return nil, fmt.Errorf("opening the table %s: the scheme's name is too long", path)
	}
	if err := t.guarded(t.open); err != nil {
		_ = t.Close()
		return nil, fmt.Errorf("opening the table: %w", err)
	}
	return t, nil
}

func (t *Table) stopReading() error {
	err := t.stop()
	for _, r := range t.shared {
		err = errors.Join(err, r.stop())
	}
	return err
}

// Scheme returns the name of the scheme that the table's keys are made with.
func (t *Table) Scheme() string { return t.head.scheme }

// newTable returns a table without a file.
func newTable(path string, opt Options) *Table {
	t := &Table{path: path, opt: opt.withDefaults()}
	t.sizes = &t.opt.sizes
	t.table = t
	t.spread = memtable.Spread{Parts: min(2, runtime.GOMAXPROCS(0)), Run: besides} // until Share
	return t
}

// Closed reports whether Close was called.
func (t *Table) Closed() bool { return t.db == nil }

// Close releases the file and the memory. Everything after the last checkpoint is lost. A second
// Close does nothing.
func (t *Table) Close() error {
	t.version++
	if t.steps.next != nil {
		t.steps.stop()
	}
	t.steps = steps{}
	t.unsure = false
	errs := []error{t.stopReading()}
	for i := range t.spaces {
		if m := t.spaces[i].mem; m != nil {
			errs = append(errs, m.Close())
		}
		t.spaces[i] = space{}
	}
	if t.db != nil && !t.frozen {
		errs = append(errs, t.db.Close())
	}
	t.db = nil
	return errors.Join(errs...)
}
