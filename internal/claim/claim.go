// Package claim gives one process the right to a file, until it releases the file or ends.
//
// The lock is on the open file, not on its name, and the kernel drops it with the
// process: a kill leaves nothing behind. It is advisory on Unix. File systems
// without locks grant every claim; only Check remains there.
package claim

import (
	"errors"
	"fmt"
	"os"

	"github.com/firstseen/firstseen/internal/durable"
)

var (
	// ErrTaken is returned by Take while another process, or another Claim of
	// this one, holds the file.
	ErrTaken = errors.New("another run is writing it")
	// ErrMoved is returned when the name leads to another file than the claimed one, or to none.
	ErrMoved = errors.New("another file has its name now")
)

// Claim is the right to a file.
type Claim struct {
	path string
	file *os.File
}

// ID distinguishes a file from all others, under any name, and from every later file given its
// number. It is zero if the file system does not record when a file was made.
type ID struct {
	Device uint64 `json:"device"`
	Number uint64 `json:"number"`
	Born   int64  `json:"born"` // ns since 1970
}

// Take claims the existing file at path. It never waits.
func Take(path string) (*Claim, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	ok, err := lock(f)
	switch {
	case err != nil:
		err = fmt.Errorf("locking %s: %w", path, err)
	case !ok:
		err = fmt.Errorf("%s: %w", path, ErrTaken)
	default:
		c := &Claim{path: path, file: f}
		// The previous holder may have renamed it since it was opened.
		if err = c.Check(); err == nil {
			return c, nil
		}
	}
	return nil, errors.Join(err, f.Close())
}

// Check returns ErrMoved unless the name still leads to the claimed file.
func (c *Claim) Check() error {
	mine, err := c.file.Stat()
	if err != nil {
		return err
	}
	named, err := os.Lstat(c.path)
	if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(mine, named) {
		return fmt.Errorf("%s: %w", c.path, ErrMoved)
	}
	return err
}

// Open opens the claimed file for reading and writing. The caller closes it.
func (c *Claim) Open() (*os.File, error) {
	f, err := os.OpenFile(c.path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if mine, mineErr := c.file.Stat(); err == nil && mineErr == nil && !os.SameFile(opened, mine) {
		err = fmt.Errorf("%s: %w", c.path, ErrMoved)
	} else {
		err = errors.Join(err, mineErr)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Size returns the bytes of the file.
func (c *Claim) Size() (int64, error) {
	info, err := c.file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Sync brings any process's writes to the file to the disk.
func (c *Claim) Sync() error { return c.file.Sync() }

// Rename gives the file another name in the same folder, durably, replacing any file of that name.
// It returns ErrMoved, and does nothing, when the file is not under its name any more.
func (c *Claim) Rename(to string) error {
	if err := c.Check(); err != nil {
		return err
	}
	if err := durable.Rename(c.path, to); err != nil {
		return err
	}
	c.path = to
	return nil
}

// Remove removes the file, if it is still under its name.
func (c *Claim) Remove() error {
	if err := c.Check(); err != nil {
		return err
	}
	return os.Remove(c.path)
}

// Release gives up the file. A nil claim has nothing to release.
func (c *Claim) Release() error {
	if c == nil {
		return nil
	}
	return c.file.Close()
}

// ID returns the identity of the claimed file.
func (c *Claim) ID() ID { return Identify(c.file) }
