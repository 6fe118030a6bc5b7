package index

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/feature"
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

// load reads the filter of what the files hold.
func (f *Files) load(dir string) (*bloomstore.Filter, error) {
	switch {
	case f.Table == nil:
		return openAlone(dir, f.Scheme())
	case f.Filter == nil || string(f.Filter.Stamp) != string(tableStamp(f.Table, 0)):
		return nil, fmt.Errorf("index %s: its filter is not of the present state of the table; firstseen index check --rebuild makes it anew", dir)
	}
	filter, _, err := bloomstore.Open(filepath.Join(dir, FilterFile), f.Scheme())
	return filter, err
}

// Import adds filters, in the form that Export writes, to the index without a table in
// dir, or makes one of them. The caller vouches that their keys were made by the
// index's scheme, which for a new one is s, with its secret if it has one; their sizes
// must be equal. KeyRefused has ErrKeyed returned where it has one, KeyRequired
// ErrUnkeyed where it has none. After an error the index is as it was.
func Import(dir string, s feature.Scheme, policy KeyPolicy, paths ...string) (_ FilterState, err error) {
	p, err := look(dir)
	if err != nil {
		return FilterState{}, err
	}
	o := Options{Scheme: s, Key: KeyAsIs, FilterOnly: true}
	o.Scheme.Key, err = ReadKey(dir)
	switch {
	case err != nil:
	case o.Scheme.Key != nil && policy == KeyRefused:
		err = fmt.Errorf("index %s: %w", dir, ErrKeyed)
	case o.Scheme.Key == nil && policy == KeyRequired:
		err = fmt.Errorf("index %s: %w", dir, ErrUnkeyed)
	}
	if err != nil {
		return FilterState{}, err
	}
	if !p.none() {
		if o.Scheme, err = schemeOf(dir); err != nil {
			return FilterState{}, err
		}
	}
	var x *Index
	defer func() {
		if x != nil {
			err = errors.Join(err, x.Close())
		}
	}()
	for _, path := range paths {
		f, err := importFile(path, o.Scheme.Name())
		if err != nil {
			return FilterState{}, err
		}
		if x == nil {
			if p.none() {
				o.Shape = f.Shape()
			}
			if x, err = Open(dir, o); err != nil {
				return FilterState{}, errors.Join(err, f.Close())
			}
		}
		if mine, its := x.filter.Shape(), f.Shape(); its != mine {
			err = fmt.Errorf("it has %d bits and the index's filter %d, and only filters of one size can be joined; "+
				"give every run that fills one the same --memory, or import it into an index of its own", its.Bits, mine.Bits)
		} else {
			err = x.filter.Merge(f)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return FilterState{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	if x == nil {
		return FilterState{}, errors.New("no filter to import")
	}
	return x.State(), x.Finish(nil)
}

// schemeOf is the scheme of the index in dir, its key included.
func schemeOf(dir string) (feature.Scheme, error) {
	key, err := ReadKey(dir)
	if err != nil {
		return feature.Scheme{}, err
	}
	files, err := OpenFiles(dir)
	if err != nil {
		return feature.Scheme{}, err
	}
	s, err := schemeNamed(files.Scheme(), key)
	if err != nil {
		err = fmt.Errorf("index %s: %w", dir, err)
	}
	return s, errors.Join(err, files.Close())
}

// importFile reads a filter, which cannot take more memory than its file has bytes.
func importFile(path, scheme string) (*bloomstore.Filter, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // only read from
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	f, err := bloomstore.Import(file, scheme, uint64(info.Size()))
	if errors.Is(err, bloomstore.ErrTooLarge) {
		return nil, fmt.Errorf("%s: it is cut off, or no exported filter: %w; export it again", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}
