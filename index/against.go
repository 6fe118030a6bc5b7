package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
)

// Against are further indexes whose documents count as earlier than those of the one
// that is open, in their order. Nothing of them is written; while they are in use
// nobody can add to them, and several processes can use them at once.
//
// A verdict is then that of one index with all their documents. Their filters are
// loaded, and take the memory that they have as files.
type Against struct {
	scheme feature.Scheme
	name   string // of the scheme
	parts  []against
}

type against struct {
	dir    string
	table  *docmap.Table
	filter *bloomstore.Filter
}

// AgainstID identifies the documents of one of the indexes: another table, or one with
// other documents, has another.
type AgainstID struct {
	UUID      [16]byte `json:"uuid"`
	Documents uint32   `json:"documents"`
	Content   uint64   `json:"content"`        // a digest of them
	Edge      uint32   `json:"edge,omitempty"` // of a window: those of an earlier time do not count
}

// OpenAgainst opens indexes to be asked beside another. All must have side tables and
// have been made with one scheme and one secret. check is called for each, with what it
// gives its owner's values by name; its error refuses the index.
func OpenAgainst(dirs []string, check func(value func(name string) ([]byte, error)) error) (*Against, error) {
	a := &Against{}
	for _, dir := range dirs {
		if err := a.open(dir, check); err != nil {
			return nil, errors.Join(fmt.Errorf("--against %s: %w", dir, err), a.Close())
		}
	}
	return a, nil
}

func (a *Against) open(dir string, check func(func(string) ([]byte, error)) error) error {
	for i := range a.parts {
		if sameTable(a.parts[i].dir, dir) {
			return fmt.Errorf("it is the index %s, which is named already: name each once", a.parts[i].dir)
		}
	}
	files, err := openUnwritten(dir)
	if err != nil {
		return err
	}
	if files.Table == nil {
		return errors.Join(errors.New("it has no side table, so it can name no document: firstseen query asks it about documents"), files.Close())
	}
	a.parts = append(a.parts, against{dir: dir, table: files.Table})
	if err := check(files.Table.State); err != nil {
		return err
	}
	key, err := ReadKey(dir)
	if err != nil {
		return err
	}
	scheme, err := schemeNamed(files.Scheme(), key)
	if err != nil {
		return err
	}
	if len(a.parts) > 1 && files.Scheme() != a.name {
		return fmt.Errorf("its fingerprints do not compare with those of %s: %s", a.parts[0].dir, a.difference(scheme))
	}
	a.scheme, a.name = scheme, files.Scheme()
	return a.parts[len(a.parts)-1].loadFilter(files.Filter)
}

// openUnwritten is OpenFiles of an index that nobody writes. What a killed writer has left
// makes it look otherwise once: it goes when the index is closed.
func openUnwritten(dir string) (*Files, error) {
	for last := false; ; last = true {
		files, err := OpenFiles(dir)
		if err != nil || files.Table == nil || !files.Table.Beside() {
			return files, err
		}
		if err := files.Close(); err != nil {
			return nil, err
		}
		if last {
			return nil, fmt.Errorf("%w: wait for it to end", ErrLocked)
		}
	}
}

// difference says why fingerprints of another scheme do not compare.
func (a *Against) difference(other feature.Scheme) string {
	theirs, ours := a.scheme, other
	switch {
	case (theirs.Key == nil) != (ours.Key == nil):
		return "one is keyed with a secret and the other is not; make both with --no-key, or one with --against the other"
	case sameRules(theirs, ours):
		return "each has a secret of its own; make both with --no-key, or one with --against the other, which takes over its secret"
	}
	return fmt.Sprintf("they were made with the schemes %q and %q; give the same --method and version to both", a.name, other.Name())
}

// sameRules reports whether schemes differ by nothing but their secret.
func sameRules(a, b feature.Scheme) bool {
	a.Key, b.Key = nil, nil
	return a.Name() == b.Name()
}

