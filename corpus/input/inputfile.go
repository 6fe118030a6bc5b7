package input

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/corpus/compress"
)

// Open opens an input other than standard input. The error names the input.
func (in Input) Open() (*compress.File, error) { return in.open(false) }

// open opens an input or, if raw is set, the stored bytes of a member.
func (in Input) open(raw bool) (*compress.File, error) {
	f, err := os.Open(in.File())
	if err != nil {
		return nil, fmt.Errorf("opening input: %w", err)
	}
	file := &compress.File{Reader: f, Closer: f}
	switch {
	case in.Member == nil:
		if in.Size >= 0 || raw {
			file.At = f
		}
	case in.Member.Checked() && !raw:
		file.Reader = Content(&in.Member.Member, f, in.Member.in.ratio)
	default:
		archive := f
		if in.Member.Spooled() {
			archive = in.Member.in.spool
		}
		section := in.Member.Stored(archive)
		file.Reader, file.At = section, section
	}
	return file, nil
}

// OpenAhead opens an input that may be decoded ahead: a regular file, or a member of an archive. It
// returns nil for any other, and for one that cannot be opened: reading it returns the error again.
func (in Input) OpenAhead() *compress.File {
	if in.Path == Stdin || in.Size < 0 {
		return nil
	}
	// Opening a pipe would wait for its writer.
	if info, err := os.Stat(in.File()); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, _ := in.Open() // nil after an error
	return f
}

// File returns the name of the input's file, or of the archive around it; "-" is standard input.
func (in Input) File() string {
	if in.Member != nil {
		return in.Member.in.path
	}
	return in.Path
}

// edgeSize is the number of bytes that Fingerprint reads at each end of an input.
const edgeSize = 64 << 10

// Fingerprint returns the XXH3 of an input's stored size and its first and last 64 KiB, without
// reading more.
func Fingerprint(in Input) (sum uint64, err error) {
	f, err := in.open(true)
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
	if _, err = io.Copy(h, io.MultiReader(io.NewSectionReader(f.At, 0, edgeSize), io.NewSectionReader(f.At, last, edgeSize))); err != nil {
		return 0, err // a sum of a part would make the input another one
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
	head := make([]byte, compress.HeadSize)
	n, err := compress.ReadFull(f, head)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading %s: %w", in.Name, err)
	}
	return head[:n], nil
}

// Compressed reports whether an input is readable and begins like a compressed file.
func (in Input) Compressed() bool {
	head, err := in.Head()
	return err == nil && compress.CompressionOf(head) != ""
}

// StoredInput reads an input as stored. It can restart once, until Forget is called.
type StoredInput struct {
	io.Reader
	io.Closer
	File *compress.File // nil unless the input allows random access
	rest io.Reader      // not read yet
	kept bytes.Buffer   // already read
}

// OpenStored opens an input, unless file is not nil. The error names the input.
func OpenStored(in Input, stdin io.Reader, file *compress.File) (_ *StoredInput, err error) {
	s := &StoredInput{rest: stdin, Closer: io.NopCloser(nil)}
	if in.Path != Stdin {
		if file == nil {
			if file, err = in.Open(); err != nil {
				return nil, err
			}
		}
		if s.rest, s.Closer = file, file; file.At != nil {
			s.File = file
		}
	}
	s.Reader = io.TeeReader(s.rest, &s.kept)
	return s, nil
}

// Again restarts the input, for the last time.
func (s *StoredInput) Again() { s.Reader = io.MultiReader(&s.kept, s.rest) }

// Forget discards the data kept for Again.
func (s *StoredInput) Forget() { s.Reader, s.kept = s.rest, bytes.Buffer{} }
