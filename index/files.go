package index

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index/filterlog"
	"github.com/firstseen/firstseen/internal/base/owners"
)

// The files of an index.
const (
	TableFile  = "table.db"
	FilterFile = filterlog.FilterFile
	// KeyFile holds the secret of the fingerprints: 32 hexadecimal digits. An index without it is not
	// keyed.
	KeyFile = "key"
	// TermsFile holds the table of terms of an index whose method weighs terms.
	TermsFile = "terms"
	lockFile  = "lock"
)

// presence records the files of an index that exist.
type presence struct {
	table, filter bool
	logs          bool              // journals of a filter without a table
	header        bloomstore.Header // of the filter
	served        uint64            // generation of the first journal of a server, 0 for none
}

// look finds the files of an index, and reads the header of the filter.
func look(dir string) (p presence, err error) {
	if p.table, err = exists(filepath.Join(dir, TableFile)); err != nil {
		return p, err
	}
	logs, err := filterlog.Logs(dir)
	if err != nil {
		return p, err
	}
	p.logs = len(logs) > 0
	served, err := owners.Journals(dir)
	if err != nil {
		return p, err
	}
	if len(served) > 0 {
		p.served = served[0]
	}
	path := filepath.Join(dir, FilterFile)
	if p.filter, err = exists(path); err != nil || !p.filter {
		return p, err
	}
	p.header, err = bloomstore.ReadHeader(path)
	return p, err
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// none reports whether there is no index. An interrupted creation may leave a lock, a key, or a
// table under its temporary name.
func (p *presence) none() bool { return !p.table && !p.filter && !p.logs }

func noIndex(dir string) error {
	return fmt.Errorf("there is no index in %s: neither a side table nor a filter", dir)
}

// lookAtIndex is look with an error for no index or a lost table.
func lookAtIndex(dir string) (presence, error) {
	p, err := look(dir)
	switch {
	case err != nil:
		return p, err
	case p.none():
		return p, noIndex(dir)
	}
	return p, p.lost(dir)
}

// lost refuses a filter whose table is gone: it can name no documents, and a new table has none.
func (p *presence) lost(dir string) error {
	if p.filter && !p.table && filterlog.SavedWithTable(p.header.Stamp) {
		return fmt.Errorf("index %s: %s is gone, and %s was saved beside it; put the table back from a copy, or give another --index",
			dir, TableFile, FilterFile)
	}
	return nil
}

// emptied reports whether the table is empty beside a filter with keys, or of another table. A filter
// is saved after the table has the documents, so the table is another.
func (p *presence) emptied(t *docmap.Table) bool {
	return t != nil && p.filter && t.Documents() == 0 && (p.header.Ones > 0 || !savedFor(t, p.header.Stamp))
}

const (
	whatEmptied   = "holds no documents, and " + FilterFile + " is of a table with some"
	remedyEmptied = "put it back from a copy, or delete both files to start empty"
)

// refuseEmptied returns the error for an emptied table.
func (p *presence) refuseEmptied(dir string, t *docmap.Table) error {
	if !p.emptied(t) {
		return nil
	}
	return fmt.Errorf("index %s: %s %s; %s", dir, TableFile, whatEmptied, remedyEmptied)
}

// Files are the files of an index, open for inspection by one goroutine at a time. This needs no key
// and writes nothing.
type Files struct {
	// Table is nil in an index without a side table.
	Table *docmap.Table
	// Filter is the header of the filter file, nil if none was saved.
	Filter *bloomstore.Header
	// Journals reports that a run over a pipe, without a table, is in progress or was killed.
	Journals bool
	// SchemeName is the name of the index's scheme.
	SchemeName string
	// Loaded is the filter, nil if it is not loaded.
	Loaded *bloomstore.Filter

	dir    string
	closed bool
}

// OpenFiles opens the index in dir for reading. Several processes can, while no run is in progress.
func OpenFiles(dir string) (*Files, error) {
	p, err := look(dir)
	if err == nil {
		err = p.unserved(dir)
	}
	if err != nil {
		return nil, err
	}
	f, err := openFiles(dir)
	if err != nil || f.Table == nil {
		return f, err
	}
	if err := complete(dir, f.Table.State); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// openFiles is OpenFiles, but accepts an index with the journals of a server, or without those it
// needs.
func openFiles(dir string) (*Files, error) {
	p, err := lookAtIndex(dir)
	if err != nil {
		return nil, err
	}
	f := &Files{dir: dir}
	if p.filter {
		f.Filter = &p.header
	}
	if !p.table {
		a, err := filterlog.Find(dir)
		f.SchemeName, f.Journals = a.Header.Scheme, len(a.Journals()) > 0
		return f, err
	}
	if f.Table, err = openTable(dir); err != nil {
		return nil, err
	}
	f.SchemeName = f.Table.Scheme()
	if err := p.refuseEmptied(dir, f.Table); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func openTable(dir string) (*docmap.Table, error) {
	t, err := docmap.Open(filepath.Join(dir, TableFile), docmap.Options{ReadOnly: true})
	if errors.Is(err, docmap.ErrLocked) {
		err = fmt.Errorf("index %s: %w%s: wait for it to end (firstseen serve answers while it writes), or use another index", dir, docmap.ErrLocked, owner(dir))
	}
	return t, err
}

// Close closes the table and frees the filter. It may be called again.
func (f *Files) Close() (err error) {
	f.closed = true
	if f.Loaded != nil {
		err = f.Loaded.Close()
	}
	if f.Table != nil {
		err = errors.Join(err, f.Table.Close())
	}
	return err
}

// filterIsPresent reports whether load can make the filter of the table's current state.
func (f *Files) filterIsPresent() (bool, error) {
	if f.Filter == nil {
		return false, nil
	}
	return follows(f.Table, f.Filter.Stamp, nil)
}

// load reads the filter, with the keys of its journals.
func (f *Files) load(ctx context.Context) (err error) {
	if f.Table == nil {
		f.Loaded, err = filterlog.Load(ctx, f.dir, f.SchemeName)
	} else {
		f.Loaded, err = loadFilter(ctx, filepath.Join(f.dir, FilterFile), f.SchemeName, f.Table)
	}
	return err
}

// Export writes the filter of the index in dir, with the keys of its journals, in the format of
// WriteTo of github.com/bits-and-blooms/bloom/v3. Each key was added as its 8 little-endian bytes.
// Export returns the name of their scheme. A filter with a table must match its current state. The
// end of ctx stops the loading of the filter.
func Export(ctx context.Context, dir string, w io.Writer) (scheme string, err error) {
	files, err := OpenFiles(dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	present := true
	if files.Table != nil {
		present, err = files.filterIsPresent()
	}
	switch {
	case err != nil:
		return "", err
	case !present:
		return "", fmt.Errorf("index %s: its filter does not match the current state of the table; rebuild it with firstseen index check --rebuild", dir)
	}
	if err := files.load(ctx); err != nil {
		return "", err
	}
	return files.SchemeName, files.Loaded.Export(w)
}

// Made holds the properties set when an index was created.
type Made struct {
	Scheme     feature.Scheme // without its key
	FilterOnly bool
	Window     uint32 // seconds, 0 for an index without a window
	HalfMade   bool   // a kill interrupted its creation, and it may lack the window and the filter's size
}

// Exists reports whether dir holds an index, sound or not.
func Exists(dir string) bool {
	p, err := look(dir)
	return err == nil && !p.none()
}

// ReadMade returns the properties of the index in dir. They are nil if there is no index yet or if
// another version of the rules made it: Open then returns the reason.
func ReadMade(dir string) (_ *Made, err error) {
	if !Exists(dir) {
		return nil, nil
	}
	files, err := openFiles(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	m := &Made{FilterOnly: files.Table == nil}
	if files.Table != nil {
		m.Window, _, _ = files.Table.Window()
		m.HalfMade = files.Table.Generation().Sequence == 0
	}
	key, err := ReadKey(dir)
	if err != nil {
		return nil, err
	}
	if m.Scheme, err = schemeIn(dir, files.SchemeName, key); err != nil {
		return nil, nil // Open returns the reason
	}
	m.Scheme.Key = nil
	return m, nil
}

// A Reader is an index opened for queries by one goroutine at a time. It changes nothing. Several
// processes can have one open, but not while a run writes the index. With a table it loads no filter: a look-up takes
// microseconds, and loading seconds.
type Reader struct {
	*Files
	Scheme feature.Scheme
}

// OpenReader opens the index in dir. key is the secret of its fingerprints, nil for none. The end of
// ctx stops the loading of a filter, and later nothing.
func OpenReader(ctx context.Context, dir string, key []byte) (*Reader, error) {
	files, err := OpenFiles(dir)
	if err != nil {
		return nil, err
	}
	r := &Reader{Files: files}
	if r.Scheme, err = schemeIn(dir, files.SchemeName, key); err != nil {
		return nil, errors.Join(fmt.Errorf("index %s: %w", dir, err), r.Close())
	}
	if r.Table == nil {
		err = r.load(ctx)
	}
	return r, err
}

// Kept is a kept document, as the side table stores it.
type Kept struct {
	Number uint32
	ID     string
	dedup.Record
}

// ByID returns the kept documents of an id in order of arrival, at most the first 1024.
func (r *Reader) ByID(id string) ([]Kept, error) {
	switch {
	case r.closed:
		return nil, errIndexClosed
	case r.Table == nil:
		return nil, errors.New("an index without a side table stores no ids")
	}
	nums, err := r.Table.ByID(id)
	if err != nil {
		return nil, err
	}
	found := make([]Kept, len(nums))
	for i, num := range nums {
		if found[i], err = keptIn(r.Table, num); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func keptIn(table *docmap.Table, num uint32) (Kept, error) {
	doc, err := table.Doc(num)
	if err != nil {
		return Kept{}, err
	}
	kept := Kept{Number: num, ID: doc.ID}
	if err := kept.Parse(doc.Data); err != nil {
		return Kept{}, fmt.Errorf("document %d: %w", num, err)
	}
	return kept, nil
}

// Deduper returns a deduper whose Check queries the index. Its Decide and See fail, or their
// documents are lost at Close, because the index is not written.
func (r *Reader) Deduper(rules dedup.Rules) (*dedup.Deduper, error) {
	if r.closed {
		return nil, errIndexClosed
	}
	return dedup.New(dedup.Config{Scheme: r.Scheme, Rules: rules, Filter: r.Loaded, Table: r.Table})
}
