// Package index implements an index on disk. An index has a side table, a filter derived from the
// table, a lock and a secret. A filter-only index has journals instead of a table. One process at a
// time can open an [Index] and add to it:
//
//	x, err := index.Open(ctx, "seen", index.Options{})
//	r, err := x.See("id", text) // and so on
//	err = x.Finish(nil)
//	err = x.Close()
//
// A [Policy] sets the reaction to a full filter and the interval of checkpoints. A decision becomes
// durable only after its answer. [OpenReader] opens an index for queries, and [Check] verifies one.
package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index/filterlog"
	"github.com/firstseen/firstseen/internal/base/step"
)

var errIndexClosed = errors.New("the index is closed")

// Options configure Open.
type Options struct {
	// Scheme makes the fingerprints. If it has no key, Open adds the index's; see [Index.Scheme].
	Scheme feature.Scheme
	// Key selects whether a new index gets a secret, stored in KeyFile, and which indexes Open
	// refuses. By default it does: without a secret, a text can be crafted that removes another.
	Key KeyPolicy
	// Secret, if set, is the secret of a new index. Nil draws one.
	Secret []byte
	// Shape is the filter's size. Zero keeps the size, and sizes a new filter for DefaultDocs. With
	// a table, a larger size rebuilds the filter. A smaller one is ignored, since filters grow.
	Shape bloomstore.Shape
	// FilterOnly omits the side table.
	FilterOnly bool
	// Temporary marks an index of no use after Close. Nothing is saved at the end, or synced.
	Temporary bool
	// MemtableKeys is the number of keys in memory at which the table writes a run; 0 means the
	// table's default. Tests make it small.
	MemtableKeys int
	// JournalBytes is the length of the journals at which the filter is saved. 0 means a quarter of
	// the filter, and at least 8 MiB. Tests make it small.
	JournalBytes int64
	// Serve also opens an index with journals of a server, for a caller that reads them; see
	// [ErrServed]. Checkpoints are then small, and leave work to [Index.Step].
	Serve bool
	// Follow also opens an index that follows a log, for its follower; see [ErrFollowed].
	// Checkpoints are as with Serve.
	Follow bool
	// UUID identifies a new table; zero draws one at random. Only with the same UUID do the same
	// documents give the same bytes of a filter.
	UUID [16]byte
}

// An Index is an open index, for one goroutine at a time. One process at a time can have it open.
// After Close its methods return errors.
//
// The filter file carries the table's documents as a stamp. A run that ends writes it, unless all
// newer keys are pending: Open adds these. After a crash with newer keys in runs, the filter is
// rebuilt from the table. Bits of lost documents would make these look like duplicates later.
type Index struct {
	dir     string
	scheme  feature.Scheme
	name    string // of the scheme
	lock    *flock.Flock
	table   *docmap.Table      // nil in an index without one
	filter  *bloomstore.Filter // nil after Close
	saved   []byte             // stamp of the filter file on disk
	rebuilt string             // the reason why Open rebuilt the filter
	closed  bool
	temp    bool            // Options.Temporary
	ctx     context.Context // of Open

	against     *Against // indexes with earlier documents; nil for none
	before      uint64   // their documents, counting or not; results number them first
	startedGone bool     // startedFile is absent

	session // the documents being added

	only *filterlog.Store // filter and journals of an index without a table; else nil
}

// Open opens the index in dir, or creates one. A directory becomes an index when its table or, if
// filter-only, its filter appears. The next Open continues a creation that was killed before that.
//
// The end of ctx stops reading, rebuilding and, without Serve and Follow, later growing the filter.
// The error is that of ctx, and the files are as before. After it, a full filter does not grow.
func Open(ctx context.Context, dir string, o Options) (_ *Index, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("making the index: %w", err)
	}
	if err := step.Done("made the directory"); err != nil {
		return nil, err
	}
	x := newLocked(dir)
	x.scheme, x.temp, x.ctx = o.Scheme, o.Temporary, ctx
	// The lock's owner removes the address of a killed server. Only a folder with a table has one.
	address, _ := exists(x.path(addressFile))
	table, err := exists(x.path(TableFile))
	if err == nil && address && !table {
		return nil, fmt.Errorf("index %s: the folder has a file %q and no index: give the index a folder of its own", dir, addressFile)
	}
	if err := x.takeLock(); err != nil {
		return nil, err
	}
	if err := x.open(&o); err != nil {
		return nil, errors.Join(x.otherRules(err), x.release())
	}
	if o.Serve || o.Follow { // a server still decides what it was given
		x.ctx = context.WithoutCancel(ctx)
	}
	return x, nil
}

