package input

import (
	"io"

	"github.com/firstseen/firstseen/corpus/compress"
)

// StoredInput is an input as stored. Until Forget, it can begin again.
type StoredInput struct {
	r    io.Reader
	File *compress.File // nil unless it can be read at any place
	kept []byte
	pos  int
	keep bool
	io.Closer
}

// OpenStored opens an input, unless ahead is the open file. The error names it.
func OpenStored(in Input, stdin io.Reader, ahead *compress.File) (*StoredInput, error) {
	if in.Path == Stdin {
		return &StoredInput{r: stdin, keep: true, Closer: io.NopCloser(nil)}, nil
	}
	f, err := ahead, error(nil)
	if f == nil {
		f, err = in.Open()
	}
	if err != nil {
		return nil, err
	}
	s := &StoredInput{r: f, keep: true, Closer: f}
	if f.At != nil {
		s.File = f
	}
	return s, nil
}

func (s *StoredInput) Read(p []byte) (int, error) {
	if s.pos < len(s.kept) {
		n := copy(p, s.kept[s.pos:])
		s.pos += n
		return n, nil
	}
	n, err := s.r.Read(p)
	if s.keep {
		s.kept = append(s.kept, p[:n]...)
		s.pos = len(s.kept)
	}
	return n, err
}

// Again has the input begin again, for the last time.
func (s *StoredInput) Again() { s.pos, s.keep = 0, false }

// Forget says that it need not begin again.
func (s *StoredInput) Forget() { s.keep, s.kept, s.pos = false, nil, 0 }

// Compressed reports whether an input begins as a compressed file does. An input that
// cannot be read does not.
func (in Input) Compressed() bool {
	head, err := in.Head()
	return err == nil && compress.CompressionOf(head) != ""
}
