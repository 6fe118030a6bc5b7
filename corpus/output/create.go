package output

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firstseen/firstseen/corpus/input"
)

// Create starts an output. A regular file of that name stays as it is until
// Close replaces it. The partial file of an earlier run is removed if it is one of the worthless.
// Any other is put aside, see Aside. ErrBusy says that another run is writing it.
func Create(name string, worthless ...FileID) (*Writer, error) {
	return begin(name, packingOf(name), worthless...)
}

// CreatePlain is Create without compression, whatever the name.
func CreatePlain(name string) (*Writer, error) { return begin(name, packings[""]) }

// NoFolder returns the error of an output without a folder, nil if the folder is there.
func NoFolder(name string) error {
	dir := filepath.Dir(name)
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%s: there is no folder %s: make it first, or give another name", name, dir)
}

func begin(name string, p packing, worthless ...FileID) (*Writer, error) {
	if name == input.Stdin {
		return newWriter("standard output", partial{}, stdout{os.Stdout}, regular(os.Stdout) != nil, packings[""]), nil
	}
	path, direct, err := resolve(name)
	if err == nil && direct {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("opening output: %w", err)
		}
		return newWriter(name, partial{}, f, false, p), nil
	}
	if err == nil {
		err = inTree(path)
	}
	var part partial
	if err == nil {
		part, err = newPartial(path, worthless...)
	}
	if errors.Is(err, fs.ErrNotExist) { // else a folder is missing in front of ..
		err = cmp.Or(NoFolder(path), err)
	}
	var f *os.File
	if err == nil {
		if f, err = part.claim.Open(); err != nil {
			err = errors.Join(err, part.giveUp(false))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("creating output: %w", err)
	}
	return newWriter(name, part, f, true, p), nil
}

// OpenAt goes on with an output that was not closed: its partial file is cut
// back to a mark that Sync has returned, and continued there. It fails when the
// file is gone, shorter than that, or another one. At size 0 there is nothing to
// continue and OpenAt is Create. What Swallows everything is opened again.
func OpenAt(name string, at Mark) (*Writer, error) {
	if Swallows(name) || at.Size == 0 && name != input.Stdin {
		return Create(name)
	}
	path, direct, err := resolve(name)
	if err == nil && direct {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, fmt.Errorf("continuing output %s: %w", name, err)
	}
	part, f, tail, err := takeAt(path, at)
	if err != nil {
		return nil, fmt.Errorf("continuing output: %w", err)
	}
	w := newWriter(name, part, f, true, packingOf(name))
	w.written, w.tail = at.Size, tail
	return w, nil
}

// maxLinks is how many links in a row are followed.
const maxLinks = 40

// resolve returns the file that a name stands for, behind links, also when it is
// not there yet. Direct are standard output and what exists and is not a regular file.
func resolve(name string) (path string, direct bool, err error) {
	if name == input.Stdin {
		return name, true, nil
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		path, err = followDangling(name)
		return path, false, err
	case err != nil:
		return "", false, err
	case info.IsDir():
		return "", false, fmt.Errorf("%s is a directory: give the name of a file", name)
	case !info.Mode().IsRegular():
		return name, true, nil
	}
	path, err = filepath.EvalSymlinks(name)
	return path, false, err
}

// followDangling returns the target of a link to nothing, and any other name unchanged.
func followDangling(name string) (string, error) {
	for range maxLinks {
		target, err := os.Readlink(name)
		if err != nil {
			return name, nil
		}
		if !filepath.IsAbs(target) {
			// Not filepath.Join: behind a linked folder ".." is elsewhere.
			dir, _ := filepath.Split(name)
			target = dir + target
		}
		name = target
	}
	return "", fmt.Errorf("%s: too many links", name)
}

// stdout is not ours to close.
type stdout struct{ *os.File }

func (stdout) Close() error { return nil }
