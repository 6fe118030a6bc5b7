package docmap

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"

	"github.com/firstseen/firstseen/docmap/boltcheck"
	"github.com/firstseen/firstseen/docmap/sorted"
)

// Errors to compare with errors.Is. Each arrives wrapped in a message that names the file and the
// remedy.
var (
	// ErrScheme: the table was made with another scheme of keys.
	ErrScheme = errors.New("table of another scheme")
	// ErrVersion: the table was written by a version this one cannot read.
	ErrVersion = errors.New("table of another version")
	// ErrDamaged: the file differs from the bytes written to it.
	ErrDamaged = errors.New("table is damaged")
	// ErrLocked: another process has the table open.
	ErrLocked = errors.New("table is in use")
	// ErrNoDoc: there is no document of that number.
	ErrNoDoc = errors.New("no such document")
)

var (
	errClosed   = errors.New("the table is closed")
	errReadOnly = errors.New("the table was opened for reading only")
	errChanged  = errors.New("the table was changed during an iteration")
	errUnsure   = errors.New("a checkpoint failed in its last step: open the table again to see its state")
	errFault    = errors.New("a fault of this program, not of the table")
)

// damage describes damage inside a file. annotate adds the file and the remedy.
func damage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// damaged turns damage found in bins and pages into ErrDamaged. Only protected and verifiers
// call it.
func damaged(err error) error {
	if bin, ok := errors.AsType[sorted.Damage](err); ok {
		return damage("%s", bin)
	}
	if page, ok := errors.AsType[boltcheck.Damage](err); ok {
		return damage("%s", page)
	}
	return err
}

// annotate adds the file and the remedy to an error. Only exported methods call it, so it happens
// once.
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

// guarded is protected for exported methods.
func (t *Table) guarded(f func() error) error { return annotate(t.path, t.protected(f)) }

// protected runs f, which reads mapped pages of the file, and turns a panic into an error. It
// must not enclose a caller's code: its panics are the caller's.
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

// blame distinguishes damage from faults of the program. A memory fault inside the mapping means
// that the disk cannot deliver a page. bbolt and the code above it panic on wrong pages too; then
// checkPages finds such a page. Everything else is the program's own fault, and no reason to
// delete a table.
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
