package compress

import (
	"errors"
	"io"
	"os"
)

// File is an open file, as stored.
type File struct {
	io.Reader             // from its beginning
	At        io.ReaderAt // nil if it can only be read from its beginning to its end
	io.Closer
}

// Size is how many bytes a file has that can be read at any place.
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
