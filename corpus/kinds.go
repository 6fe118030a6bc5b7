package corpus

import (
	"bytes"
	"errors"
	"io"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
)

// Kind is the way in which a format finds its records.
type Kind uint8

const (
	ByEnds   Kind = iota // a separator stands between records: Format.Cutter
	ByFrames             // records have their length, or are alone in an input: Format.Frames
	AtRandom             // the file has a description, and is not read in order: Format.Open
)

// defaults are the methods that most formats have no need for.
type defaults struct{}

func (defaults) Recognize([]byte) bool { return false }

func (defaults) Cutter() Cutter { return nil }

func (defaults) Frames(int) Frames { return nil }

func (defaults) Open(io.ReaderAt, int64, Limits) (Rows, error) { return nil, errors.ErrUnsupported }

func (defaults) Enclose([]input.Input, bool) (output.Enclosure, error) { return nil, nil }

var errNoFields = errors.New("only lines of JSON can be annotated")

func (defaults) Annotate(*output.Writer, []byte, Slot, []byte) error { return errNoFields }

func (defaults) Answer(*output.Writer, []byte, string, []byte) error { return errNoFields }

// Lines is the kind of formats whose records are lines, or end by another Cutter.
type Lines struct{ defaults }

// Kind is ByEnds.
func (Lines) Kind() Kind { return ByEnds }

// Noun is "line".
func (Lines) Noun() string { return "line" }

// Cutter returns a LineCutter.
func (Lines) Cutter() Cutter { return LineCutter{} }

// Keep writes a line.
func (Lines) Keep(w *output.Writer, raw []byte) error { return w.WriteRecord(raw, newline) }

var newline = []byte{'\n'}

// LineCutter finds lines that end with LF or CR LF.
type LineCutter struct{}

// Begin passes over a byte order mark, and rejects UTF-16.
func (LineCutter) Begin(head []byte) (passed int, reject string) {
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return 3, ""
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return 0, RejectUTF16
	}
	return 0, ""
}

// RejectUTF16 is the reason why no record of an input in UTF-16 is a document.
const RejectUTF16 = "the file is UTF-16, not UTF-8: say so with --encoding utf-16le or utf-16be"

// Cut counts whole lines.
func (LineCutter) Cut(data []byte, most int) (end, lines int) {
	if most == 1 {
		end = bytes.IndexByte(data, '\n') + 1
		return end, min(end, 1)
	}
	end = bytes.LastIndexByte(data, '\n') + 1
	if lines = bytes.Count(data[:end], newline); lines <= most {
		return end, lines
	}
	end = 0
	for range most {
		end += bytes.IndexByte(data[end:], '\n') + 1
	}
	return end, most
}

// End looks for the end of a line.
func (LineCutter) End(data []byte, from int) int {
	i := bytes.IndexByte(data[from:], '\n')
	if i < 0 {
		return -1
	}
	return from + i + 1
}

// Strip takes the line end away. A line of white space is empty.
func (LineCutter) Strip(line []byte) (raw []byte, empty bool) {
	raw = bytes.TrimSuffix(bytes.TrimSuffix(line, newline), []byte{'\r'})
	return raw, len(bytes.TrimSpace(raw)) == 0
}

// CutByEnds is the method Cut of a [Cutter] by its method End.
func CutByEnds(c Cutter, data []byte, most int) (end, records int) {
	for records < most {
		next := c.End(data[end:], 0)
		if next < 0 {
			break
		}
		end, records = end+next, records+1
	}
	return end, records
}

// Framed is the kind of formats whose records a [Frames] finds.
type Framed struct{ defaults }

// Kind is ByFrames.
func (Framed) Kind() Kind { return ByFrames }

// Noun is "record".
func (Framed) Noun() string { return "record" }

// FrameDefaults are those of records without numbers, in inputs without a head, that may begin
// anywhere in a compressed file.
type FrameDefaults struct{}

// Starts is false.
func (FrameDefaults) Starts([]byte) bool { return false }

// Begin does nothing.
func (FrameDefaults) Begin() {}

// Numbered is false.
func (FrameDefaults) Numbered() bool { return false }

// Head is none.
func (FrameDefaults) Head() (head []byte, has bool) { return nil, false }

// NumberedFrames are the defaults of records with numbers. Behind damage no number is known, so nothing
// is read there.
type NumberedFrames struct {
	FrameDefaults
	sections int
}

// Numbered is true.
func (*NumberedFrames) Numbered() bool { return true }

// Begin counts the sections: the part after damage is the second.
func (f *NumberedFrames) Begin() { f.sections++ }

// Damaged reports whether the section stands behind damage.
func (f *NumberedFrames) Damaged() bool { return f.sections > 1 }

// BadRest hands out all remaining bytes as one bad record.
func BadRest(data []byte, end SectionEnd, number int64, reason string) Frame {
	if len(data) < overlongHead && end == GoesOn { // the bytes shown must not depend on how much has come
		return Frame{Need: overlongHead}
	}
	return Frame{Take: len(data), Pass: 1 << 62, Record: true, Bad: reason, Number: number}
}

// Random is the kind of formats whose files are not read from their beginning to their end. Such a
// file cannot be a pipe, and cannot be compressed as a whole.
type Random struct{ defaults }

// Kind is AtRandom.
func (Random) Kind() Kind { return AtRandom }

// Noun is "row".
func (Random) Noun() string { return "row" }
