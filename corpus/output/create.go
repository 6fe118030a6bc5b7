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

// Create starts an output. A regular file of that name stays unchanged until Close replaces it. The
// partial file of an earlier run is removed if it is among the worthless, and otherwise put aside,
// see Aside. Create returns ErrBusy if another run is writing the output.
func Create(name string, worthless ...FileID) (*Writer, error) {
	if name == input.Stdin {
		return newWriter("standard output", partial{}, stdout{os.Stdout}, regular(os.Stdout) != nil, packings[""]), nil
	}
	path, direct, err := resolve(name)
	if err == nil && direct {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("opening output: %w", err)
		}
		return newWriter(name, partial{}, f, false, packingOf(name)), nil
	}
	if err == nil {
		err = inTree(path)
	}
	var part partial
	if err == nil {
		part, err = newPartial(path, worthless...)
	}
	if errors.Is(err, fs.ErrNotExist) { // of this folder, or of one before ..
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
	return newWriter(name, part, f, true, packingOf(name)), nil
}

// NoFolder returns an error if the folder of an output is missing.
func NoFolder(name string) error {
	dir := filepath.Dir(name)
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%s: there is no folder %s: make it first, or give another name", name, dir)
}

// OpenAt continues an output that was not closed: it truncates the partial file to a mark from
// Sync. It fails if the file is missing, shorter or different. At size 0 it is Create. If the
// output Swallows everything, OpenAt opens it again.
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

// maxLinks is the maximum number of links to follow.
const maxLinks = 40

// resolve returns the file that a name leads to through links, even if it does not exist yet.
// direct is set for standard output, and for an existing irregular file.
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
			// Not filepath.Join: after a link to a folder, ".." is elsewhere.
			dir, _ := filepath.Split(name)
			target = dir + target
		}
		name = target
	}
	return "", fmt.Errorf("%s: too many links", name)
}

// stdout never closes standard output.
type stdout struct{ *os.File }

func (stdout) Close() error { return nil }