// newLocked returns an index with only a lock, not taken yet.
func newLocked(dir string) *Index {
	return &Index{dir: dir, lock: flock.New(filepath.Join(dir, lockFile))}
}

// open opens or creates the files. Its errors name the file or the index.
func (x *Index) open(o *Options) error {
	err := step.Done("locked the index")
	if err != nil {
		return err
	}
	p, err := look(x.dir)
	if err == nil && !o.Serve {
		err = p.unserved(x.dir)
	}
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
		if x.table, err = docmap.Open(x.path(TableFile), o.table(x.name)); err != nil {
			return err
		}
	}
	if err := p.refuseEmptied(x.dir, x.table); err != nil {
		return err
	}
	if !o.Follow {
		if err := x.unfollowed(); err != nil {
			return err
		}
	}
	if !o.Serve {
		if err := complete(x.dir, x.Value); err != nil {
			return err
		}
	}
	return x.openFilter(&p, o)
}

// findKey adds the index's key to the scheme. A new index gets one if Options.Key asks for it.
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

// Scheme returns the scheme of the index's fingerprints, with the key.
func (x *Index) Scheme() feature.Scheme { return x.scheme }

// Table returns the side table, for reading only: the filter would miss new documents. It is nil in
// a filter-only index.
func (x *Index) Table() *docmap.Table { return x.table }

// Filter returns the filter, for reading. Grow closes it and makes another. It is nil after Close.
func (x *Index) Filter() *bloomstore.Filter { return x.filter }

// Rebuilt returns the reason why Open rebuilt the filter; "" if it did not.
func (x *Index) Rebuilt() string { return x.rebuilt }

// Left describes an unclean end of the last run over a stream, if any. With a table it is nil.
func (x *Index) Left() *filterlog.Left {
	if x.only == nil {
		return nil
	}
	return x.only.Left
}

func (x *Index) path(name string) string { return filepath.Join(x.dir, name) }

// takeLock takes the lock. It waits a second: a stopped process may still be closing the index.
func (x *Index) takeLock() error {
	const patience = time.Second
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		ok, err := x.lock.TryLock()
		switch {
		case err != nil:
			return fmt.Errorf("locking the index: %w", err)
		case ok:
			return errors.Join(x.Announce(""), x.signLock()) // a killed server left its address
		case time.Now().After(end):
			return fmt.Errorf("index %s: %w%s; wait for it to end, or give another --index", x.dir, ErrLocked, owner(x.dir))
		}
	}
}

// checkKind refuses to use an index with a table as filter-only, or the reverse: each kind would
// miss documents of the other.
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

// Value returns the owner's last value of that name. It is nil after a clean end of its run.
func (x *Index) Value(name string) ([]byte, error) {
	switch {
	case x.closed:
		return nil, errIndexClosed
	case x.table != nil:
		return x.table.State(name)
	case x.only == nil: // during Open
		return nil, nil
	}
	return x.only.Value(name), nil
}

// Save saves the filter of an unfinished run, so that the next Open need not rebuild it. It does
// nothing after Close, or if there are documents without a checkpoint.
func (x *Index) Save() error {
	if x.closed || x.temp || x.table != nil && x.table.Unsaved() > 0 {
		return nil
	}
	if err := x.forgetStarted(); err != nil {
		return err
	}
	return x.saveFilter()
}

// Close releases the index. Documents after the last checkpoint are lost; in a filter-only index,
// those after the last Finish or Save. A second Close does nothing.
func (x *Index) Close() error {
	if x.closed {
		return nil
	}
	return x.release()
}

// Finish saves the filter and then takes the last checkpoint of a run. So a run killed while the
// filter is written is unfinished, and the same command finishes it. Unsaved documents get a
// checkpoint first, with the old state.
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
		// The filter's stamp names a state of the table's file.
		if err := x.table.Checkpoint(nil); err != nil {
			return err
		}
	}
	if x.table == nil {
		x.only.SetValues(state)
	}
	if err := x.saveFilter(); err != nil {
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
	err := errors.Join(x.only.EndJournal(), x.closeFilter())
	if x.table != nil {
		err = errors.Join(err, x.table.Close())
	}
	return errors.Join(err, x.lock.Unlock())
}

// signLock writes this process's id to the lock file, valid while the file is locked. On Windows
// only the handle with the lock can write a locked file.
func (x *Index) signLock() error {
	err := os.WriteFile(x.path(lockFile), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o666)
	if err != nil && runtime.GOOS != "windows" {
		return fmt.Errorf("locking the index: %w", err)
	}
	return nil
}

// owner names the process that holds the lock of an index; "" if the file has no process id.
func owner(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, lockFile))
	pid, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || bad != nil || pid <= 0 {
		return ""
	}
	return fmt.Sprintf(" (process %d)", pid)
}
