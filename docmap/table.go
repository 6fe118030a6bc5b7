// Package docmap stores, on disk, the documents that hold each 64-bit key. It is the side table of
// a filter: when the filter has seen a key before, the table names the documents.
//
// A Table is one file. The owner adds documents, each with an id, opaque data and keys, and looks
// keys up. A Checkpoint makes everything durable in one transaction, together with the owner's
// values:
//
//	t, err := docmap.Open(path, docmap.Options{Scheme: "fs4-u15b-xxh3-n50-w10"})
//	first, err := t.Add(ids, data, keys, nil, nil)
//	err = t.Lookup(keys[0], holders, n)
//	err = t.Records(holders[:n[0]&^docmap.ClosedKey], ids, data)
//	if t.Full() {
//		err = t.Checkpoint(map[string][]byte{"read": progress})
//	}
//	err = t.Close()
//
// Recent keys are in memory, about 170 MB with the defaults, and in the file, in order of arrival.
// A full memory table is sorted into a run of packed bins. Runs are merged, so that a look-up
// searches few. Writes are sequential, and an entry takes about 8 bytes of the file; see
// docs/format.md.
//
// Promises:
//
//   - A look-up returns a key's earliest 8 documents, in order; later ones are not kept. The answer
//     is exact: no document is named falsely.
//   - A crash at any moment leaves the state of the last checkpoint.
//   - The same documents, added in the same order with a checkpoint whenever Full is true, give
//     runs of identical bytes.
//   - Damage to the file causes ErrDamaged, never a wrong answer. Every checksum is verified before
//     the bytes it covers are first used.
//
// Keys must be uniform hashes. Others work, but time and space then depend on their clustering.
//
// A Table is for one goroutine. One process at a time can write a table. Several can read it with
// Options.ReadOnly while none writes.
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
	idLimit = 1024 // documents kept for an id

	pageSize     = boltcheck.PageSize
	lockPatience = time.Second
)

// DefaultMemtableKeys is the default of Options.MemtableKeys: 104 MB of slots.
const DefaultMemtableKeys = 6 << 20

// Indexes of the spaces of keys and of ids.
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
	// Scheme names the rules that make the keys. A new table stores it; an existing one must match
	// it. With ReadOnly it may be empty; [Table.Scheme] then returns the table's.
	Scheme string
	// ReadOnly opens an existing table for look-ups. Several processes can do so while none writes.
	ReadOnly bool
	// AsIs opens an existing table of any scheme. A missing table is an error.
	AsIs bool
	// MemtableKeys is the number of keys in memory that triggers writing a run: 6,291,456 by
	// default, in 104 MB. A quarter as many ids triggers it, too. Tables of the same documents have
	// the same runs only with the same value.
	MemtableKeys int
	// PendingKeys is the number of unsaved keys at which Full is true: by default MemtableKeys/10.
	PendingKeys int
	// Stepwise leaves the work after a checkpoint to Step, so that the owner can answer in between.
	// It needs a small MemtableKeys, because a run is then written in one transaction.
	Stepwise bool
	// UUID identifies a new table; a zero value is replaced by a random one.
	UUID [16]byte
	// Temporary marks a table that will not be opened again: nothing is made durable.
	Temporary bool
	// MaxFileSize, if positive, limits the file in bytes. A checkpoint that needs more fails.
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

// A Table maps keys to the documents that hold them. It is for one goroutine, but see Share.
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
	frozen     bool             // made by Freeze from another Table, which owns db
	freePages  int              // free pages of the file when frozen
	pages      *boltcheck.Pages // of a file opened to read; else nil
	idsUnread  bool             // readIDs has work to do

	// With documents that are not in the file yet:
	docs    uint32 // documents
	content uint64 // their digest

	reader             // of the Table's own goroutine
	shared   []*reader // of the goroutines of Share, and of those that pack bins
	spread   memtable.Spread
	mapping  uintptr    // address of the mapping that runs last read
	used     int64      // bytes of the file in use
	version  uint64     // grows with every change; iterators compare it
	steps    steps      // left by checkpoints
	unsure   bool       // the file may differ from this Table's fields
	source   *Table     // the table to read for new runs; nil for this one
	bins     []packed   // of the transaction being built
	idKeys   [][]uint64 // buffers of keysOfIDs
	idHashes []uint64

	// committed is called after every commit: tests copy the file then, as a crash would leave it.
	committed func()
}

// A space is one of the two indexes, of keys or of ids.
type space struct {
	mem   *memtable.Table
	limit int // documents kept for a key
	// keep, if not nil, selects a key's documents for a run written from these entries.
	keep func(docs []uint32) []uint32
	runs []*run // in the order of the table record: oldest first, a merge target before its sources
}

// Open opens the table in the file path. Without ReadOnly and AsIs it creates a missing file; two
// processes must not do so at once. The error is ErrScheme, ErrVersion, ErrDamaged, ErrLocked or
// the system's.
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

// Scheme returns the name of the table's key scheme.
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

// Close releases file and memory. Everything after the last checkpoint is lost. It may be repeated.
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
	if t.pages != nil {
		errs = append(errs, t.pages.Close())
		t.pages = nil
	}
	if t.db != nil && !t.frozen {
		errs = append(errs, t.db.Close())
	}
	t.db = nil
	return errors.Join(errs...)
}
