package dedup

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
)

// Reader is an index opened for questions: nothing is written, and several
// processes can have one open as long as no run is under way.
type Reader struct {
	// Scheme is the one the index was made with.
	Scheme feature.Scheme
	// Table is nil in an index without a side table.
	Table *docmap.Table
	// Filter is nil where there is a table, which is asked for every key: a
	// look-up costs microseconds and loading a filter seconds.
	Filter *bloomstore.Filter
}

// OpenReader opens the index in dir. key is the secret of its fingerprints, nil
// where it has none.
func OpenReader(dir string, key []byte) (_ *Reader, err error) {
	r := &Reader{}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("opening index %s: %w", dir, err), r.Close())
		}
	}()
	path := filepath.Join(dir, TableFile)
	table, err := docmap.Open(path, docmap.Options{ReadOnly: true})
	if errors.Is(err, fs.ErrNotExist) {
		return r, r.openFilter(dir, key)
	}
	if err != nil {
		return nil, err
	}
	r.Table = table
	r.Scheme, err = schemeNamed(table.Scheme(), key)
	return r, err
}

func (r *Reader) openFilter(dir string, key []byte) error {
	a, err := findAlone(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !a.there && len(a.chain) == 0 {
		return errors.New("there is no index: neither a side table nor a filter")
	}
	if err != nil {
		return err
	}
	if r.Scheme, err = schemeNamed(a.header.Scheme, key); err != nil {
		return err
	}
	r.Filter, _, err = a.load(dir, a.header.Scheme)
	return err
}

// schemeNamed returns the scheme of a name. The two numbers in it are all that
// can be chosen beside the key; the rest of the name must then come out the same.
func schemeNamed(name string, key []byte) (feature.Scheme, error) {
	s := feature.Scheme{Key: key}
	for at := range name {
		if n, _ := fmt.Sscanf(name[at:], "-n%d-w%d", &s.Segments, &s.MinWidth); n == 2 {
			break
		}
	}
	if s.Validate() != nil || s.Name() != name {
		return s, fmt.Errorf("it was made with the scheme %q, which is not one of this program with this index's key; use the version it was made with", name)
	}
	return s, nil
}

// Deduper returns a deduper over the index, whose Check asks it. Decide and See
// fail, or forget at Close what they kept: the index is not written.
func (r *Reader) Deduper(rules Rules) (*Deduper, error) {
	cfg := Config{Scheme: r.Scheme, Rules: rules, Filter: r.Filter}
	if r.Table != nil {
		cfg.Table = r.Table
	}
	return New(cfg)
}

// Close releases the index. It may be called again.
func (r *Reader) Close() error {
	var errs []error
	if r.Table != nil {
		errs = append(errs, r.Table.Close())
	}
	if r.Filter != nil {
		errs = append(errs, r.Filter.Close())
	}
	return errors.Join(errs...)
}
