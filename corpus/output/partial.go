package output

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/base/claim"
	"github.com/firstseen/firstseen/internal/base/durable"
	"github.com/firstseen/firstseen/internal/base/step"
)

// ErrBusy is returned if another run is writing the output.
var ErrBusy = errors.New("another run is writing it")

// outFile is the part of an *os.File used by a Writer.
type outFile interface {
	io.Writer
	io.ReaderAt
	io.Closer
	Sync() error
}

// partial is the file of an incomplete output, locked against other runs until it has its name.
type partial struct {
	path  string // of the whole file
	claim *claim.Claim
	aside string // new name of an earlier partial file
}

// newPartial creates the partial file of an output. It never overwrites content, which may be the
// only copy of documents known to an index. It puts such a file aside, unless it is worthless.
func newPartial(path string, worthless ...FileID) (p partial, err error) {
	p.path = path
	for {
		c, err := makeOrTake(path)
		if err != nil {
			return p, err
		}
		size, err := c.Size()
		if err == nil && size == 0 {
			p.claim = c
			return p, nil
		}
		if id := c.ID(); err == nil { // not reused: its new content would count as worthless
			p.aside, err = clearAway(c, path+input.PartialSuffix, id != FileID{} && slices.Contains(worthless, id))
		}
		if err := errors.Join(err, c.Release()); err != nil {
			return p, err
		}
	}
}

// SyncNames makes the names of incomplete outputs survive a power cut, with one sync for each folder.
// Some file systems do not keep a new file's name with its sync. Nil outputs are left out.
func SyncNames(outs ...*Writer) error {
	synced := map[string]bool{}
	for _, w := range outs {
		if w == nil || w.part.path == "" || synced[filepath.Dir(w.part.path)] {
			continue
		}
		if err := durable.SyncName(w.part.path); err != nil {
			return err
		}
		synced[filepath.Dir(w.part.path)] = true
	}
	return nil
}

// makeOrTake claims the partial file of an output, and creates it if missing.
func makeOrTake(path string) (*claim.Claim, error) {
	for {
		f, err := os.OpenFile(path+input.PartialSuffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			err = f.Close()
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		c, err := take(path)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, claim.ErrMoved) {
			return c, err
		}
		// Another run put it aside or finished it meanwhile.
	}
}

// clearPartial frees the name of an output's partial file.
func clearPartial(path string, worthless bool) (aside string, err error) {
	c, err := take(path)
	if err != nil {
		return "", err
	}
	aside, err = clearAway(c, path+input.PartialSuffix, worthless)
	return aside, errors.Join(err, c.Release())
}

// clearAway removes an empty or worthless partial file. It renames any other to the first free name
// of NAME.1, NAME.2, ...
func clearAway(c *claim.Claim, name string, worthless bool) (aside string, err error) {
	size, err := c.Size()
	switch {
	case err == nil && (size == 0 || worthless):
		return "", c.Remove()
	case err == nil:
		err = c.Sync()
	}
	if err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		aside = fmt.Sprintf("%s.%d", name, n)
		// Reserve the name first: a rename would replace an existing file.
		f, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			err = f.Close()
		}
		if err == nil {
			err = c.Rename(aside, durable.Rename)
		}
		if err != nil {
			return "", fmt.Errorf("putting %s aside: %w", name, err)
		}
		return aside, nil
	}
}

// FileID distinguishes a file from all others, even later ones with its name. Zero means unknown.
type FileID = claim.ID

// take claims the existing partial file of an output.
func take(path string) (*claim.Claim, error) {
	name := path + input.PartialSuffix
	info, err := os.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is in the way and is not a regular file: move it away, or choose another name", name)
	}
	if err != nil {
		return nil, err
	}
	c, err := claim.Take(name)
	if errors.Is(err, claim.ErrTaken) {
		return nil, fmt.Errorf("%s: %w; wait for it to end, or choose another name", name, ErrBusy)
	}
	return c, err
}

// publish gives the file its name, durably. It fails if another file has replaced the partial file.
func (p partial) publish() error {
	if err := step.Done("closed " + filepath.Base(p.path)); err != nil {
		return err
	}
	if err := p.claim.Rename(p.path, durable.Rename); err != nil {
		return err
	}
	return step.Done("named " + filepath.Base(p.path))
}

