package bulk

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/parquet"
)

// ErrMarks is returned for marks that do not belong to the features.
var ErrMarks = errors.New("the marks do not belong to these features")

// marks reads ascending places from one file, or from the files of a folder, which it merges: engines
// write sorted parts.
type marks struct {
	files []*markFile // those that have a next mark, by that
	next  Place       // the next mark
	some  bool        // whether there is a next mark
}

// namesOfMarks returns the files of marks: one, or those below a folder but for hidden ones and those
// that begin with _, such as _SUCCESS.
func namesOfMarks(name string) (names []string, err error) {
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return []string{name}, nil // the open reports an error
	}
	err = filepath.WalkDir(name, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != name && strings.ContainsAny(e.Name()[:1], "._"):
			if e.IsDir() {
				return fs.SkipDir
			}
		case !e.IsDir():
			names = append(names, path)
		}
		return nil
	})
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("%w: the folder %s has no file of marks", ErrMarks, name)
	}
	return names, err
}

// openMarks opens a file or a folder of marks, compressed or not. Without a name it reads stdin.
func openMarks(name string, stdin io.Reader) (*marks, error) {
	m := new(marks)
	names := []string{""}
	if name != "" && name != "-" {
		var err error
		if names, err = namesOfMarks(name); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		f, err := openMarkFile(name, stdin)
		if err != nil {
			m.close()
			return nil, err
		}
		if !f.some {
			f.close()
			continue
		}
		m.files = append(m.files, f)
	}
	slices.SortFunc(m.files, func(a, b *markFile) int { return cmp.Compare(a.next, b.next) })
	m.look()
	return m, nil
}

func (m *marks) look() {
	if m.some = len(m.files) > 0; m.some {
		m.next = m.files[0].next
	}
}

func (m *marks) close() {
	for _, f := range m.files {
		f.close()
	}
}

// advance moves to the next different mark.
func (m *marks) advance() error {
	for last := m.next; m.some && m.next == last; m.look() {
		f := m.files[0]
		if err := f.advance(); err != nil {
			return err
		}
		others := m.files[1:]
		switch {
		case !f.some:
			f.close()
			m.files = others
		case len(others) > 0 && f.next > others[0].next: // mostly not: engines write parts one after the other
			at, _ := slices.BinarySearchFunc(others, f.next, func(f *markFile, next Place) int { return cmp.Compare(f.next, next) })
			copy(m.files, others[:at])
			m.files[at] = f
		}
	}
	return nil
}

// markFile reads ascending places: a decimal number a line, or a column of Parquet. An engine may
// write one twice.
type markFile struct {
	name     string
	file     *os.File // nil for standard input
	in       *bufio.Reader
	numbers  *parquet.Numbers // nil for lines
	decoders compress.Decoders
	line     int64 // or row
	next     Place // the next mark
	some     bool  // whether there is a next mark
}

func openMarkFile(name string, stdin io.Reader) (_ *markFile, err error) {
	m := &markFile{name: name, decoders: compress.Bounds{MaxRatio: -1}.Decoders()}
	if name != "" {
		if m.file, err = os.Open(name); err != nil {
			return nil, err
		}
		stdin = m.file
		m.numbers, err = openNumbers(m.file)
	}
	if m.numbers == nil && err == nil {
		var decoded io.Reader
		decoded, err = m.decoders.Decode(name, compress.Counter{R: stdin, N: new(int64)})
		m.in = bufio.NewReaderSize(decoded, 256<<10)
	}
	if err == nil {
		err = m.advance()
	}
	if err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

// openNumbers opens the marks of a Parquet file. It returns nil for another file. A file with such a name
// is one: if it is empty or cut, its marks are lost.
func openNumbers(f *os.File) (*parquet.Numbers, error) {
	head, end := make([]byte, 4), filepath.Ext(f.Name())
	if n, _ := f.ReadAt(head, 0); !(parquet.Format{}).Recognize(head[:n]) && end != ".parquet" && end != ".parq" {
		return nil, nil // an error comes again when it is read as lines
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	numbers, err := parquet.OpenNumbers(f, info.Size(), "v")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return numbers, nil
}

func (m *markFile) close() {
	m.decoders.Close()
	if m.file != nil {
		m.file.Close() // it was only read
	}
}

// advance moves to the next mark, which may be equal.
func (m *markFile) advance() error {
	p, err := m.place()
	m.line++
	switch {
	case err == io.EOF:
		m.some = false
		return nil
	case errors.Is(err, ErrMarks):
		return err
	case err != nil:
		return fmt.Errorf("%s: %w", m.name, err)
	case m.some && p < m.next:
		unit := "line"
		if m.numbers != nil {
			unit = "row"
		}
		return fmt.Errorf("%w: %s:%d is less than the %s before: sort the places as numbers", ErrMarks, m.name, m.line, unit)
	}
	m.next, m.some = p, true
	return nil
}

// place reads a place.
func (m *markFile) place() (p Place, err error) {
	if m.numbers != nil {
		n, err := m.numbers.Next()
		if n < 0 {
			err = fmt.Errorf("%w: %s:%d is %d, not a place", ErrMarks, m.name, m.line+1, n)
		}
		return Place(n), err
	}
	line, err := nextLine(m.in)
	p, ok := parsePlace(bytes.TrimRight(line, "\r\n"))
	if err == nil && !ok {
		err = fmt.Errorf("%w: %s:%d is %.40q, not a place", ErrMarks, m.name, m.line+1, line)
	}
	return p, err
}
