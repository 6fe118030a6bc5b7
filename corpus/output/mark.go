package output

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/zeebo/xxh3"
)

// Mark is how far an output was written: a place at which it can be continued,
// and enough to know the file again.
type Mark struct {
	Size int64  `json:"size"` // bytes of the file
	Tail uint64 `json:"tail"` // XXH3 of the last 64 KiB of these, of all if they are fewer
}

const tailSize = 64 << 10

// errOtherFile is the error of a file other than the marked one.
var errOtherFile = errors.New("it is not the file that was written before, or was changed")

// tailOf returns the end of the first bytes of a file, as many as a mark knows.
func tailOf(f *os.File, size int64) (tail []byte, err error) {
	tail = make([]byte, min(size, tailSize))
	_, err = io.ReadFull(io.NewSectionReader(f, size-int64(len(tail)), size), tail)
	return tail, err
}

// check returns the tail of a file up to the mark, and errOtherFile if it is not
// the one that was marked.
func (m Mark) check(f *os.File) (tail []byte, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if m.Size < 0 || info.Size() < m.Size {
		return nil, fmt.Errorf("%s has %d bytes of at least %d: %w", f.Name(), info.Size(), m.Size, errOtherFile)
	}
	if tail, err = tailOf(f, m.Size); err != nil {
		return nil, err
	}
	if xxh3.Hash(tail) != m.Tail {
		return nil, fmt.Errorf("%s: %w", f.Name(), errOtherFile)
	}
	return tail, nil
}

// appendTail appends written bytes to the known end of a file, keeping at least the last 64 KiB.
func appendTail(tail, written []byte) []byte {
	written = written[max(0, len(written)-tailSize):]
	if len(tail)+len(written) > 2*tailSize {
		keep := copy(tail, tail[max(0, len(tail)-(tailSize-len(written))):])
		tail = tail[:keep]
	}
	return append(tail, written...)
}

// newMark describes an output of so many bytes that ends in tail.
func newMark(size int64, tail []byte) Mark {
	return Mark{Size: size, Tail: xxh3.Hash(tail[max(0, len(tail)-tailSize):])}
}
