// Package durable replaces files so that a crash leaves the old content or the new, never a mixture
// and never nothing.
//
//	err := durable.Replace("state.bin", func(f *os.File) error {
//		_, err := f.Write(state)
//		return err
//	})
//
// When Replace returns nil, the new content survives a power cut. If it returns an error, or the
// process dies inside it, path keeps its old content. After the rename it has the new one.
package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/firstseen/firstseen/internal/base/claim"
	"github.com/firstseen/firstseen/internal/base/step"
)

// system holds the system calls, whose order is the promise. Tests watch them and make them fail.
var system = struct {
	sync    func(*os.File) error
	rename  func(from, to string) error
	syncDir func(dir string) error
}{(*os.File).Sync, os.Rename, syncDir}

// Replace writes a file with write and puts it at path in one step. It syncs a temporary file in
// the same folder, renames it over path, and syncs the folder. An existing file keeps its
// permissions; a symbolic link at path is replaced, not followed. write must not close the file.
//
// The temporary file is path with ".tmp" appended. A killed process leaves at most that file, and
// the next Replace of path removes it. Replace returns claim.ErrTaken during another call for path.
func Replace(path string, write func(*os.File) error) error {
	temp := path + ".tmp"
	if err := replaceBy(path, temp, write); err != nil {
		return fmt.Errorf("replacing %s: %w", path, err)
	}
	return nil
}

func replaceBy(path, temp string, write func(*os.File) error) (err error) {
	f, err := create(temp)
	if err != nil {
		return err
	}
	c, err := claim.Take(temp)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	defer c.Release()
	defer func() {
		if err != nil {
			// The first error is the one to report; a second Close is harmless.
			f.Close()
			_ = c.Remove()
		}
	}()
	if old, err := os.Stat(path); err == nil { // else the umask decides
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := write(f); err != nil {
		return err
	}
	// Without this a file system may order the rename before the data, and a power cut leaves an
	// empty file under the final name.
	if err := system.sync(f); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := step.Done("wrote " + filepath.Base(temp)); err != nil {
		return err
	}
	return c.Rename(path, renameSynced)
}

// Remove removes a file. When it returns nil, a power cut does not bring the file back.
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

// RemoveLeft removes a file or an empty folder, if it exists. A power cut may bring it back.
func RemoveLeft(path string) error {
	err := os.Remove(path)
	// On a read-only file system, removing a missing file is another error.
	if _, missing := os.Lstat(path); errors.Is(missing, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Rename renames a file within its folder, replacing any file of the new name. The content must be
// on disk already. When it returns nil, a power cut does not undo it.
func Rename(from, to string) error {
	if err := renameSynced(from, to); err != nil {
		return fmt.Errorf("renaming %s: %w", filepath.Base(from), err)
	}
	return nil
}

// SyncName makes the name of a file survive a power cut, after a rename that may not be durable.
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

// create creates the temporary file, in place of one that a killed process left. It never writes to
// an existing file of that name, such as a link to elsewhere.
func create(temp string) (*os.File, error) {
	c, err := claim.Take(temp)
	if errors.Is(err, claim.ErrTaken) {
		return nil, err
	}
	if err := errors.Join(RemoveLeft(temp), c.Release()); err != nil {
		return nil, err
	}
	return os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

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
