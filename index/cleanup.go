package index

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// indexFiles are all names that an index directory may have files of, those of
// unfinished steps included.
var indexFiles = map[string]bool{
	lockFile: true, TableFile: true, TableFile + ".new": true, FilterFile: true, FilterFile + ".tmp": true,
	KeyFile: true, KeyFile + ".tmp": true, startedFile: true,
	TermsFile: true, TermsFile + ".tmp": true,
	TableFile + ".readers": true,
}

// RemoveLeftIndex removes a temporary index that a killed process has left, and
// reports whether it did. It touches no directory that holds anything but regular
// files of an index, none whose lock a process holds, and none with nothing but a
// lock: its owner may be about to take that. An index under a name that its owner
// means to use again must not be given.
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
	// The other files are made with the lock held, so it was given back.
	for _, name := range names {
		if name != lockFile {
			err = errors.Join(err, removeIfThere(filepath.Join(dir, name)))
		}
	}
	// Last, so that what is left by a failure is found again. Windows removes no
	// open file.
	err = errors.Join(err, lock.Unlock())
	if err == nil {
		err = errors.Join(removeIfThere(path), removeIfThere(dir))
	}
	return err == nil, err
}

// leftoverNames lists dir, which is nothing to be removed where the list is empty.
func leftoverNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	locked := false
	for _, e := range entries {
		if !e.Type().IsRegular() || !indexFiles[e.Name()] {
			return nil, nil
		}
		locked = locked || e.Name() == lockFile
		names = append(names, e.Name())
	}
	if !locked {
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
