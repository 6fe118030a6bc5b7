// Package index is an index on disk and what is done with one: the side table, the
// filter derived from it, its lock, its secret and, without a table, the journals of
// the filter. An [Index] is open for adding, by one process at a time:
//
//	x, err := index.Open("seen", index.Options{})
//	r, err := x.See("id", text) // and so on
//	err = x.Finish(nil)
//	err = x.Close()
//
// Under a [Policy] it grows the filter, stops or warns when that is full, and takes
// checkpoints when enough has come. What was decided becomes durable only after it
// was answered. [OpenReader] asks an index without writing, [Check] reads all of it.
package index

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/step"
)

// ErrLocked is returned by Open when another process has the index open.
var ErrLocked = errors.New("another process is using this index")

var errIndexClosed = errors.New("the index is closed")

// Options say how to open an index.
type Options struct {
	// Scheme makes the fingerprints. Where it has no key, Open gives it
	// that of the index; see [Index.Scheme].
	Scheme feature.Scheme
	// Key says whether a new index draws a secret for its fingerprints, which
	// it stores in KeyFile, and whether one with or without is refused. It does
	// unless told otherwise: without, a chosen text can have another removed.
	Key KeyPolicy
	// Secret is what a new index that gets one takes in place of one that is drawn.
	Secret []byte
	// Shape is the filter's size; zero means as it is, or for DefaultDocs
	// when there is none yet. Beside a table a larger one than the stored
	// filter's has it rebuilt; a smaller one changes nothing, as the filter
	// may have grown to hold what is there.
	Shape bloomstore.Shape
	// FilterOnly: no side table.
	FilterOnly bool
	// Temporary: the index is of no use after Close. Nothing is saved at the end, and
	// nothing is synced.
	Temporary bool
	// MemtableKeys is how many keys the table holds in memory before it
	// writes a run; 0 is its default. Tests make it small.
	MemtableKeys int
	// JournalBytes is how long the journals of a filter without a table become
	// before it is saved anew; 0 is a quarter of its bytes, and at least 8 MiB.
	// Tests make it small.
	JournalBytes int64
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
	dir     string
	scheme  feature.Scheme
	name    string // of the scheme
	lock    *flock.Flock
	table   *docmap.Table      // nil in an index without one
	filter  *bloomstore.Filter // nil after Close
	saved   []byte             // stamp of the filter file as it is on disk
	rebuilt string             // why the filter was, when the index was opened
	closed  bool
	temp    bool // Options.Temporary

	against     *Against // whose documents count as earlier; nil for none
	startedGone bool     // startedFile is not there

	session // what is done while it is open

	// Of an index without a table, see alone.go and journal.go.

	uuid    [16]byte
	at      mark              // of the filter file
	chain   []chained         // journals that go with it
	left    *Left             // of the last run, where that has not ended in order
	journal *journal          // nil but while a stream is added
	state   map[string][]byte // the owner's, of the run that is under way or was
	values  map[string][]byte // the owner's that go with the filter, whatever run is under way
	bound   int64             // Options.JournalBytes
}

// Open opens the index in dir, or creates one. Until it has its table, or
// without one its filter, a directory is no index: a process killed while it
// creates one leaves what the next one begins with.
func Open(dir string, o Options) (_ *Index, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("making the index: %w", err)
	}
	if err := step.Done("made the directory"); err != nil {
		return nil, err
	}
	x := newLocked(dir)
	x.scheme, x.uuid, x.bound, x.temp = o.Scheme, o.UUID, o.JournalBytes, o.Temporary
	if err := x.takeLock(); err != nil {
		return nil, err
	}
	if err := x.open(&o); err != nil {
		return nil, errors.Join(x.otherRules(err), x.release())
	}
	return x, nil
}

