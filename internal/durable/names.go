package durable

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/firstseen/firstseen/internal/step"
)

// Remove removes a file. When it returns nil, a power cut does not bring the
// file back.
func Remove(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	err := step.Done("removed " + filepath.Base(path))
	if err == nil {
		err = system.syncDir(filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("removing %s: %w", path, err)
	}
	return nil
}

// Rename gives a file another name in the same folder, replacing any file of that name. The content
// must be on the disk already. When it returns nil, a power cut does not undo it.
func Rename(from, to string) error {
	if err := renameSynced(from, to); err != nil {
		return fmt.Errorf("renaming %s: %w", filepath.Base(from), err)
	}
	return nil
}

// SyncName makes the present name of a file survive a power cut, after a rename that may not have
// been durable.
func SyncName(path string) error {
	if err := system.syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("making the name %s durable: %w", path, err)
	}
	return nil
}

func renameSynced(from, to string) error {
	if err := system.rename(from, to); err != nil {
		return err
	}
	if err := step.Done("renamed " + filepath.Base(from)); err != nil {
		return err
	}
	return system.syncDir(filepath.Dir(to))
}
