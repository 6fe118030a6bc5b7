package corpus

import (
	"bytes"
	"errors"
	"io"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/base/lexical"
)

// Kind is the way a format finds its records.
type Kind uint8

const (
	ByEnds   Kind = iota // an end follows each record: Format.Cutter
	ByFrames             // each record states its length, or is a whole input: Format.Frames
	AtRandom             // the file has metadata, and is not read in order: Format.Open
)

// defaults implements the methods that most formats do not need.
type defaults struct{}

func (defaults) Recognize([]byte) bool { return false }

func (defaults) Cutter() Cutter { return nil }

func (defaults) Frames(int) Frames { return nil }

func (defaults) Open(io.ReaderAt, int64, Limits) (Rows, error) { return nil, errors.ErrUnsupported }

func (defaults) Enclose([]input.Input, bool) (output.Enclosure, error) { return nil, nil }

var errNoFields = errors.New("only lines of JSON can be annotated")

func (defaults) Annotate(*output.Writer, []byte, Slot, []byte) error { return errNoFields }

func (defaults) Answer(*output.Writer, []byte, string, []byte) error { return errNoFields }

// Lines is the kind of formats whose records are lines, or are ended by another Cutter.
type Lines struct{ defaults }

func (Lines) Kind() Kind { return ByEnds }

func (Lines) Noun() string { return "line" }

// Cutter returns a LineCutter.
func (Lines) Cutter() Cutter { return LineCutter{} }

// Keep writes a line.
func (Lines) Keep(w *output.Writer, raw []byte) error { return w.WriteRecord(raw, newline) }

var newline = []byte{'\n'}

// LineCutter finds lines that end with LF or CR LF.
type LineCutter struct{}

// Begin skips a byte order mark, and rejects UTF-16.
func (LineCutter) Begin(head []byte) (passed int, reject string) {
	switch {
	case bytes.HasPrefix(head, []byte(lexical.ByteOrderMark)):
		return 3, ""
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return 0, lexical.RejectUTF16
	}
	return 0, ""
}

// End finds the end of a line.
func (LineCutter) End(data []byte, from int) int {
	i := bytes.IndexByte(data[from:], '\n')
	if i < 0 {
		return -1
	}
	return from + i + 1
}

// Strip removes the line end. A line of white space is empty.
func (LineCutter) Strip(line []byte) (raw []byte, empty bool) {
	raw = bytes.TrimSuffix(bytes.TrimSuffix(line, newline), []byte{'\r'})
	return raw, len(bytes.TrimSpace(raw)) == 0
}

// Framed is the kind of formats whose records are found by a [Frames].
type Framed struct{ defaults }

func (Framed) Kind() Kind { return ByFrames }

func (Framed) Noun() string { return "record" }

// FrameDefaults implements Frames for records without numbers, in inputs without a head, that may
// begin anywhere in a compressed file.
type FrameDefaults struct{}

func (FrameDefaults) Starts([]byte) bool { return false }

func (FrameDefaults) Begin() {}

func (FrameDefaults) Numbered() bool { return false }

func (FrameDefaults) Head() (head []byte, has bool) { return nil, false }

// NumberedFrames implements Frames for numbered records. After damage, numbers are unknown, so
// nothing is read.
type NumberedFrames struct {
	FrameDefaults
	sections int
}

func (*NumberedFrames) Numbered() bool { return true }

// Begin counts the sections: the data after damage is the second.
func (f *NumberedFrames) Begin() { f.sections++ }

// Damaged reports whether the section follows damage.
func (f *NumberedFrames) Damaged() bool { return f.sections > 1 }

// BadRest returns all remaining data as one bad record.
func BadRest(data []byte, end SectionEnd, number int64, reason string) Frame {
	if len(data) < overlongHead && end == GoesOn { // more data must not change the bytes shown
		return Frame{Need: overlongHead}
	}
	return Frame{Take: len(data), Pass: 1 << 62, Record: true, Bad: reason, Number: number}
}

// Random is the kind of formats whose files are not read from start to end. Such a file cannot be a
// pipe, and cannot be compressed as a whole.
type Random struct{ defaults }

func (Random) Kind() Kind { return AtRandom }

func (Random) Noun() string { return "row" }
