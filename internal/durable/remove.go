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
	if err := syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("removing %s: %w", path, err)
	}
	return nil
}
