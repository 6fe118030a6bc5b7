package docmap

import (
	"errors"
	"fmt"
	"runtime/debug"
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
	// ErrNoDoc: there is no document of that number.
	ErrNoDoc = errors.New("no such document")
)

var (
	errClosed   = errors.New("the table is closed")
	errReadOnly = errors.New("the table was opened for reading only")
	errChanged  = errors.New("the table was changed during an iteration")
)

// damage says what is wrong inside a file; annotate adds which file and the hint.
func damage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

func annotate(path string, err error) error {
	if errors.Is(err, ErrVersion) {
		return fmt.Errorf("%s: %w", path, err)
	}
	if errors.Is(err, ErrDamaged) {
		return fmt.Errorf("%s: %w; restore the index from a copy, or delete it and build it again", path, err)
	}
	return err
}

// guarded runs f with the file's pages mapped into memory. bbolt panics where
// a page is not what it should be, and reading a page the disk cannot deliver
// is a fault: both become ErrDamaged. It must not enclose a caller's code,
// whose panics are its own.
func (t *Table) guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = damage("%v", r)
		}
		err = annotate(t.path, err)
	}()
	return f()
}
