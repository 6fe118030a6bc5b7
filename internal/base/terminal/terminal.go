// Package terminal knows whether a stream is a terminal, and its style.
package terminal

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Of returns the terminal of a stream, or nil if it is none.
func Of(stream any) *os.File {
	if w, ok := stream.(interface{ Unwrap() io.Writer }); ok {
		stream = w.Unwrap()
	}
	if f, ok := stream.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// Style returns the columns of out's terminal, 0 if unknown, and whether to use colours.
func Style(out io.Writer) (columns int, colours bool) {
	f := Of(out)
	if f == nil {
		return 0, false
	}
	columns, _, _ = term.GetSize(int(f.Fd())) // 0 if it is unknown
	return columns, os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// terminal is standard input typed at a terminal.
type terminal struct {
	*os.File
	stderr io.Writer
	told   bool
}

// Waiting returns standard input, which reports on a terminal that it waits.
func Waiting(stdin io.Reader, stderr io.Writer) io.Reader {
	if f := Of(stdin); f != nil {
		return &terminal{File: f, stderr: stderr}
	}
	return stdin
}

func (t *terminal) Read(p []byte) (int, error) {
	if !t.told {
		t.told = true
		fmt.Fprintln(t.stderr, "firstseen: waiting for standard input from this terminal: end it with Ctrl-D, or give files")
	}
	return t.File.Read(p)
}
