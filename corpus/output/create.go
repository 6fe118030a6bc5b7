package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/firstseen/firstseen/corpus/input"
)

// Create starts an output. A regular file of that name stays as it is until
// Close replaces it. What an earlier run has left in the partial file is put
// aside, see Aside. ErrBusy says that another run is writing it.
func Create(name string) (*Writer, error) { return begin(name, openWriter) }

// CreateOver is Create, but it removes a partial file among the worthless ones instead of putting it
// aside: the caller knows that its content is not needed.
func CreateOver(name string, worthless ...FileID) (*Writer, error) {
	return begin(name, openWriter, worthless...)
}

// CreatePlain is Create without compression, whatever the name.
func CreatePlain(name string) (*Writer, error) { return begin(name, openKind("")) }

// NoFolder returns the error of an output without a folder, nil if the folder is there.
func NoFolder(name string) error {
	dir := filepath.Dir(name)
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%s: there is no folder %s: make it first, or give another name", name, dir)
}

// opener makes the writer of an open file.
type opener func(name string, part *partial, f outFile, durable bool) *Writer

func begin(name string, open opener, worthless ...FileID) (*Writer, error) {
	path, direct, err := "", true, error(nil)
	if name != input.Stdin {
		path, direct, err = resolve(name)
	}
	if err != nil {
		return nil, fmt.Errorf("creating output: %w", err)
	}
	if direct {
		return createDirect(name, open)
	}
	if err := inTree(path); err != nil {
		return nil, fmt.Errorf("creating output: %w", err)
	}
	part, err := newPartial(path, worthless...)
	if missing := NoFolder(path); errors.Is(err, fs.ErrNotExist) && missing != nil {
		err = missing // else a folder is missing in front of ..
	}
	if err != nil {
		return nil, fmt.Errorf("creating output: %w", err)
	}
	f, err := part.claim.Open()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("creating output: %w", err), part.discard())
	}
	return open(name, part, f, true), nil
}

func createDirect(name string, open opener) (*Writer, error) {
	if name == input.Stdin {
		return newWriter("standard output", stdout{os.Stdout}, isRegular(os.Stdout), packings[""]), nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("opening output: %w", err)
	}
	return open(name, nil, f, false), nil
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
	if name == input.Stdin || err == nil && direct {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, fmt.Errorf("continuing output %s: %w", name, err)
	}
	c, err := take(path)
	if err != nil {
		return nil, fmt.Errorf("continuing output: %w", err)
	}
	f, err := c.Open()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("continuing output: %w", err), c.Release())
	}
	tail, err := cut(f, at)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("continuing output: %w", err), f.Close(), c.Release())
	}
	w := openWriter(name, &partial{path: path, claim: c}, f, true)
	w.written, w.tail = at.Size, tail
	return w, nil
}

// CutPacking cuts from the name of an output the ending by which it is compressed, ".gz" or
// ".zst", in capitals too; "" is none.
func CutPacking(name string) (rest, packing string) {
	packing = strings.ToLower(filepath.Ext(name))
	if packing != ".gz" && packing != ".zst" {
		return name, ""
	}
	return name[:len(name)-len(packing)], packing
}

// openWriter opens an output of the packing that its name ends in.
func openWriter(name string, part *partial, f outFile, durable bool) *Writer {
	_, ending := CutPacking(name)
	kinds := map[string]string{".gz": "gzip", ".zst": "zstd"}
	return openKind(kinds[ending])(name, part, f, durable)
}
