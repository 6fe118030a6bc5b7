package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// Against holds other indexes, for the goroutine of the open index. Their documents count as earlier
// than those of the open index, in the order of the indexes. Several processes can read them at once, and meanwhile none can add to
// them.
//
// The verdicts are those of a single index with all documents. The filters take as much memory as
// their files.
type Against struct {
	scheme feature.Scheme
	name   string // of the scheme
	parts  []*Files
}

// AgainstID identifies the documents of an index. Another table or other documents give another ID.
type AgainstID struct {
	UUID      [16]byte `json:"uuid"`
	Documents uint32   `json:"documents"`
	Content   uint64   `json:"content"`        // digest of the documents
	Edge      uint32   `json:"edge,omitempty"` // of a window: earlier documents do not count
}

// OpenAgainst opens indexes to use beside another. All need side tables, one scheme and one secret.
// check, if not nil, receives a function that returns an owner's value by name. Its error rejects
// an index. The end of ctx stops the loading of their filters.
func OpenAgainst(ctx context.Context, dirs []string, check func(value func(name string) ([]byte, error)) error) (*Against, error) {
	a := &Against{}
	for _, dir := range dirs {
		if err := a.open(ctx, dir, check); err != nil {
			return nil, errors.Join(fmt.Errorf("--against %s: %w", dir, err), a.Close())
		}
	}
	return a, nil
}

func (a *Against) open(ctx context.Context, dir string, check func(func(string) ([]byte, error)) error) error {
	for _, p := range a.parts {
		if sameTable(p.dir, dir) {
			return fmt.Errorf("it is the index %s, which is named already: name each once", p.dir)
		}
	}
	files, err := OpenFiles(dir)
	if err != nil {
		return err
	}
	if files.Table == nil {
		return errors.Join(errors.New("it has no side table, so it cannot name documents: ask it with firstseen query"), files.Close())
	}
	a.parts = append(a.parts, files)
	if check != nil {
		if err := check(files.Table.State); err != nil {
			return err
		}
	}
	key, err := ReadKey(dir)
	if err != nil {
		return err
	}
	scheme, err := schemeIn(dir, files.SchemeName, key)
	if err != nil {
		return err
	}
	if len(a.parts) > 1 && files.SchemeName != a.name {
		return fmt.Errorf("its fingerprints cannot be compared with those of %s: %s", a.parts[0].dir, a.difference(scheme))
	}
	a.scheme, a.name = scheme, files.SchemeName
	if present, err := files.filterIsPresent(); present || err != nil {
		return cmp.Or(err, files.load(ctx))
	}
	files.Loaded, err = filterOf(ctx, bloomstore.ForItems(max(files.Table.Entries(), 1)), files.Table, false)
	return err
}

// difference returns the reason why fingerprints of another scheme do not compare.
func (a *Against) difference(other feature.Scheme) string {
	theirs, ours := a.scheme, other
	if (theirs.Key == nil) != (ours.Key == nil) {
		return "one is keyed with a secret and the other is not; make both with --no-key, or one with --against the other"
	}
	theirs.Key, ours.Key = nil, nil
	if theirs.Name() == ours.Name() {
		return "each has a secret of its own; make both with --no-key, or one with --against the other, which takes over its secret"
	}
	return fmt.Sprintf("they were made with the schemes %q and %q; use the same --method and version for both", a.name, other.Name())
}

func sameTable(a, b string) bool {
	x, errX := os.Stat(filepath.Join(a, TableFile))
	y, errY := os.Stat(filepath.Join(b, TableFile))
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// Scheme returns the common scheme, with the secret.
func (a *Against) Scheme() feature.Scheme { return a.scheme }

// Has reports whether the index in dir is one of them.
func (a *Against) Has(dir string) bool {
	return slices.ContainsFunc(a.parts, func(p *Files) bool { return sameTable(p.dir, dir) })
}

// IDs returns the identities of the indexes, in order. A nil Against has none.
func (a *Against) IDs() (ids []AgainstID) {
	if a == nil {
		return nil
	}
	for _, p := range a.parts {
		g := p.Table.Generation()
		_, _, edge := p.Table.Window()
		ids = append(ids, AgainstID{UUID: g.UUID, Documents: p.Table.Documents(), Content: g.Content, Edge: edge})
	}
	return ids
}

// Documents returns the number of documents that count, in all indexes.
func (a *Against) Documents() (n uint64) {
	for _, p := range a.parts {
		s := p.Table.Stats()
		n += uint64(s.Live())
	}
	return n
}

// Bytes returns the memory of the filters in bytes.
func (a *Against) Bytes() (n uint64) {
	for _, p := range a.parts {
		n += p.Loaded.Shape().Bytes()
	}
	return n
}

// Close releases the indexes. It may be called again, and on a nil Against.
func (a *Against) Close() error {
	if a == nil {
		return nil
	}
	var errs []error
	for _, p := range a.parts {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

// UseAgainst makes the documents of a count as earlier, from the next Begin on. Close a after x.
func (x *Index) UseAgainst(a *Against) error {
	switch {
	case x.closed:
		return errIndexClosed
	case x.table == nil:
		return fmt.Errorf("index %s: without a side table it cannot be queried together with others", x.dir)
	case x.name != a.name:
		return fmt.Errorf("index %s: its fingerprints cannot be compared with those of %s: %s", x.dir, a.parts[0].dir, a.difference(x.scheme))
	}
	x.against, x.before = a, 0
	for _, p := range a.parts {
		x.before += uint64(p.Table.Documents())
	}
	return nil
}

// put configures a deduper to query the indexes before the table.
func (a *Against) put(cfg *dedup.Config) {
	for _, p := range a.parts {
		cfg.Earlier, cfg.EarlierFilters = append(cfg.Earlier, p.Table), append(cfg.EarlierFilters, p.Loaded)
	}
}

// Owns reports whether document num of a result belongs to this index, and not to Against.
func (x *Index) Owns(num uint32) bool { return uint64(num) > x.before }
