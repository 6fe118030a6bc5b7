package input

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/corpus/compress"
)

// Open opens an input other than standard input. The error names it.
func (in Input) Open() (*compress.File, error) {
	f, err := os.Open(in.File())
	switch {
	case err != nil:
		return nil, fmt.Errorf("opening input: %w", err)
	case in.Member != nil && in.Member.Checked():
		return &compress.File{Reader: Content(&in.Member.Member, f, in.Member.maxRatio), Closer: f}, nil
	case in.Member != nil:
		section := in.Member.stored(f)
		return &compress.File{Reader: section, At: section, Closer: f}, nil
	case in.Size < 0:
		return &compress.File{Reader: f, Closer: f}, nil
	}
	return &compress.File{Reader: f, At: f, Closer: f}, nil
}

// OpenAhead opens an input that may be decoded before its turn: a regular file, or a member
// of an archive. It returns nil for any other, and for one that cannot be opened: reading it
// meets the error again.
func (in Input) OpenAhead() *compress.File {
	if in.Path == Stdin || in.Size < 0 {
		return nil
	}
	// Opening a pipe would wait for its writer.
	if info, err := os.Stat(in.File()); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := in.Open()
	if err != nil {
		return nil
	}
	return f
}

// openRaw opens the bytes of a file, or of a member, as they are stored.
func (in Input) openRaw() (*compress.File, error) {
	f, err := os.Open(in.File())
	switch {
	case err != nil:
		return nil, fmt.Errorf("opening input: %w", err)
	case in.Member == nil:
		return &compress.File{Reader: f, At: f, Closer: f}, nil
	}
	section := in.Member.stored(f)
	return &compress.File{Reader: section, At: section, Closer: f}, nil
}

// File is the name of the file that an input is, or is in; "-" is standard input.
func (in Input) File() string {
	if in.Member != nil {
		return in.Member.in.path
	}
	return in.Path
}

// edgeSize is how many bytes at each end of an input a Fingerprint reads.
const edgeSize = 64 << 10

// Fingerprint returns the XXH3 of the size and the first and last 64 KiB of a file, as stored. It reads
// no more than that.
func Fingerprint(in Input) (sum uint64, err error) {
	f, err := in.openRaw()
	if err != nil {
		return 0, err
	}
	defer f.Close() // only read
	size, err := f.Size()
	if err != nil {
		return 0, err
	}
	h := xxh3.New()
	_, _ = fmt.Fprintln(h, size) // never fails
	last := max(min(size, edgeSize), size-edgeSize)
	for _, part := range []io.Reader{io.NewSectionReader(f.At, 0, edgeSize), io.NewSectionReader(f.At, last, edgeSize)} {
		if _, err := io.Copy(h, part); err != nil {
			return 0, err
		}
	}
	return h.Sum64(), nil
}

// Head returns the first bytes of an input as stored, which identify a compression.
func (in Input) Head() ([]byte, error) {
	f, err := in.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	head, err := headOf(f)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", in.Name, err)
	}
	return head, nil
}

func headOf(f io.Reader) ([]byte, error) {
	head := make([]byte, compress.HeadSize)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return head[:n], nil
}
