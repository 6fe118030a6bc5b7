package bulk

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/firstseen/firstseen/corpus/compress"
)

// marks are the places of keys that stand in two documents, ascending, a decimal number a line. An
// engine may write one twice.
type marks struct {
	name     string
	file     *os.File // nil for standard input
	in       *bufio.Reader
	decoders compress.Decoders
	line     int64
	next     Place // the least mark not passed
	some     bool  // there is a next one
}

// ErrMarks is returned for marks that are not those of the features.
var ErrMarks = errors.New("these are no marks of these features")

// openMarks opens a file of marks, compressed or not. Without a name it reads stdin.
func openMarks(name string, stdin io.Reader) (_ *marks, err error) {
	m := &marks{name: name, decoders: compress.Decoders{MaxWindow: compress.DefaultMaxWindow, MaxRatio: -1}}
	if name != "" && name != "-" {
		if m.file, err = os.Open(name); err != nil {
			return nil, err
		}
		stdin = m.file
	}
	decoded, err := m.decoders.Decode(name, compress.Counter{R: stdin, N: new(int64)})
	if err == nil {
		m.in = bufio.NewReaderSize(decoded, 1<<20)
		err = m.advance()
	}
	if err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

func (m *marks) close() {
	m.decoders.Close()
	if m.file != nil {
		m.file.Close() // it was only read
	}
}

// advance passes the next mark, and those equal to it.
func (m *marks) advance() error {
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
			return fmt.Errorf("%w: %s:%d is %q, and no place", ErrMarks, m.name, m.line, line)
		case !first && p < m.next:
			return fmt.Errorf("%w: %s:%d is less than the line before: sort the places as numbers", ErrMarks, m.name, m.line)
		case first || p > m.next:
			m.next, m.some = p, true
			return nil
		}
	}
}
