package durable

import (
	"errors"
	"os"
	"runtime"
)

// syncDir makes a rename in dir survive a power cut. Windows cannot sync a folder, and NTFS
// journals renames.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
