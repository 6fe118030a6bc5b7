package dedup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/durable"
)

// The files of an index.
const (
	TableFile  = "table.db"
	FilterFile = "filter.bloom"
	lockFile   = "lock"
)

// DefaultDocs is how many documents a new filter is sized for where nothing is
// said: 100 MiB. With a table it grows when full.
const DefaultDocs = 1_000_000

// KeysPerDoc is how many keys a document adds to the filter at most: its
// segments and its whole text, which without a table takes several.
func KeysPerDoc(s feature.Scheme, filterOnly bool) uint64 {
	if s.Segments == 0 {
		s.Segments = feature.DefaultSegments
	}
	if filterOnly {
		return uint64(s.Segments) + wholeKeys
	}
	return uint64(s.Segments) + 1
}

// ShapeFor is the size of a filter for so many documents.
func ShapeFor(docs uint64, s feature.Scheme, filterOnly bool) bloomstore.Shape {
	const most = 1 << 48 // more is cut to the largest filter there can be
	return bloomstore.ForItems(min(docs, most) * KeysPerDoc(s, filterOnly))
}

// ErrLocked is returned by OpenIndex when another process has the index open.
var ErrLocked = errors.New("another process is using this index")

// IndexOptions say how to open an index.
type IndexOptions struct {
	Scheme feature.Scheme
	// Shape is the filter's size; zero means as it is, or for DefaultDocs
	// when there is none yet. Another size than the stored one rebuilds the
	// filter from the table.
	Shape bloomstore.Shape
	// FilterOnly: no side table.
	FilterOnly bool
	// MemtableKeys is how many keys the table holds in memory before it
	// writes a run; 0 is its default. Tests make it small.
	MemtableKeys int
	// UUID identifies the table if it is a new one; zero has one drawn at
	// random. Two tables of the same documents are equal byte for byte only
	// where they have the same.
	UUID [16]byte
}

// Index is a directory that holds what was seen: the side table, and the filter
// derived from it. It is open for one process at a time.
//
// The filter file carries the table's generation. It is written by Close only,
// so after a crash its generation is an old one and the filter is rebuilt from
// the table: bits of documents that were lost would make their second reading
// look like a duplicate.
type Index struct {
	Table  *docmap.Table      // nil when FilterOnly
	Filter *bloomstore.Filter // replaced by Grow

	// Rebuilt tells why the filter was rebuilt when the index was opened, or
	// is empty.
	Rebuilt string

	dir    string
	scheme feature.Scheme
	name   string // of the scheme
	lock   *flock.Flock
	saved  []byte // stamp of the filter file as it is on disk

	// Of an index without a table, see alone.go and journal.go.

	// Left is not nil where the last run over a pipe has not ended in order.
	Left *Left

	uuid    [16]byte
	at      mark              // of the filter file
	chain   []chained         // journals that go with it
	journal *journal          // nil but while a pipe is read
	state   map[string][]byte // the owner's, of the run that is under way or was
	bound   int64             // for tests: journal.bound
	hook    func(string)      // for tests: journal.hook
}

// OpenIndex opens the index in dir, or creates one.
func OpenIndex(dir string, o IndexOptions) (_ *Index, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("opening index: %w", err)
	}
	x := &Index{dir: dir, name: o.Scheme.Name(), scheme: o.Scheme, uuid: o.UUID, lock: flock.New(filepath.Join(dir, lockFile))}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("opening index %s: %w", dir, err), x.release())
		}
	}()
	if err := x.takeLock(); err != nil {
		return nil, err
	}
	if err := x.checkKind(o.FilterOnly); err != nil {
		return nil, err
	}
	if !o.FilterOnly {
		x.Table, err = docmap.Open(x.path(TableFile), docmap.Options{
			Scheme: x.name, MemtableKeys: o.MemtableKeys, UUID: o.UUID,
		})
		if err != nil {
			return nil, err
		}
	}
	return x, x.openFilter(o.Shape)
}

// table is x.Table as the deduper wants it: nil where there is none.
func (x *Index) table() Table {
	if x.Table == nil {
		return nil
	}
	return x.Table
}

func (x *Index) path(name string) string { return filepath.Join(x.dir, name) }

// takeLock waits a moment: a process just stopped may still be closing.
func (x *Index) takeLock() error {
	const patience = time.Second
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		ok, err := x.lock.TryLock()
		switch {
		case err != nil:
			return fmt.Errorf("locking: %w", err)
		case ok:
			return nil
		case time.Now().After(end):
			return fmt.Errorf("%w; wait for it to end, or give another --index", ErrLocked)
		}
	}
}

