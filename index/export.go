package index

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/index/filterlog"
)

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
	scheme = files.Scheme()
	f, err := files.load(dir)
	if err != nil {
		return "", err
	}
	return scheme, errors.Join(f.Export(w), f.Close())
}

// load reads the filter of the files.
func (f *Files) load(dir string) (*bloomstore.Filter, error) {
	switch {
	case f.Table == nil:
		return filterlog.Load(dir, f.Scheme())
	case f.Filter == nil || string(f.Filter.Stamp) != string(tableStamp(f.Table, 0)):
		return nil, fmt.Errorf("index %s: its filter is not of the present state of the table; firstseen index check --rebuild makes it anew", dir)
	}
	filter, _, err := bloomstore.Open(filepath.Join(dir, FilterFile), f.Scheme())
	return filter, err
}
