package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature/terms"
	"github.com/firstseen/firstseen/index/filterlog"
)

// The states of a [Finding].
const (
	// Damaged means that the file differs from the bytes written to it, or is lost for good.
	Damaged = "damaged"
	// Unreadable means that another version of the program wrote the file.
	Unreadable = "unreadable"
	// Stale means that the file belongs to an earlier state of the index, or to another index. A
	// run replaces or removes it, with the same verdicts.
	Stale = "stale"
	// Missing means that the file is absent and was not needed.
	Missing = "missing"
	// Torn means that the end of the file is incomplete, as after a kill while it was written. That
	// part is not remembered, and was never acknowledged. The rest counts.
	Torn = "torn"
)

// A Finding is a difference from the state after a clean run. The JSON form is a contract.
type Finding struct {
	File   string `json:"file"` // its name in the index's directory
	State  string `json:"state"`
	What   string `json:"what"`
	Remedy string `json:"remedy"`
}

// wrong reports whether the index cannot be used as it is.
func (f *Finding) wrong() bool { return f.State == Damaged || f.State == Unreadable }

// Checked is the result of Check. The JSON form is a contract.
type Checked struct {
	Sound      bool         `json:"sound"` // no finding is Damaged or Unreadable
	Scheme     string       `json:"scheme"`
	Table      *TableStats  `json:"table"`  // null if absent or unreadable
	Filter     *FilterState `json:"filter"` // null if absent or unreadable
	Unfinished bool         `json:"unfinished_run"`
	Rebuilt    bool         `json:"rebuilt"` // the filter was rebuilt
	Findings   []Finding    `json:"findings"`
}

// CheckOptions configure Check.
type CheckOptions struct {
	// Rebuild rebuilds a filter with a finding, if the table is sound. It locks the index.
	Rebuild bool
	// Frozen, if not nil, is the table of the server that calls Check. Check closes it, and also
	// reads the server's journals.
	Frozen *docmap.Table
	// State names the owner's value of an unfinished run.
	State string
	// Progress, if not nil, receives the progress of a step. of is the total, 0 if unknown.
	Progress func(step string, done, of uint64)
}

// Check verifies all of the index in dir: every checksum, the order of the entries, their documents
// and the counts. The filter must have every key of the table. Without a table, Check verifies the
// journals. It needs no secret, because it hashes no text. It needs memory for both filter and
// table.
//
// The error is the reason why Check could not finish: the context's, ErrLocked, docmap.ErrLocked,
// an index missing from dir, or one of the system.
func Check(ctx context.Context, dir string, o CheckOptions) (_ *Checked, err error) {
	c := &checker{Index: newLocked(dir), ctx: ctx, o: o, out: &Checked{Findings: []Finding{}}}
	c.table = o.Frozen
	if c.o.Progress == nil {
		c.o.Progress = func(string, uint64, uint64) {}
	}
	defer func() { err = errors.Join(err, c.release()) }()
	if err := c.check(); err != nil {
		return nil, err
	}
	c.out.Sound = !slices.ContainsFunc(c.out.Findings, func(f Finding) bool { return f.wrong() })
	return c.out, nil
}

const (
	otherVersion = "use the version of firstseen that made it, or build the index again"

	restore = "restore the index from a copy, or delete it and build it again"
	rebuild = "rebuild it from the table with firstseen index check --rebuild, or delete it and the next run does so"
	nextRun = "the next run rebuilds it from the table, and so does firstseen index check --rebuild"
)

// checker is one check of an index. Its Index has only lock and table.
type checker struct {
	*Index
	ctx context.Context
	o   CheckOptions
	out *Checked
	p   presence
}

func (c *checker) find(file, state, what, remedy string) {
	c.out.Findings = append(c.out.Findings, Finding{File: file, State: state, What: what, Remedy: remedy})
}

func (c *checker) check() error {
	filterErr, err := c.look()
	if err == nil && c.o.Rebuild {
		if err := c.takeLock(); err != nil {
			return err
		}
		filterErr, err = c.look()
	}
	if err == nil && c.o.Frozen == nil {
		err = c.p.unserved(c.dir)
	}
	if err == nil {
		err = c.checkServed()
	}
	if err == nil && c.p.table {
		err = c.checkTable()
	}
	if err == nil {
		err = c.checkFilter(filterErr)
	}
	if err == nil && !c.p.table && c.p.logs && filterErr == nil {
		err = c.checkJournals()
	}
	// A new filter needs a table without any damage.
	filterFound := slices.ContainsFunc(c.out.Findings, func(f Finding) bool { return f.File == FilterFile })
	if err == nil && c.o.Rebuild && filterFound && c.table != nil && !c.damaged(TableFile) {
		err = c.rebuild()
	}
	if err != nil {
		return err
	}
	return c.checkKey()
}

