// Package index is an index on disk: the side table, the filter derived from it,
// its lock, its secret, and, without a table, the journals of a filter. It opens or
// makes one, ties its files to each other, grows the filter, makes what was seen
// durable, and says what is wrong with it:
//
//	x, err := index.Open("seen", index.Options{})
//	d, err := dedup.New(x.Config(dedup.Rules{}))
//	... // d.See
//	err = x.Checkpoint(nil)
//	err = x.Close(true)
//
// One process writes an index at a time. [OpenReader] asks one, [Check] reads all
// of it.
package index

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/step"
)

// ErrLocked is returned by OpenIndex when another process has the index open.
var ErrLocked = errors.New("another process is using this index")

var errIndexClosed = errors.New("the index is closed")

// IndexOptions say how to open an index.
type Options struct {
	// Scheme makes the fingerprints. Where it has no key, OpenIndex gives it
	// that of the index; see [Index.Scheme].
	Scheme feature.Scheme
	// Key says whether a new index draws a secret for its fingerprints, which
	// it stores in KeyFile, and whether one with or without is refused.
	Key KeyPolicy
	// Shape is the filter's size; zero means as it is, or for DefaultDocs
	// when there is none yet. Beside a table a larger one than the stored
	// filter's has it rebuilt; a smaller one changes nothing, as the filter
	// may have grown to hold what is there.
	Shape bloomstore.Shape
	// FilterOnly: no side table.
	FilterOnly bool
	// MemtableKeys is how many keys the table holds in memory before it
	// writes a run; 0 is its default. Tests make it small.
	MemtableKeys int
	// UUID identifies the table if it is a new one; zero has one drawn at
	// random. Two filters of the same documents are equal byte for byte only
	// where the tables have the same.
	UUID [16]byte
}

// Index is a directory that holds what was seen: the side table, and the filter
// derived from it. It is open for one process at a time. After Close its methods
// return errors.
//
// The filter file carries the table's generation. It is written when a run ends,
// so after a crash its generation is an old one and the filter is rebuilt from
// the table: bits of documents that were lost would make their second reading
// look like a duplicate.
type Index struct {
	Table  *docmap.Table      // nil when FilterOnly
	Filter *bloomstore.Filter // replaced by Grow; nil after Close

	// Rebuilt tells why the filter was rebuilt when the index was opened, or
	// is empty.
	Rebuilt string

	dir    string
	scheme feature.Scheme
	name   string // of the scheme
	lock   *flock.Flock
	saved  []byte // stamp of the filter file as it is on disk
	closed bool

	// Of an index without a table, see alone.go and journal.go.

	// Left is not nil where the last run over a pipe has not ended in order.
	Left *Left

	uuid    [16]byte
	at      mark              // of the filter file
	chain   []chained         // journals that go with it
	Journal *journal          // nil but while a pipe is read
	state   map[string][]byte // the owner's, of the run that is under way or was
	Bound   int64             // for tests: journal.bound
	Hook    func(string)      // for tests: journal.hook
}

// OpenIndex opens the index in dir, or creates one. Until it has its table, or
// without one its filter, a directory is no index: a process killed while it
// creates one leaves what the next one begins with.
func Open(dir string, o Options) (_ *Index, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("making the index: %w", err)
	}
	if err := step.Done("made the directory"); err != nil {
		return nil, err
	}
	x := &Index{dir: dir, scheme: o.Scheme, uuid: o.UUID, lock: flock.New(filepath.Join(dir, lockFile))}
	if err := x.takeLock(); err != nil {
		return nil, err
	}
	if err := x.open(&o); err != nil {
		return nil, errors.Join(err, x.release())
	}
	return x, nil
}

// open opens or makes the files. Its errors name the file or the index.
func (x *Index) open(o *Options) error {
	err := step.Done("locked the index")
	if err != nil {
		return err
	}
	p, err := look(x.dir)
	if err == nil {
		err = p.checkKind(x.dir, o.FilterOnly)
	}
	if err != nil {
		return err
	}
	if err := x.findKey(&p, o.Key); err != nil {
		return err
	}
	x.name = x.scheme.Name()
	if !o.FilterOnly {
		x.Table, err = docmap.Open(x.path(TableFile), docmap.Options{
			Scheme: x.name, MemtableKeys: o.MemtableKeys, UUID: o.UUID,
		})
		if err != nil {
			return err
		}
	}
	if err := p.emptied(x.dir, x.Table); err != nil {
		return err
	}
	return x.openFilter(&p, o.Shape)
}