// giveUp releases the file, and removes it if it is empty or useless.
func (p partial) giveUp(useless bool) error {
	size, err := p.claim.Size()
	if err == nil && (size == 0 || useless) {
		err = p.claim.Remove()
	}
	return errors.Join(err, p.claim.Release())
}

// cut truncates a file to a mark and seeks there.
func cut(f *os.File, at Mark) error {
	if err := at.check(f); err != nil {
		return err
	}
	if err := f.Truncate(at.Size); err != nil {
		return err
	}
	_, err := f.Seek(at.Size, io.SeekStart)
	return err
}

// takeAt claims and opens the partial file of an output, and truncates it to a mark.
func takeAt(path string, at Mark) (p partial, f *os.File, err error) {
	c, err := take(path)
	if err != nil {
		return p, nil, err
	}
	if f, err = c.Open(); err != nil {
		return p, nil, errors.Join(err, c.Release())
	}
	if err = cut(f, at); err != nil {
		return p, nil, errors.Join(err, f.Close(), c.Release())
	}
	return partial{path: path, claim: c}, f, nil
}

// CutPartial truncates the partial file of an output to a mark from Sync, and reports whether it
// did. A file that does not match stays unchanged.
func CutPartial(name string, at Mark) (cutBack bool, err error) {
	path, direct, err := resolve(name)
	if err != nil || direct || at.Size == 0 {
		return false, err
	}
	part, f, err := takeAt(path, at)
	switch {
	case err == nil:
		return true, errors.Join(f.Close(), part.claim.Release())
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errOtherFile):
		return false, nil
	}
	return false, fmt.Errorf("cutting output: %w", err)
}

// Published reports whether an output that was complete at the mark has its name. It also makes the
// name durable: the run that gave it may have ended too early.
func Published(name string, at Mark) (bool, error) {
	path, direct, err := resolve(name)
	if err != nil || direct {
		return direct, err
	}
	mark, err := markOf(path)
	if err != nil || mark != at {
		return false, err
	}
	return true, durable.SyncName(path)
}

// Mark records how far an output was written, to continue there, and identifies the file.
type Mark struct {
	Size int64  `json:"size"` // of the file in bytes
	Tail uint64 `json:"tail"` // XXH3 of the last 64 KiB, or of all bytes if fewer
}

const tailSize = 64 << 10

// errOtherFile is returned for a file that does not match its mark.
var errOtherFile = errors.New("it is not the file that the run wrote, or it was changed since")

// tailOf returns the last bytes before size, as many as a mark covers.
func tailOf(f io.ReaderAt, size int64) (tail []byte, err error) {
	tail = make([]byte, min(size, tailSize))
	_, err = io.ReadFull(io.NewSectionReader(f, size-int64(len(tail)), size), tail)
	return tail, err
}

// markAt returns the mark of the first size bytes of a file.
func markAt(f io.ReaderAt, size int64) (Mark, error) {
	tail, err := tailOf(f, size)
	return Mark{Size: size, Tail: xxh3.Hash(tail)}, err
}

// check returns errOtherFile if a file does not match the mark.
func (m Mark) check(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if m.Size < 0 || info.Size() < m.Size {
		return fmt.Errorf("%s has %d bytes, not at least %d: %w", f.Name(), info.Size(), m.Size, errOtherFile)
	}
	if found, err := markAt(f, m.Size); err != nil || found != m {
		return cmp.Or(err, fmt.Errorf("%s: %w", f.Name(), errOtherFile))
	}
	return nil
}

// MarkOf returns the mark of a complete output. For a missing one, its size is -1.
func MarkOf(name string) (Mark, error) {
	path, _, err := resolve(name)
	if err != nil {
		return Mark{}, err
	}
	return markOf(path)
}

// markOf is MarkOf for a path with links resolved.
func markOf(path string) (Mark, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Mark{Size: -1}, nil
	}
	if err != nil {
		return Mark{}, err
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return Mark{}, err
	}
	return markAt(f, info.Size())
}

// RecordSum returns the checksum of a record without its end.
func RecordSum(raw []byte) uint64 { return xxh3.Hash(raw) }

// AddRecord adds a record to an order-sensitive checksum, which is 0 for no records.
func AddRecord(sum, record uint64) uint64 {
	return (bits.RotateLeft64(sum*0x9e3779b97f4a7c15, 29) + record) | 1
}