// look finds the files of the index. filterErr is the damage of the filter's header.
func (c *checker) look() (filterErr, err error) {
	c.p, err = look(c.dir)
	switch {
	case errors.Is(err, bloomstore.ErrDamaged), errors.Is(err, bloomstore.ErrVersion):
		return err, nil
	case err == nil && c.p.none():
		err = noIndex(c.dir)
	}
	return nil, err
}

// checkTable opens the table, if possible, and reads all of it.
func (c *checker) checkTable() error {
	c.o.Progress("table", 0, 0)
	t := c.table
	if t == nil {
		var err error
		t, err = openTable(c.dir)
		switch {
		case c.findError(TableFile, err, docmap.ErrDamaged, docmap.ErrVersion, restore, otherVersion):
			return nil
		case err != nil:
			return err
		}
		c.table = t
		if err := complete(c.dir, t.State); err != nil {
			return err
		}
	}
	stats := t.Stats()
	c.out.Table, c.out.Scheme = &stats, t.Scheme()
	stored, err := t.State(c.o.State)
	if err != nil {
		return err
	}
	c.out.Unfinished = len(stored) > 0
	found, err := t.Verify(c.ctx)
	for _, f := range found {
		c.find(TableFile, Damaged, f.Part+": "+f.What, restore)
	}
	return err
}

