package index

import (
	"errors"
	"fmt"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
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

	closed bool
}

// OpenReader opens the index in dir. key is the secret of its fingerprints, nil
// where it has none.
func OpenReader(dir string, key []byte) (*Reader, error) {
	files, err := OpenFiles(dir)
	if err != nil {
		return nil, err
	}
	r := &Reader{Table: files.Table}
	r.Scheme, err = schemeNamed(files.Scheme(), key)
	if err == nil && r.Table == nil {
		r.Filter, err = openAlone(dir, files.Scheme())
	} else if err != nil {
		err = fmt.Errorf("index %s: %w", dir, err)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
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
	switch {
	case s.Validate() == nil && s.Name() == name:
		return s, nil
	case key == nil:
		return s, fmt.Errorf("it was made with the scheme %q, which is not one of this program without a key; put its file %s back if it had one, or use the version it was made with", name, KeyFile)
	}
	return s, fmt.Errorf("it was made with the scheme %q, which is not one of this program with this index's key; put its own file %s back, or use the version it was made with", name, KeyFile)
}

// Deduper returns a deduper over the index, whose Check asks it. Decide and See
// fail, or forget at Close what they kept: the index is not written.
func (r *Reader) Deduper(rules dedup.Rules) (*dedup.Deduper, error) {
	if r.closed {
		return nil, errIndexClosed
	}
	cfg := dedup.Config{Scheme: r.Scheme, Rules: rules, Filter: r.Filter}
	if r.Table != nil {
		cfg.Table = r.Table
	}
	return dedup.New(cfg)
}

// Close releases the index. It may be called again.
func (r *Reader) Close() error {
	r.closed = true
	var errs []error
	if r.Table != nil {
		errs = append(errs, r.Table.Close())
	}
	if r.Filter != nil {
		errs = append(errs, r.Filter.Close())
	}
	return errors.Join(errs...)
}
