package index

import (
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
)

// The files of an index. It also has a lock and, if it is keyed, KeyFile.
const (
	TableFile  = "table.db"
	FilterFile = filterlog.FilterFile
	lockFile   = "lock"
)

// presence is which files of an index are there.
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
	served, err := ServedLogs(dir)
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

// none says that there is no index. The rest of an interrupted creation, a lock, a
// key or a table that has not got its name yet, is none.
func (p *presence) none() bool { return !p.table && !p.filter && !p.logs }

func noIndex(dir string) error {
	return fmt.Errorf("there is no index in %s: neither a side table nor a filter", dir)
}

// lookAtIndex is look, with an error if dir has no index.
func lookAtIndex(dir string) (presence, error) {
	p, err := look(dir)
	switch {
	case err != nil:
		return p, err
	case p.none():
		return p, noIndex(dir)
	}
	return p, errors.Join(p.lost(dir), p.unserved(dir))
}

// lost refuses a filter whose table is gone. Used alone, it could not name its documents, and a new
// table would have none of them.
func (p *presence) lost(dir string) error {
	if p.filter && !p.table && filterlog.SavedWithTable(p.header.Stamp) {
		return fmt.Errorf("index %s: %s is gone, and %s was saved beside it; put the table back from a copy, or give another --index",
			dir, TableFile, FilterFile)
	}
	return nil
}

// emptied refuses a table that holds nothing beside a filter that holds keys. A
// filter is saved after the documents are in the table, so the table is another.
func (p *presence) emptied(dir string, t *docmap.Table) error {
	if t == nil || !p.filter || p.header.Ones == 0 || t.Documents() > 0 {
		return nil
	}
	return fmt.Errorf("index %s: %s holds no documents and %s holds the keys of some; put the table back from a copy, or delete both to have nothing remembered",
		dir, TableFile, FilterFile)
}

// Files are the files of an index, opened to be looked at: its key is not needed,
// and nothing is written.
type Files struct {
	// Table is nil in an index without a side table.
	Table *docmap.Table
	// Filter is the header of the filter file, nil if none was saved.
	Filter *bloomstore.Header
	// Journals says that a run over a pipe, without a table, is under way or
	// was killed.
	Journals bool
	// SchemeName is the name of the scheme the index was made with.
	SchemeName string
	// Loaded is the filter, nil if it is not loaded.
	Loaded *bloomstore.Filter

	dir    string
	closed bool
}

// OpenFiles opens the index in dir for reading. Several processes can, as long as
// no run is under way.
func OpenFiles(dir string) (*Files, error) {
	f, err := openFiles(dir)
	if err != nil || f.Table == nil {
		return f, err
	}
	if err := complete(dir, f.Table.State); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// openFiles is OpenFiles also for an index that lacks the journals of its server.
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
	if err := p.emptied(dir, f.Table); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// openTable opens the side table in dir for reading.
func openTable(dir string) (*docmap.Table, error) {
	t, err := docmap.Open(filepath.Join(dir, TableFile), docmap.Options{ReadOnly: true})
	if errors.Is(err, docmap.ErrLocked) {
		err = fmt.Errorf("index %s: %w%s: wait for it to end (firstseen serve answers while it writes), or use another index", dir, docmap.ErrLocked, owner(dir))
	}
	return t, err
}

// Close gives back the table and the memory of the filter. It may be called again.
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

// filterIsPresent reports whether the filter file is of the table's present state.
func (f *Files) filterIsPresent() bool {
	return f.Filter != nil && string(f.Filter.Stamp) == string(tableStamp(f.Table, 0))
}

// load reads the filter, with what its journals hold.
func (f *Files) load() (err error) {
	if f.Table == nil {
		f.Loaded, err = filterlog.Load(f.dir, f.SchemeName)
	} else {
		f.Loaded, _, err = bloomstore.Open(filepath.Join(f.dir, FilterFile), f.SchemeName)
	}
	return err
}

// Export writes the filter of the index in dir, with what its journals hold, as WriteTo
// of github.com/bits-and-blooms/bloom/v3 does, and returns the name of the scheme that
// its keys are made by: each was added as its 8 little-endian bytes. Beside a table the
// filter must be the one of its present state.
func Export(dir string, w io.Writer) (scheme string, err error) {
	files, err := OpenFiles(dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	if files.Table != nil && !files.filterIsPresent() {
		return "", fmt.Errorf("index %s: its filter is not of the present state of the table; firstseen index check --rebuild makes it anew", dir)
	}
	if err := files.load(); err != nil {
		return "", err
	}
	return files.SchemeName, files.Loaded.Export(w)
}

// Made holds the properties that an index got when it was made.
type Made struct {
	Scheme     feature.Scheme // without its key
	FilterOnly bool
	Window     uint32 // seconds, 0 for an index without a window
}

// Exists reports whether dir holds an index, sound or not.
func Exists(dir string) bool {
	p, err := look(dir)
	return err == nil && !p.none()
}

// ReadMade returns the properties of the index in dir, nil if there is no index yet or if another
// version of the rules made it. Open refuses the latter and says why.
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
	}
	key, err := ReadKey(dir)
	if err != nil {
		return nil, err
	}
	m.Scheme, err = schemeIn(dir, files.SchemeName, key)
	if err != nil || feature.MethodOf(files.SchemeName) == feature.Former {
		return nil, nil // opening it says why
	}
	m.Scheme.Key = nil
	return m, nil
}

// Reader is an index opened for questions. It is not changed, and several processes can
// have one open. None can while a run writes the index. Beside a table no filter is loaded: a look-up
// costs microseconds, and loading seconds.
type Reader struct {
	*Files
	Scheme feature.Scheme
}

// OpenReader opens the index in dir. key is the secret of its fingerprints, nil
// where it has none.
func OpenReader(dir string, key []byte) (*Reader, error) {
	files, err := OpenFiles(dir)
	if err != nil {
		return nil, err
	}
	r := &Reader{Files: files}
	if r.Scheme, err = schemeIn(dir, files.SchemeName, key); err != nil {
		return nil, errors.Join(fmt.Errorf("index %s: %w", dir, err), r.Close())
	}
	if r.Table == nil {
		err = r.load()
	}
	return r, err
}

// Kept is a kept document, as the side table stores it.
type Kept struct {
	Number uint32
	ID     string
	dedup.Record
}

// ByID returns the kept documents of an id, in the order in which they came, at most
// the first 1024.
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
	r, err := dedup.ParseRecord(doc.Data)
	if err != nil {
		return Kept{}, fmt.Errorf("document %d: %w", num, err)
	}
	return Kept{Number: num, ID: doc.ID, Record: r}, nil
}

// Deduper returns a deduper over the index, whose Check asks it. Decide and See
// fail, or forget at Close what they kept: the index is not written.
func (r *Reader) Deduper(rules dedup.Rules) (*dedup.Deduper, error) {
	if r.closed {
		return nil, errIndexClosed
	}
	return dedup.New(dedup.Config{Scheme: r.Scheme, Rules: rules, Filter: r.Loaded, Table: r.Table})
}
