package docmap

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"

	"github.com/firstseen/firstseen/docmap/boltcheck"
	"github.com/firstseen/firstseen/docmap/sorted"
)

// Errors for use with errors.Is. All but ErrNoDoc come with the file and the remedy.
var (
	// ErrScheme means that the table was made with another key scheme.
	ErrScheme = errors.New("table has another scheme")
	// ErrVersion means that the table has a format this version cannot read.
	ErrVersion = errors.New("table has another version")
	// ErrDamaged means that the file differs from the bytes written to it.
	ErrDamaged = errors.New("table is damaged")
	// ErrLocked means that another process has the table open.
	ErrLocked = errors.New("table is in use")
	// ErrNoDoc means that a number has no live document.
	ErrNoDoc = errors.New("no such document")
)

var (
	errClosed   = errors.New("the table is closed")
	errReadOnly = errors.New("the table was opened for reading only")
	errChanged  = errors.New("the table was changed during an iteration")
	errUnsure   = errors.New("a checkpoint failed in its last step: open the table again to see its state")
	errFault    = errors.New("a bug in this program, not damage to the table")
)

// damage returns ErrDamaged with a description. annotate adds the file and the remedy.
func damage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// damaged converts the damage errors of bins and pages to ErrDamaged.
func damaged(err error) error {
	if bin, ok := errors.AsType[sorted.Damage](err); ok {
		return damage("%s", bin)
	}
	if page, ok := errors.AsType[boltcheck.Damage](err); ok {
		return damage("%s", page)
	}
	return err
}

// annotate adds the path and, for damage, the remedy. Exported methods call it, so it runs once.
func annotate(path string, err error) error {
	switch {
	case errors.Is(err, ErrDamaged):
		return fmt.Errorf("%s: %w; restore the index from a copy, or delete it and build it again", path, err)
	case errors.Is(err, ErrVersion), errors.Is(err, errFault):
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}

// guarded is protected for exported methods: it annotates the error.
func (t *Table) guarded(f func() error) error { return annotate(t.path, t.protected(f)) }

// protected runs f, which reads mapped pages, and converts a panic to an error. It must not run a
// caller's code, whose panics belong to the caller.
func (t *Table) protected(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = t.blame(r, debug.Stack())
		}
		err = damaged(err)
	}()
	return f()
}

// blame distinguishes damage from bugs. A memory fault inside the mapping means that the disk
// cannot deliver a page. Corrupt pages make bbolt and its callers panic, too, and checkPages then
// finds them. Anything else is a bug, and no reason to delete a table.
func (t *Table) blame(r any, stack []byte) error {
	if fault, ok := r.(interface{ Addr() uintptr }); ok {
		if at, ok := t.inFile(fault.Addr()); ok {
			return damage("byte %d cannot be read: the disk failed, or the file was cut short", at)
		}
	}
	if err := t.checkPages(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%w: %v; please report it with all of these lines:\n%s", errFault, r, stack)
}

func (t *Table) inFile(addr uintptr) (at int64, ok bool) {
	defer func() { _ = recover() }() // bbolt panics if nothing is mapped
	if t.db == nil {
		return 0, false
	}
	at = int64(addr - t.db.Info().Data)
	return at, at >= 0 && at < t.used
}
