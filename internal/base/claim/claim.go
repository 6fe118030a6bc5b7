// Package claim gives one process the right to a file, until it releases the file or ends.
//
// The lock is on the open file, not on its name, and ends with the process, even by a kill. It is
// advisory on Unix. A file system without locks grants every claim; only Check protects there.
package claim

import (
	"errors"
	"fmt"
	"os"
)

var (
	// ErrTaken is returned by Take while another process, or another Claim, holds the file.
	ErrTaken = errors.New("another run is writing it")
	// ErrMoved is returned when the name no longer leads to the claimed file.
	ErrMoved = errors.New("another file has its name now")
)

// Claim is the right to a file.
type Claim struct {
	path string
	file *os.File
}

// ID distinguishes a file from all others, under any name, and from later files that reuse its
// number. It is zero if the file system does not record creation times.
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

// Size returns the size of the file in bytes.
func (c *Claim) Size() (int64, error) {
	info, err := c.file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Sync brings all processes' writes to the file to disk.
func (c *Claim) Sync() error { return c.file.Sync() }

// Rename renames the file with a function such as durable.Rename. It returns ErrMoved, and does
// nothing, if the file no longer has its name.
func (c *Claim) Rename(to string, rename func(from, to string) error) error {
	if err := c.Check(); err != nil {
		return err
	}
	if err := rename(c.path, to); err != nil {
		return err
	}
	c.path = to
	return nil
}

// Remove removes the file, if it still has its name.
func (c *Claim) Remove() error {
	if err := c.Check(); err != nil {
		return err
	}
	return os.Remove(c.path)
}

// Release gives up the file. It does nothing for a nil claim.
func (c *Claim) Release() error {
	if c == nil {
		return nil
	}
	return c.file.Close()
}

// ID returns the identity of the claimed file.
func (c *Claim) ID() ID { return Identify(c.file) }
