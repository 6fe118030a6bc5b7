package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"os"

	"github.com/zeebo/xxh3"
)

// Mark records how far an output was written, to continue there, and identifies the file.
type Mark struct {
	Size int64  `json:"size"` // of the file in bytes
	Tail uint64 `json:"tail"` // XXH3 of the last 64 KiB, or of all bytes if fewer
}

const tailSize = 64 << 10

// errOtherFile is returned for a file that does not match its mark.
var errOtherFile = errors.New("it is not the file that the run wrote, or it was changed since")

// tailOf returns the last bytes before size, as many as a mark covers.
func tailOf(f *os.File, size int64) (tail []byte, err error) {
	tail = make([]byte, min(size, tailSize))
	_, err = io.ReadFull(io.NewSectionReader(f, size-int64(len(tail)), size), tail)
	return tail, err
}

// check returns the tail of a file up to the mark, or errOtherFile if the file does not match.
func (m Mark) check(f *os.File) (tail []byte, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if m.Size < 0 || info.Size() < m.Size {
		return nil, fmt.Errorf("%s has %d bytes, not at least %d: %w", f.Name(), info.Size(), m.Size, errOtherFile)
	}
	if tail, err = tailOf(f, m.Size); err != nil {
		return nil, err
	}
	if xxh3.Hash(tail) != m.Tail {
		return nil, fmt.Errorf("%s: %w", f.Name(), errOtherFile)
	}
	return tail, nil
}

// appendTail appends written bytes to the tail of a file. It keeps at least the last 64 KiB.
func appendTail(tail, written []byte) []byte {
	written = written[max(0, len(written)-tailSize):]
	if len(tail)+len(written) > 2*tailSize {
		keep := copy(tail, tail[max(0, len(tail)-(tailSize-len(written))):])
		tail = tail[:keep]
	}
	return append(tail, written...)
}

func newMark(size int64, tail []byte) Mark {
	return Mark{Size: size, Tail: xxh3.Hash(tail[max(0, len(tail)-tailSize):])}
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
	tail, err := tailOf(f, info.Size())
	return newMark(info.Size(), tail), err
}

// RecordSum returns the checksum of a record without its end.
func RecordSum(raw []byte) uint64 { return xxh3.Hash(raw) }

// AddRecord adds a record to an order-sensitive checksum, which is 0 for no records.
func AddRecord(sum, record uint64) uint64 {
	return (bits.RotateLeft64(sum*0x9e3779b97f4a7c15, 29) + record) | 1
}
