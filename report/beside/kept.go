package beside

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/internal/durable"
	"github.com/firstseen/firstseen/report/lines"
)

// KeptFiles calls f, in order, for every input whose documents were all kept, or with others for
// every one whose documents were all removed. If each input is one document, these are the kept or
// the removed files. An input without documents is neither, nor is one with a bad record.
func KeptFiles(ctx context.Context, source *corpus.Source, inputs []corpus.Input, report *lines.Reports, others bool, f func(input int) error) error {
	at, documents, wanted := -1, 0, true
	settle := func() error {
		if at < 0 || documents == 0 || !wanted {
			return nil
		}
		return f(at)
	}
	err := Each(ctx, source, len(inputs), report, func(input int) error {
		err := settle()
		at, documents, wanted = input, 0, true
		return err
	}, func(doc *corpus.Document, line *lines.Line) error {
		documents++
		removed := line != nil && !line.Kept
		wanted = wanted && doc.Bad == nil && removed == others
		return nil
	})
	if err != nil {
		return err
	}
	return settle()
}

// Place puts a file at another name too: as a hard link if possible, else as a copy with its
// permissions and time. An existing file is replaced in one step, unless it is that very file. A
// member of an archive is unpacked, as a new file.
func Place(in corpus.Input, to string) (linked bool, err error) {
	if in.File() != in.Path {
		return false, unpack(in, to)
	}
	from, err := filepath.EvalSymlinks(in.Path)
	if err != nil { // a link to a link leads elsewhere
		return false, err
	}
	source, err := os.Stat(from)
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return false, err
	}
	there, err := os.Lstat(to)
	switch {
	case err == nil && os.SameFile(source, there):
		return true, nil
	case err == nil && there.IsDir():
		return false, fmt.Errorf("%s is a folder, where a file is to be", to)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, err
	case err != nil && os.Link(from, to) == nil:
		return true, nil
	}
	return false, copyFile(from, to, source)
}

// unpack writes a member of an archive to a file.
func unpack(in corpus.Input, to string) error {
	member, err := in.Open()
	if err != nil {
		return err
	}
	defer member.Close() // only read
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	err = durable.Replace(to, func(out *os.File) error {
		_, err := io.Copy(out, member)
		return err
	})
	if err != nil {
		return fmt.Errorf("unpacking %s: %w", in.Name, err)
	}
	return nil
}

func copyFile(from, to string, info fs.FileInfo) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() // only read
	err = durable.Replace(to, func(out *os.File) error {
		if err := out.Chmod(info.Mode().Perm()); err != nil {
			return err
		}
		_, err := io.Copy(out, in)
		return err
	})
	if err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}