// checkFilter verifies the filter. filterErr is the damage of its header.
func (c *checker) checkFilter(filterErr error) error {
	switch {
	case filterErr != nil:
		c.findFilter(filterErr)
		return nil
	case !c.p.filter && c.p.logs && !c.p.table:
		return nil // the journals of the first run hold all
	case !c.p.filter:
		c.find(FilterFile, Missing, "no run has saved it, or it was deleted", nextRun)
		return nil
	}
	state := stateOf(c.p.header)
	c.out.Filter = &state
	if c.out.Scheme == "" {
		c.out.Scheme = c.p.header.Scheme
	}
	if !c.p.table && filterlog.SavedWithTable(c.p.header.Stamp) {
		c.find(TableFile, Damaged, "it is gone: "+FilterFile+" was saved beside it", "put it back from a copy, or build the index again")
	}
	if c.table != nil {
		if found, err := c.differs(); found || err != nil {
			return err
		}
	}
	c.o.Progress("filter", 0, 0)
	f, err := loadFilter(c.ctx, c.path(FilterFile), c.p.header.Scheme, c.table)
	if c.findFilter(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if c.table != nil {
		*c.out.Filter = (&Index{filter: f}).State() // with pending keys
		err = c.compare(f)
	}
	return errors.Join(err, f.Close())
}

// differs adds a finding for a filter that does not belong to the table's state.
func (c *checker) differs() (bool, error) {
	ok, err := follows(c.table, c.p.header.Stamp, nil)
	switch {
	case err != nil:
		return false, err
	case c.p.header.Scheme != c.table.Scheme():
		c.find(FilterFile, Damaged, fmt.Sprintf("its scheme is %q, and the table's %q", c.p.header.Scheme, c.table.Scheme()), rebuild)
	case c.p.emptied(c.table):
		c.find(TableFile, Damaged, "it "+whatEmptied, remedyEmptied)
	case !ok:
		c.find(FilterFile, Stale, "it belongs to another state of the table, as after an interrupted run, or to another table", nextRun)
	default:
		return false, nil
	}
	return true, nil
}

// compare looks up every key of the table in the filter. It skips a damaged table.
func (c *checker) compare(f *bloomstore.Filter) error {
	if c.damaged(TableFile) {
		return nil // Keys ends at the first damage
	}
	var done, missing uint64
	of := c.table.Entries()
	seen := make([]bool, rebuildBatch)
	for keys, err := range c.table.Keys() {
		if err = errors.Join(err, c.ctx.Err()); err != nil {
			return fmt.Errorf("comparing the filter with the table: %w", err)
		}
		seen = slices.Grow(seen[:0], len(keys))[:len(keys)]
		f.Test(keys, seen)
		for _, s := range seen {
			if !s {
				missing++
			}
		}
		done += uint64(len(keys))
		c.o.Progress("keys", done, of)
	}
	if missing > 0 {
		c.find(FilterFile, Damaged, fmt.Sprintf("%d of the table's %d entries have keys that are not in it", missing, of), rebuild)
	}
	return nil
}

func (c *checker) findFilter(err error) bool {
	remedy, version := rebuild, rebuild
	if !c.p.table {
		remedy, version = "put it back from a copy, or begin a new index", otherVersion
	}
	return c.findError(FilterFile, err, bloomstore.ErrDamaged, bloomstore.ErrVersion, remedy, version)
}

// findError turns an error about a file's content into a finding. damaged and version are such
// errors of the file's store. It returns false for other errors.
func (c *checker) findError(file string, err, damaged, version error, remedy, otherVersion string) bool {
	switch {
	case errors.Is(err, damaged):
		c.find(file, Damaged, cause(err, damaged), remedy)
	case errors.Is(err, version):
		c.find(file, Unreadable, cause(err, version), otherVersion)
	default:
		return false
	}
	return true
}

// cause returns a store's error without its path and remedy, which a finding has in other fields.
func cause(err, kind error) string {
	text := err.Error()
	if _, after, ok := strings.Cut(text, kind.Error()+": "); ok {
		text = after
	}
	if i := strings.LastIndex(text, "; "); i >= 0 {
		text = text[:i]
	}
	return text
}

// damaged reports whether a file was found damaged or unreadable.
func (c *checker) damaged(file string) bool {
	return slices.ContainsFunc(c.out.Findings, func(f Finding) bool { return f.File == file && f.wrong() })
}

// checkKey checks that the secret belongs to the index.
func (c *checker) checkKey() error {
	if c.out.Scheme == "" {
		return nil
	}
	key, err := ReadKey(c.dir)
	if errors.Is(err, ErrBadKey) {
		c.find(KeyFile, Damaged, fmt.Sprintf("it is not %d hexadecimal digits", 2*keyBytes), "restore it from a backup, without it the index is useless")
		return nil
	}
	if err != nil {
		return err
	}
	switch _, err = schemeIn(c.dir, c.out.Scheme, key); {
	case err == nil:
	case errors.As(err, new(*fs.PathError)):
		return err
	case errors.Is(err, terms.ErrTable):
		c.find(TermsFile, Damaged, cause(err, terms.ErrTable), "put back the table of terms that the index was made with")
	case errors.Is(err, errTermsGone):
		c.find(TermsFile, Damaged, fmt.Sprintf("it is gone, but the scheme %q needs it", c.out.Scheme), "put back the table of terms that the index was made with")
	case !isOurs(c.out.Scheme):
		file := FilterFile
		if c.table != nil {
			file = TableFile
		}
		c.find(file, Unreadable, fmt.Sprintf("this program does not have the rules of its scheme %q", c.out.Scheme), anew)
	case key == nil:
		c.find(KeyFile, Missing, fmt.Sprintf("without a key, this program has no scheme %q", c.out.Scheme), "put it back before the index is used, or use the version that made the index")
	default:
		c.find(KeyFile, Damaged, fmt.Sprintf("it does not match the scheme %q", c.out.Scheme), "put back the key the index was made with, or use the version that made the index")
	}
	return nil
}

// rebuild rebuilds the filter at its size, or larger if the table needs it, and checks the new
// file. The old one stays until the new one is complete.
func (c *checker) rebuild() error {
	c.o.Progress("table for a new filter", 0, 0)
	shape := c.p.header.Shape
	if shape == (bloomstore.Shape{}) {
		key, _ := ReadKey(c.dir) // without its key or terms, the scheme counts as the default
		s, _ := schemeIn(c.dir, c.table.Scheme(), key)
		shape = ShapeFor(DefaultDocs, s, false)
	}
	f, err := filterOf(c.ctx, shape, c.table, true)
	if err == nil {
		err = errors.Join(f.Save(c.ctx, c.path(FilterFile), tableStamp(c.table)), f.Close())
	}
	if err != nil {
		return fmt.Errorf("rebuilding the filter: %w", err)
	}
	c.out.Rebuilt = true
	c.out.Findings = slices.DeleteFunc(c.out.Findings, func(f Finding) bool { return f.File == FilterFile })
	if c.p, err = look(c.dir); err != nil {
		return err
	}
	return c.checkFilter(nil)
}
