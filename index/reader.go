package index

import (
	"errors"
	"fmt"
	"strings"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index/filterlog"
)

// Reader is an index opened for questions. It is not changed, and several processes can
// have one open. None can while a run writes the index.
type Reader struct {
	scheme feature.Scheme
	table  *docmap.Table
	// filter is nil beside a table, which is asked for every key: a
	// look-up costs microseconds and loading a filter seconds.
	filter *bloomstore.Filter
	closed bool
}

// Scheme is the one the index was made with.
func (r *Reader) Scheme() feature.Scheme { return r.scheme }

// Table is nil in an index without a side table.
func (r *Reader) Table() *docmap.Table { return r.table }

// Filter is nil beside a table.
func (r *Reader) Filter() *bloomstore.Filter { return r.filter }

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
	case r.table == nil:
		return nil, errors.New("an index without a side table stores no ids")
	}
	nums, err := r.table.ByID(id)
	if err != nil {
		return nil, err
	}
	found := make([]Kept, len(nums))
	for i, num := range nums {
		if found[i], err = keptIn(r.table, num); err != nil {
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

// OpenReader opens the index in dir. key is the secret of its fingerprints, nil
// where it has none.
func OpenReader(dir string, key []byte) (*Reader, error) {
	files, err := OpenFiles(dir)
	if err != nil {
		return nil, err
	}
	r := &Reader{table: files.Table}
	r.scheme, err = schemeIn(dir, files.Scheme(), key)
	if err == nil && r.table == nil {
		r.filter, err = filterlog.Load(dir, files.Scheme())
	} else if err != nil {
		err = fmt.Errorf("index %s: %w", dir, err)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// schemeNamed returns the scheme of a name.
func schemeNamed(name string, key []byte) (feature.Scheme, error) {
	s, ok := feature.Named(name, key)
	switch {
	case ok:
		return s, nil
	case !isOurs(name):
		return s, fmt.Errorf("it was made by the rules %s (scheme %q), which this version of firstseen does not have: build it again from the documents, under another --index; or use the version that it was made with", rulesOf(name), name)
	case key == nil && strings.Contains(name, "siphash"):
		return s, fmt.Errorf("the key is missing: it was made with one (scheme %q); put its file %s back, without which nothing can be compared with it", name, KeyFile)
	case key == nil:
		return s, fmt.Errorf("it was made with the scheme %q, which is not one of this program; use the version it was made with", name)
	}
	return s, fmt.Errorf("it was made with the scheme %q, which is not one of this program with this index's key; put its own file %s back, or use the version it was made with", name, KeyFile)
}

// Deduper returns a deduper over the index, whose Check asks it. Decide and See
// fail, or forget at Close what they kept: the index is not written.
func (r *Reader) Deduper(rules dedup.Rules) (*dedup.Deduper, error) {
	if r.closed {
		return nil, errIndexClosed
	}
	return dedup.New(dedup.Config{Scheme: r.scheme, Rules: rules, Filter: r.filter, Table: r.table})
}

// Close releases the index. It may be called again.
func (r *Reader) Close() error {
	r.closed = true
	var errs []error
	if r.table != nil {
		errs = append(errs, r.table.Close())
	}
	if r.filter != nil {
		errs = append(errs, r.filter.Close())
	}
	return errors.Join(errs...)
}