// loadFilter loads the filter or, where none goes with the table, makes it in memory.
func (p *against) loadFilter(h *bloomstore.Header) (err error) {
	name := p.table.Scheme()
	if h != nil && string(h.Stamp) == string(tableStamp(p.table, 0)) {
		p.filter, _, err = bloomstore.Open(filepath.Join(p.dir, FilterFile), name)
		return err
	}
	shape := bloomstore.ForItems(max(p.table.Entries(), 1))
	if p.filter, err = bloomstore.New(shape, name); err != nil {
		return err
	}
	return fillFilter(context.Background(), p.filter, p.table)
}

func sameTable(a, b string) bool {
	x, errX := os.Stat(filepath.Join(a, TableFile))
	y, errY := os.Stat(filepath.Join(b, TableFile))
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// Scheme is what they all were made with, the secret included.
func (a *Against) Scheme() feature.Scheme { return a.scheme }

// Has reports whether one of them is the index in dir.
func (a *Against) Has(dir string) bool {
	return slices.ContainsFunc(a.parts, func(p against) bool { return sameTable(p.dir, dir) })
}

// IDs identify their documents, in order. Of a nil one there are none.
func (a *Against) IDs() (ids []AgainstID) {
	if a == nil {
		return nil
	}
	for i := range a.parts {
		g := a.parts[i].table.Generation()
		_, _, edge := a.parts[i].table.Window()
		ids = append(ids, AgainstID{UUID: g.UUID, Documents: a.parts[i].table.Documents(), Content: g.Content, Edge: edge})
	}
	return ids
}

// Documents is how many documents they have.
func (a *Against) Documents() (n uint64) {
	for i := range a.parts {
		n += uint64(a.parts[i].table.Documents())
	}
	return n
}

// Bytes is what their filters take of memory.
func (a *Against) Bytes() (n uint64) {
	for i := range a.parts {
		n += a.parts[i].filter.Shape().Bytes()
	}
	return n
}

// Close releases them. It may be called again, and of a nil one.
func (a *Against) Close() error {
	if a == nil {
		return nil
	}
	var errs []error
	for i := range a.parts {
		if p := &a.parts[i]; p.filter != nil {
			errs = append(errs, p.filter.Close())
		}
		errs = append(errs, a.parts[i].table.Close())
	}
	return errors.Join(errs...)
}

// UseAgainst has the documents of other indexes count as earlier, from the next Begin
// on. They remain the caller's to close, after this index.
func (x *Index) UseAgainst(a *Against) error {
	switch {
	case x.closed:
		return errIndexClosed
	case x.table == nil:
		return fmt.Errorf("index %s: without a side table it cannot be asked together with others", x.dir)
	case x.name != a.name:
		return fmt.Errorf("index %s: its fingerprints do not compare with those of %s: %s", x.dir, a.parts[0].dir, a.difference(x.scheme))
	}
	x.against = a
	return nil
}

// put has a deduper ask the indexes before the table.
func (a *Against) put(cfg *dedup.Config, table *docmap.Table) {
	var earlier []dedup.SharedStore
	for i := range a.parts {
		earlier, cfg.Earlier = append(earlier, a.parts[i].table), append(cfg.Earlier, a.parts[i].filter)
	}
	cfg.Table = dedup.NewStack(earlier, table)
}

// kept is what is known of a document by its number among all of them or, where it is
// none of theirs, its number in the index's own table.
func (a *Against) kept(num uint32) (k Kept, own uint32, err error) {
	for i := range a.parts {
		n := a.parts[i].table.Documents()
		if num <= n {
			k, err = keptIn(a.parts[i].table, num)
			return k, 0, err
		}
		num -= n
	}
	return k, num, nil
}

// Owns reports whether a document, by the number that a result has, is one of this
// index and not of another that it is used with.
func (x *Index) Owns(num uint32) bool { return uint64(num) > x.before() }

// before is how many documents the indexes have that this one is used with: in results
// they have the numbers before those of its own.
func (x *Index) before() uint64 {
	if x.against == nil {
		return 0
	}
	return x.against.Documents()
}
