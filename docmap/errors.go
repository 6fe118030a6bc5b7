package docmap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"

	"github.com/firstseen/firstseen/docmap/boltcheck"
	"github.com/firstseen/firstseen/docmap/sorted"
)

// Errors a caller may want to tell apart with errors.Is. Each arrives wrapped
// in a message that names the file and says what to do.
var (
	// ErrScheme: the table was made with another scheme of keys.
	ErrScheme = errors.New("table of another scheme")
	// ErrVersion: the table was written by a version this one cannot read.
	ErrVersion = errors.New("table of another version")
	// ErrDamaged: the file does not hold what was written to it.
	ErrDamaged = errors.New("table is damaged")
	// ErrLocked: another process has the table open.
	ErrLocked = errors.New("table is in use")
	// ErrReopen: a table that another process writes was read for too long. Opened again
	// it has the newest state, and the writer the space of the old one.
	ErrReopen = errors.New("the state that is read has become old: open the table again")
	// ErrNoDoc: there is no document of that number.
	ErrNoDoc = errors.New("no such document")
)

var (
	errClosed   = errors.New("the table is closed")
	errReadOnly = errors.New("the table was opened for reading only")
	errChanged  = errors.New("the table was changed during an iteration")
	errUnsure   = errors.New("a checkpoint failed in its last step: open the table again to see what it has")
	errFault    = errors.New("a fault of this program, not of the table")
)

// damage says what is wrong inside a file; annotate adds which file and the hint.
func damage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// damaged makes ErrDamaged of what is found in bins and pages.
func damaged(err error) error {
	if bin, ok := errors.AsType[sorted.Damage](err); ok {
		return damage("%s", bin)
	}
	if page, ok := errors.AsType[boltcheck.Damage](err); ok {
		return damage("%s", page)
	}
	return err
}

// checkPages walks the pages of a file.
func checkPages(path string) error { return damaged(boltcheck.File(path)) }

// damageText is what was given to damage.
func damageText(err error) string {
	return strings.TrimPrefix(err.Error(), ErrDamaged.Error()+": ")
}

// annotate says which file and what to do about it. It belongs where an error
// leaves the package, so that it is done once.
func annotate(path string, err error) error {
	switch {
	case errors.Is(err, ErrDamaged):
		return fmt.Errorf("%s: %w; restore the index from a copy, or delete it and build it again", path, err)
	case errors.Is(err, ErrVersion), errors.Is(err, errFault):
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// guarded is protected for the functions that callers call.
func (t *Table) guarded(f func() error) error { return annotate(t.path, t.protected(f)) }

// protected runs f with the file's pages mapped into memory, and makes an error
// of a panic. It must not enclose a caller's code, whose panics are its own.
func (t *Table) protected(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = t.blame(r, debug.Stack())
		}
	}()
	return f()
}

// blame tells damage from faults of the program. Reading a mapped page that the
// disk cannot deliver is a memory fault inside the file. bbolt panics where a page
// is not what it should be, and so may anything that follows such a page; but then
// the page is found by those who look for it. All else is the program's own fault,
// and nobody should delete a table for that.
func (t *Table) blame(r any, stack []byte) error {
	if fault, ok := r.(interface{ Addr() uintptr }); ok {
		if at, ok := t.inFile(fault.Addr()); ok {
			return damage("byte %d cannot be read: the disk failed, or the file was cut short", at)
		}
	}
	if err := t.checkState(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%w: %v; please report it with all of these lines:\n%s", errFault, r, stack)
}

// inFile says where in the mapped file an address is.
func (t *Table) inFile(addr uintptr) (at int64, ok bool) {
	defer func() { _ = recover() }() // of bbolt, where nothing is mapped
	if t.db == nil {
		return 0, false
	}
	at = int64(addr - t.db.Info().Data)
	return at, at >= 0 && at < t.used
}

// regularSize is the size of the file at path, refusing what bbolt would wait for
// or fail at.
func regularSize(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%s is not a file: give another name", path)
	}
	return info.Size(), nil
}
