package corpus

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// File is an input that is open.
type File struct {
	io.Reader             // from its beginning
	At        io.ReaderAt // nil where it can only be read from its beginning to its end
	io.Closer
}

// Open opens an input that is not standard input. The error names it.
func (in Input) Open() (*File, error) {
	f, err := os.Open(in.File())
	switch {
	case err != nil:
		return nil, fmt.Errorf("opening input: %w", err)
	case in.member != nil && in.member.Checked():
		return &File{Reader: content(&in.member.Member, f, in.member.maxRatio), Closer: f}, nil
	case in.member != nil:
		section := in.member.stored(f)
		return &File{Reader: section, At: section, Closer: f}, nil
	case in.Size < 0:
		return &File{Reader: f, Closer: f}, nil
	}
	return &File{Reader: f, At: f, Closer: f}, nil
}

// openRaw opens the bytes of a file, or of a member, as they are stored.
func (in Input) openRaw() (*File, error) {
	f, err := os.Open(in.File())
	switch {
	case err != nil:
		return nil, fmt.Errorf("opening input: %w", err)
	case in.member == nil:
		return &File{Reader: f, At: f, Closer: f}, nil
	}
	section := in.member.stored(f)
	return &File{Reader: section, At: section, Closer: f}, nil
}

// Size is how many bytes an input has, as stored, that can be read at any place.
func (f *File) Size() (int64, error) {
	if section, ok := f.At.(*io.SectionReader); ok {
		return section.Size(), nil
	}
	file, ok := f.At.(*os.File)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// File is the name of the file that an input is, or is in; "-" is standard input.
func (in Input) File() string {
	if in.member != nil {
		return in.member.in.path
	}
	return in.Path
}
