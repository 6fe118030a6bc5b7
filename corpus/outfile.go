package corpus

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// PartialSuffix is added to the name of an output, behind links, until it is
// whole.
const PartialSuffix = ".partial"

// outFile is what a Writer needs of an *os.File.
type outFile interface {
	io.Writer
	Sync() error
	Close() error
}

func cut(f *os.File, position int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if position < 0 || info.Size() < position {
		return fmt.Errorf("the partial file has %d bytes, not the %d written before: it was changed, start anew", info.Size(), position)
	}
	if err := f.Truncate(position); err != nil {
		return err
	}
	_, err = f.Seek(position, io.SeekStart)
	return err
}

// resolve returns the file that a name stands for, behind links, and whether
// it exists and is not a regular file.
func resolve(name string) (path string, direct bool, err error) {
	path, err = filepath.EvalSymlinks(name)
	if errors.Is(err, fs.ErrNotExist) {
		return name, false, nil
	}
	if err != nil {
		return "", false, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", false, err
	}
	if info.IsDir() {
		return "", false, fmt.Errorf("%s is a directory", name)
	}
	return path, !info.Mode().IsRegular(), nil
}

func isRegular(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}

// stdout is not ours to close.
type stdout struct{ *os.File }

func (stdout) Close() error { return nil }

// publish gives a partial file its name, and makes the name durable.
func publish(path string) error {
	if err := os.Rename(path+PartialSuffix, path); err != nil {
		return fmt.Errorf("finishing output: %w", err)
	}
	if runtime.GOOS == "windows" {
		return nil // there a directory cannot be synced
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("finishing output: %w", err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return fmt.Errorf("finishing output %s: %w", path, err)
	}
	return nil
}
