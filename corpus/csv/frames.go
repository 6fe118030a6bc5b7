package csv

import (
	"bytes"
	"fmt"

	"github.com/firstseen/firstseen/corpus"
)

// frames finds the rows of one input.
type frames struct {
	corpus.NumberedFrames
	format    Format
	maxRecord int
	head      *header // nil until read
	line      int64   // in which the next row begins
	inLine    bool    // in a bad line; the rest of it is skipped
}

// shown is the number of bytes of a bad record to wait for.
const shown = 4 << 10

// Head returns the first row.
func (f *frames) Head() (head []byte, has bool) {
	if f.head != nil {
		head = f.head.first
	}
	return head, true
}

// Frame returns the row, or other frame, at the start of data.
func (f *frames) Frame(data []byte, end corpus.SectionEnd) corpus.Frame {
	switch {
	case f.Damaged():
		return corpus.BadRest(data, end, f.line, "it comes after damaged data, so the start of a row cannot be found")
	case f.inLine:
		return corpus.Frame{Pass: f.pass(data)}
	case f.head == nil:
		return f.header(data, end)
	case len(data) == 1 && data[0] == '\r' && end == corpus.GoesOn:
		return corpus.Frame{Need: 2}
	}
	if n := blank(data); n > 0 {
		f.line++
		return corpus.Frame{Pass: n}
	}
	last := end != corpus.GoesOn
	n, open, err := row(data[:min(len(data), f.maxRecord+2)], f.head.delimiter, last && len(data) <= f.maxRecord+2)
	switch {
	case err != nil:
		return f.bad(data, end, err.Error())
	case n > 0 && len(bytes.TrimRight(data[:n], "\r\n")) <= f.maxRecord:
		fr := corpus.Frame{Take: n, Pass: n, Record: true, Number: f.line}
		f.line += int64(bytes.Count(data[:n], newline))
		return fr
	case n == 0 && !last && len(data) < f.maxRecord+2:
		// A sender waiting for an answer to a row sends nothing more, so ask for one byte. Long
		// rows ask for more, to avoid examining the same bytes too often.
		if len(data) < 1<<20 {
			return corpus.Frame{Need: len(data) + 1}
		}
		return corpus.Frame{Need: min(len(data)+len(data)/2, f.maxRecord+2)}
	case n == 0 && open:
		return f.bad(data, end, fmt.Sprintf("a quote is not closed within the limit of %d bytes", f.maxRecord))
	}
	return f.bad(data, end, fmt.Sprintf("the row is longer than the limit of %d bytes", f.maxRecord))
}

// bad returns the line at the start of data as a bad record.
func (f *frames) bad(data []byte, end corpus.SectionEnd, reason string) corpus.Frame {
	if len(data) < shown && end == corpus.GoesOn && bytes.IndexByte(data, '\n') < 0 {
		return corpus.Frame{Need: len(data) + 1}
	}
	line := f.line
	n := f.pass(data)
	return corpus.Frame{Take: n, Pass: n, Record: true, Bad: reason, Number: line}
}

// pass moves to the next line, and returns how much of the current one is in data.
func (f *frames) pass(data []byte) int {
	n := bytes.IndexByte(data, '\n') + 1
	if f.inLine = n == 0; f.inLine {
		return len(data)
	}
	f.line++
	return n
}