// checkKind refuses to use an index with a table as one without, or the reverse:
// each would forget what the other knows.
func (x *Index) checkKind(filterOnly bool) error {
	table, err := exists(x.path(TableFile))
	if err != nil {
		return err
	}
	filter, err := exists(x.path(FilterFile))
	if err != nil {
		return err
	}
	if !filter && !table && !filterOnly {
		logs, err := findLogs(x.dir)
		if err != nil {
			return err
		}
		filter = len(logs) > 0
	}
	switch {
	case filterOnly && table:
		return errors.New("it has a side table; run without --filter-only, or give another --index")
	case !filterOnly && filter && !table:
		return errors.New("it has a filter and no side table; run with --filter-only, or give another --index")
	}
	return nil
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// stamp ties a filter file to the state of the table it was saved with, ahead
// checkpoints without new documents from now; see docs/format.md, "The index
// directory".
func (x *Index) stamp(ahead uint64) []byte {
	g := x.Table.Generation()
	stamp := binary.LittleEndian.AppendUint64(g.UUID[:], g.Sequence+ahead)
	return binary.LittleEndian.AppendUint64(stamp, g.Content)
}

// openFilter loads the filter if it is the table's current one and of the shape
// asked for; else it builds it anew. A damaged filter is refused, not rebuilt in
// silence: whatever damaged it may have damaged the table.
func (x *Index) openFilter(shape bloomstore.Shape) error {
	if x.Table == nil {
		return x.openAlone(shape)
	}
	path := x.path(FilterFile)
	there, err := exists(path)
	if err != nil {
		return err
	}
	if !there {
		if shape == (bloomstore.Shape{}) {
			shape = ShapeFor(DefaultDocs, x.scheme, false)
		}
		why := ""
		if x.Table.Stats().Docs > 0 {
			why = "it was not saved, or is gone"
		}
		return x.rebuild(shape, why)
	}
	header, err := bloomstore.ReadHeader(path)
	if err != nil {
		return err
	}
	if shape == (bloomstore.Shape{}) {
		shape = header.Shape
	}
	switch {
	case string(header.Stamp) != string(x.stamp(0)):
		// Finish stamps a file ahead of the table. It must be gone before
		// the table comes to that generation with other documents.
		if err := durable.Remove(path); err != nil {
			return fmt.Errorf("removing the filter of another state: %w", err)
		}
		return x.rebuild(shape, "the last run did not end cleanly")
	case shape != header.Shape:
		return x.rebuild(shape, "another size was asked for")
	}
	x.Filter, x.saved, err = bloomstore.Open(path, x.name)
	return err
}

// rebuild replaces the filter by one of the given shape holding all keys of the
// table.
func (x *Index) rebuild(shape bloomstore.Shape, why string) error {
	if err := x.closeFilter(); err != nil {
		return err
	}
	f, err := bloomstore.New(shape, x.name)
	if err != nil {
		return err
	}
	x.Filter, x.saved = f, nil
	x.Rebuilt = why
	return fillFilter(f, x.Table)
}

// rebuildBatch is how many keys are added at once: enough for all processors to
// share, and 512 KiB.
const rebuildBatch = 1 << 16

// fillFilter adds all keys of a table to a filter.
func fillFilter(f *bloomstore.Filter, t *docmap.Table) error {
	batch := make([]uint64, 0, 2*rebuildBatch)
	for keys, err := range t.Keys() {
		if err != nil {
			return fmt.Errorf("rebuilding the filter: %w", err)
		}
		if batch = append(batch, keys...); len(batch) >= rebuildBatch {
			f.AddParallel(batch)
			batch = batch[:0]
		}
	}
	f.AddParallel(batch)
	return nil
}

// designFill is the share of one bits at design load, 1 - e^(-1/2): two bits for
// each of the k probes of a key make kn/m = 1/2 whatever k is.
const designFill = 0.3934693402873666

// Full reports whether the filter holds what it was designed for: half the
// items again would double its false positives. It depends on the bits alone, so
// a rebuilt filter is full at the same document.
func (x *Index) Full() bool { return x.Filter.Fill() >= designFill }

// Load is the share of its capacity that the filter holds, estimated from its
// bits: 1 at design load.
func (x *Index) Load() float64 { return -2 * math.Log1p(-x.Filter.Fill()) }

// Grow replaces the filter by one of twice the size with the same keys.
func (x *Index) Grow() error {
	shape := x.Filter.Shape()
	shape.Bits *= 2
	return x.rebuild(shape, "")
}

// Checkpoint makes everything remembered so far durable in one transaction,
// together with the owner's state. An index without a table has none: see
// BeginJournal.
func (x *Index) Checkpoint(state map[string][]byte) error {
	return x.Table.Checkpoint(state)
}

// Value returns what the owner last gave that name: nil when the run that
// it belongs to has ended in order.
func (x *Index) Value(name string) ([]byte, error) {
	if x.Table == nil {
		return x.state[name], nil
	}
	return x.Table.State(name)
}

// Close saves the filter, if the table's last checkpoint is not in it already,
// and releases the index. What came after the last checkpoint is forgotten.
func (x *Index) Close(save bool) error {
	var err error
	if save && x.Filter != nil {
		err = x.saveFilter(0)
	}
	return errors.Join(err, x.release())
}

// Finish saves the filter and makes the last checkpoint of a run, in this order:
// a run killed while gigabytes of filter are written is not over yet, and the
// same command finishes it. Everything must be in a checkpoint already.
func (x *Index) Finish(state map[string][]byte) error {
	if err := x.saveFilter(1); err != nil || x.Table == nil {
		return err
	}
	return x.Checkpoint(state)
}

// saveFilter writes the filter for the state of the table so many checkpoints from
// now, unless the file is that already.
func (x *Index) saveFilter(ahead uint64) error {
	if x.Table == nil {
		return x.saveAlone()
	}
	stamp := x.stamp(ahead)
	if x.saved != nil && string(stamp) == string(x.saved) {
		return nil
	}
	err := x.Filter.Save(x.path(FilterFile), stamp)
	if err == nil {
		x.saved = stamp
	}
	return err
}

func (x *Index) closeFilter() error {
	if x.Filter == nil {
		return nil
	}
	err := x.Filter.Close()
	x.Filter = nil
	return err
}

func (x *Index) release() error {
	var err error
	if x.journal != nil {
		err = x.journal.close()
		x.journal = nil
	}
	err = errors.Join(err, x.closeFilter())
	if x.Table != nil {
		err = errors.Join(err, x.Table.Close())
	}
	return errors.Join(err, x.lock.Unlock())
}