// findKey completes the scheme by the key of the index, or by a fresh one where a
// new index is to have one.
func (x *Index) findKey(p *presence, policy KeyPolicy) (err error) {
	if x.scheme.Key != nil {
		return nil
	}
	x.scheme.Key, err = ReadKey(x.dir)
	switch {
	case err != nil:
		return err
	case x.scheme.Key != nil && policy == KeyRefused:
		return fmt.Errorf("index %s: %w", x.dir, ErrKeyed)
	case x.scheme.Key != nil || policy == KeyAsIs || policy == KeyRefused:
		return nil
	case p.none():
		x.scheme.Key, err = makeKey(x.dir)
		return err
	case policy == KeyRequired:
		return fmt.Errorf("index %s: %w", x.dir, ErrUnkeyed)
	}
	return nil
}

// Scheme is what the index makes its fingerprints with, its key included.
func (x *Index) Scheme() feature.Scheme { return x.scheme }

// Config is what a [Deduper] over the index needs, under the index's scheme. Once
// Grow has replaced the filter, UseFilter gives the Deduper the new one.
func (x *Index) Config(rules dedup.Rules) dedup.Config {
	return dedup.Config{Scheme: x.scheme, Rules: rules, Filter: x.Filter, Table: x.Store()}
}

// Store is x.Table as a Deduper wants it: nil where there is none.
func (x *Index) Store() dedup.Store {
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
			return fmt.Errorf("locking the index: %w", err)
		case ok:
			return nil
		case time.Now().After(end):
			return fmt.Errorf("index %s: %w; wait for it to end, or give another --index", x.dir, ErrLocked)
		}
	}
}

// checkKind refuses to use an index with a table as one without, or the reverse:
// each would forget what the other knows.
func (p *presence) checkKind(dir string, filterOnly bool) error {
	if err := p.lost(dir); err != nil {
		return err
	}
	switch {
	case filterOnly && p.table:
		return fmt.Errorf("index %s: it has a side table; run without --filter-only, or give another --index", dir)
	case !filterOnly && (p.filter || p.logs) && !p.table:
		return fmt.Errorf("index %s: it has a filter and no side table; run with --filter-only, or give another --index", dir)
	}
	return nil
}

// Checkpoint makes everything remembered so far durable in one transaction,
// together with the owner's state. An index without a table has none: see
// BeginJournal.
func (x *Index) Checkpoint(state map[string][]byte) error {
	switch {
	case x.closed:
		return errIndexClosed
	case x.Table == nil:
		return fmt.Errorf("index %s: no checkpoint without a side table", x.dir)
	}
	return x.Table.Checkpoint(state)
}

// Value returns what the owner last gave that name: nil when the run that it
// belongs to has ended in order.
func (x *Index) Value(name string) ([]byte, error) {
	switch {
	case x.closed:
		return nil, errIndexClosed
	case x.Table == nil:
		return x.state[name], nil
	}
	return x.Table.State(name)
}

// Close saves the filter, if it is not saved already, and releases the index.
// What came after the last checkpoint is forgotten: where there is such, the
// filter is not saved, and is rebuilt when the index is next opened. A second
// Close does nothing.
func (x *Index) Close(save bool) error {
	if x.closed {
		return nil
	}
	var err error
	if save && x.Filter != nil && (x.Table == nil || x.Table.Stats().UnsavedDocs == 0) {
		err = x.saveFilter(0)
	}
	return errors.Join(err, x.release())
}

// Finish saves the filter and makes the last checkpoint of a run, in this order:
// a run killed while gigabytes of filter are written is not over yet, and the
// same command finishes it. Documents that are in no checkpoint yet get one first,
// with the state as it was.
func (x *Index) Finish(state map[string][]byte) error {
	if x.closed {
		return errIndexClosed
	}
	if x.Table != nil && x.Table.Stats().UnsavedDocs > 0 {
		// The stamp tells of documents that are in the table's file.
		if err := x.Checkpoint(nil); err != nil {
			return err
		}
	}
	if err := x.saveFilter(1); err != nil {
		return err
	}
	if err := step.Done("saved the filter"); err != nil || x.Table == nil {
		return err
	}
	if err := x.Checkpoint(state); err != nil {
		return err
	}
	return step.Done("noted the end")
}

func (x *Index) release() error {
	x.closed = true
	var err error
	if x.Journal != nil {
		err = x.Journal.close()
		x.Journal = nil
	}
	err = errors.Join(err, x.closeFilter())
	if x.Table != nil {
		err = errors.Join(err, x.Table.Close())
	}
	return errors.Join(err, x.lock.Unlock())
}