// newLocked is an index of which there is a lock to be taken.
func newLocked(dir string) *Index {
	return &Index{dir: dir, lock: flock.New(filepath.Join(dir, lockFile))}
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
	if err := x.findKey(&p, o); err != nil {
		return err
	}
	if err := x.keepTerms(&p); err != nil {
		return err
	}
	x.name = x.scheme.Name()
	if !o.FilterOnly {
		x.table, err = docmap.Open(x.path(TableFile), docmap.Options{
			Scheme: x.name, MemtableKeys: o.MemtableKeys, UUID: o.UUID, Temporary: o.Temporary,
		})
		if err != nil {
			return err
		}
	}
	if err := p.emptied(x.dir, x.table); err != nil {
		return err
	}
	return x.openFilter(&p, o.Shape)
}

// findKey completes the scheme by the key of the index, or by a fresh one where a
// new index is to have one.
func (x *Index) findKey(p *presence, o *Options) (err error) {
	policy := o.Key
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
		x.scheme.Key, err = makeKey(x.dir, o.Secret)
		return err
	case policy == KeyRequired:
		return fmt.Errorf("index %s: %w", x.dir, ErrUnkeyed)
	}
	return nil
}

// Scheme is what the index makes its fingerprints with, its key included.
func (x *Index) Scheme() feature.Scheme { return x.scheme }

// Table is the side table, to be looked at: what is added to it here the filter does
// not know. It is nil in an index without one.
func (x *Index) Table() *docmap.Table { return x.table }

// Filter is the filter, to be looked at. Grow closes it and has another; after Close
// it is nil.
func (x *Index) Filter() *bloomstore.Filter { return x.filter }

// Rebuilt tells why the filter was rebuilt when the index was opened, or is empty.
func (x *Index) Rebuilt() string { return x.rebuilt }

// Left tells what the last run over a stream has left that has not ended in order;
// nil where it has, and in an index with a table.
func (x *Index) Left() *Left { return x.left }

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
			return x.signLock()
		case time.Now().After(end):
			return fmt.Errorf("index %s: %w%s; wait for it to end, or give another --index", x.dir, ErrLocked, x.owner())
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

// Value returns what the owner last gave that name: nil when the run that it
// belongs to has ended in order.
func (x *Index) Value(name string) ([]byte, error) {
	switch {
	case x.closed:
		return nil, errIndexClosed
	case x.table != nil:
		return x.table.State(name)
	}
	if v, ok := x.state[name]; ok {
		return v, nil
	}
	return x.values[name], nil
}

// Save saves the filter, as Finish does, of a run that has not ended: or it is rebuilt
// when the index is next opened. It does nothing where something came after the last
// checkpoint, and after Close.
func (x *Index) Save() error {
	if x.closed || x.temp || x.table != nil && x.table.Unsaved() > 0 {
		return nil
	}
	if err := x.forgetStarted(); err != nil {
		return err
	}
	return x.saveFilter(0)
}

// Close releases the index. What came after the last checkpoint, or without a table after
// the last Finish or Save, is forgotten. A second Close does nothing.
func (x *Index) Close() error {
	if x.closed {
		return nil
	}
	return x.release()
}

// Finish saves the filter and makes the last checkpoint of a run, in this order:
// a run killed while gigabytes of filter are written is not over yet, and the
// same command finishes it. Documents that are in no checkpoint yet get one first,
// with the state as it was.
func (x *Index) Finish(state map[string][]byte) error {
	switch {
	case x.closed:
		return errIndexClosed
	case x.temp:
		return nil
	}
	if err := x.forgetStarted(); err != nil {
		return err
	}
	if x.table != nil && x.table.Unsaved() > 0 {
		// The stamp tells of documents that are in the table's file.
		if err := x.table.Checkpoint(nil); err != nil {
			return err
		}
	}
	if x.table == nil {
		x.setValues(state)
	}
	if err := x.saveFilter(1); err != nil {
		return err
	}
	if err := step.Done("saved the filter"); err != nil || x.table == nil {
		return err
	}
	if err := x.table.Checkpoint(state); err != nil {
		return err
	}
	return step.Done("noted the end")
}

func (x *Index) release() error {
	x.closed = true
	var err error
	if x.journal != nil {
		err = x.journal.close()
		x.journal = nil
	}
	err = errors.Join(err, x.closeFilter())
	if x.table != nil {
		err = errors.Join(err, x.table.Close())
	}
	return errors.Join(err, x.lock.Unlock())
}
