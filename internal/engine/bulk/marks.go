package bulk

import (
	"bufio"
	"bytes"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/firstseen/firstseen/corpus/compress"
)

// ErrMarks is returned for marks that do not belong to the features.
var ErrMarks = errors.New("the marks do not belong to these features")

// marks reads ascending places from one file, or from the files of a folder, which it merges: engines
// write sorted parts.
type marks struct {
	files markFiles
	next  Place // the next mark
	some  bool  // whether there is a next mark
}

// markFiles is a heap of the files that have a next mark, by that.
type markFiles []*markFile

func (f markFiles) Len() int           { return len(f) }
func (f markFiles) Less(i, j int) bool { return f[i].next < f[j].next }
func (f markFiles) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *markFiles) Push(x any)        { *f = append(*f, x.(*markFile)) }
func (f *markFiles) Pop() any {
	all := *f
	last := all[len(all)-1]
	*f = all[:len(all)-1]
	return last
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
		if m.files = append(m.files, f); !f.some {
			m.drop(len(m.files) - 1)
		}
	}
	heap.Init(&m.files)
	m.look()
	return m, nil
}

func (m *marks) look() {
	if m.some = len(m.files) > 0; m.some {
		m.next = m.files[0].next
	}
}

func (m *marks) drop(i int) {
	m.files[i].close()
	heap.Remove(&m.files, i)
}

func (m *marks) close() {
	for _, f := range m.files {
		f.close()
	}
}

// advance moves to the next different mark.
func (m *marks) advance() error {
	for last := m.next; m.some && m.next == last; m.look() {
		switch f := m.files[0]; {
		case f.advance() != nil:
			return f.err
		case f.some:
			heap.Fix(&m.files, 0)
		default:
			m.drop(0)
		}
	}
	return nil
}

// markFile reads ascending places, a decimal number a line. An engine may write one twice.
type markFile struct {
	name     string
	file     *os.File // nil for standard input
	in       *bufio.Reader
	decoders compress.Decoders
	line     int64
	next     Place // the next mark
	some     bool  // whether there is a next mark
	err      error // of the last advance
}

func openMarkFile(name string, stdin io.Reader) (_ *markFile, err error) {
	m := &markFile{name: name, decoders: compress.Bounds{MaxRatio: -1}.Decoders()}
	if name != "" {
		if m.file, err = os.Open(name); err != nil {
			return nil, err
		}
		stdin = m.file
	}
	decoded, err := m.decoders.Decode(name, compress.Counter{R: stdin, N: new(int64)})
	if err == nil {
		m.in = bufio.NewReaderSize(decoded, 256<<10)
		err = m.advance()
	}
	if err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

func (m *markFile) close() {
	m.decoders.Close()
	if m.file != nil {
		m.file.Close() // it was only read
	}
}

// advance moves to the next different mark.
func (m *markFile) advance() error {
	m.err = m.read()
	return m.err
}

func (m *markFile) read() error {
	for first := m.line == 0; ; {
		line, err := nextLine(m.in)
		if err == io.EOF {
			m.some = false
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		m.line++
		p, ok := parsePlace(bytes.TrimRight(line, "\r\n"))
		switch {
		case !ok:
			return fmt.Errorf("%w: %s:%d is %.40q, not a place", ErrMarks, m.name, m.line, line)
		case !first && p < m.next:
			return fmt.Errorf("%w: %s:%d is less than the line before: sort the places as numbers", ErrMarks, m.name, m.line)
		case first || p > m.next:
			m.next, m.some = p, true
			return nil
		}
	}
}
