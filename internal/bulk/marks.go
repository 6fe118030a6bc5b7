package bulk

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// Marks are the places of keys that stand in two documents, ascending, a decimal number a line. An
// engine may write one twice.
type Marks struct {
	name string
	in   *bufio.Reader
	done []func()
	line int64
	next Place
	some bool // there is a next one
}

// ErrMarks is returned for marks that are not those of the features.
var ErrMarks = errors.New("these are no marks of these features")

// OpenMarks opens a file of marks, plain, .gz or .zst by its content. Without a name it reads stdin.
func OpenMarks(name string, stdin io.Reader) (*Marks, error) {
	m := &Marks{name: name}
	if name != "" && name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		m.done = append(m.done, func() { f.Close() })
		stdin = f
	}
	if err := m.unpack(bufio.NewReaderSize(stdin, 1<<20)); err != nil {
		m.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := m.Advance(); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

func (m *Marks) unpack(in *bufio.Reader) error {
	head, _ := in.Peek(4)
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		z, err := gzip.NewReader(in)
		if err != nil {
			return err
		}
		in = bufio.NewReaderSize(z, 1<<20)
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return err
		}
		m.done = append(m.done, z.Close)
		in = bufio.NewReaderSize(z, 1<<20)
	}
	m.in = in
	return nil
}

// Close closes the file.
func (m *Marks) Close() {
	for _, done := range m.done {
		done()
	}
}

// Next returns the least mark not passed, and whether there is one.
func (m *Marks) Next() (Place, bool) { return m.next, m.some }

// Advance passes the next mark, and those equal to it.
func (m *Marks) Advance() error {
	for first := !m.some && m.line == 0; ; {
		line, err := m.in.ReadSlice('\n')
		if err == io.EOF && len(line) == 0 {
			m.some = false
			return nil
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		m.line++
		p, ok := parsePlace(bytes.TrimRight(line, "\r\n"))
		switch {
		case !ok:
			return fmt.Errorf("%w: %s:%d is %q, and no place", ErrMarks, m.name, m.line, line)
		case !first && p < m.next:
			return fmt.Errorf("%w: %s:%d is less than the line before: sort the places as numbers", ErrMarks, m.name, m.line)
		case first || p > m.next:
			m.next, m.some = p, true
			return nil
		}
	}
}
