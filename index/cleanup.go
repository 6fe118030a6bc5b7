package index

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gofrs/flock"
)

// indexFiles are the names of all files of an index, with those of unfinished steps.
var indexFiles = map[string]bool{
	lockFile: true, TableFile: true, TableFile + ".new": true, FilterFile: true, FilterFile + ".tmp": true,
	KeyFile: true, KeyFile + ".tmp": true, startedFile: true,
	TermsFile: true, TermsFile + ".tmp": true,
	TableFile + ".readers": true, // of version 0.1, in which readers signed in
}

// RemoveLeftIndex removes the temporary index of a killed process, and reports whether it did. It
// touches no directory with anything but regular files of an index, and none whose lock a process
// holds. It leaves a directory with a lock alone: the owner may be about to take the lock. dir must
// not be an index for later use.
func RemoveLeftIndex(dir string) (bool, error) {
	names, err := leftoverNames(dir)
	if err != nil || len(names) < 2 {
		return false, err
	}
	path := filepath.Join(dir, lockFile)
	lock := flock.New(path, flock.SetFlag(os.O_RDWR)) // never creates one
	if ok, err := lock.TryLock(); err != nil || !ok {
		return false, err
	}
	// The other files are made under the lock, so its owner has released it.
	for _, name := range names {
		if name != lockFile {
			err = errors.Join(err, removeIfThere(filepath.Join(dir, name)))
		}
	}
	// The lock goes last, so that the remains of a failure are found again. Windows removes no
	// open file.
	err = errors.Join(err, lock.Unlock())
	if err == nil {
		err = errors.Join(removeIfThere(path), removeIfThere(dir))
	}
	return err == nil, err
}

// leftoverNames lists dir. The list is empty if dir must not be removed.
func leftoverNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.Type().IsRegular() || !indexFiles[e.Name()] {
			return nil, nil
		}
		names = append(names, e.Name())
	}
	if !slices.Contains(names, lockFile) {
		return nil, nil
	}
	return names, nil
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
