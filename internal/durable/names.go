package durable

import (
	"fmt"
	"os"
	"path/filepath"
)

// Remove removes a file. When it returns nil, a power cut does not bring the
// file back.
func Remove(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	if err := system.syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("removing %s: %w", path, err)
	}
	return nil
}

// Rename gives a file, whose content must be on the disk already, another name
// in the same folder, replacing what has that name. When it returns nil, a power
// cut does not undo it.
func Rename(from, to string) error {
	if err := system.rename(from, to); err != nil {
		return err
	}
	if err := system.syncDir(filepath.Dir(to)); err != nil {
		return fmt.Errorf("renaming %s to %s: %w", from, to, err)
	}
	return nil
}
