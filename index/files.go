package index

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/docmap"
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
	names, err := filterlog.LogNames(dir)
	if err != nil {
		return p, err
	}
	p.logs = len(names) > 0
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

// none says that there is no index. What an interrupted creation leaves, a lock, a
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

	scheme string
}

// OpenFiles opens the index in dir for reading. Several processes can, as long as
// no run is under way.
func OpenFiles(dir string) (*Files, error) {
	p, err := lookAtIndex(dir)
	if err != nil {
		return nil, err
	}
	f := &Files{}
	if p.filter {
		f.Filter = &p.header
	}
	if !p.table {
		a, err := filterlog.Find(dir)
		f.scheme, f.Journals = a.Header.Scheme, len(a.Journals()) > 0
		return f, err
	}
	if f.Table, err = docmap.Open(filepath.Join(dir, TableFile), docmap.Options{ReadOnly: true}); err != nil {
		return nil, err
	}
	f.scheme = f.Table.Scheme()
	if err := p.emptied(dir, f.Table); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Scheme is the name of the scheme the index was made with.
func (f *Files) Scheme() string { return f.scheme }

// Close gives the table back. It may be called again.
func (f *Files) Close() error {
	if f.Table == nil {
		return nil
	}
	return f.Table.Close()
}
