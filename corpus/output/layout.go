package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/semaphore"
)

// Lead sets the bytes in front of the first record of the output. They are written with that record, or
// by Close if there is none, and not at all in a continued output with content. Further calls must give
// the same bytes: records of different columns do not belong in one file.
func (w *Writer) Lead(head []byte) error {
	if head == nil || w.head == nil {
		w.head = head
		w.owed = head != nil && w.written == 0 && len(w.frame.src) == 0
		return nil
	}
	if !SameHead(w.head, head) {
		return fmt.Errorf("writing %s: %w", w.name, ErrOtherHead)
	}
	return nil
}

// ErrOtherHead is returned if records of different columns would come into one file.
var ErrOtherHead = fmt.Errorf("the inputs begin with different names of columns: use --out-dir, or give each kind a run of its own with the same --index")

// lead writes what stands in front of the first record, if that was not done.
func (w *Writer) lead() {
	if w.owed {
		w.owed = false
		w.frame.src = append(w.frame.src, w.head...)
		if len(w.head) > 0 && w.head[len(w.head)-1] != '\n' {
			w.frame.src = append(w.frame.src, '\n')
		}
	}
}

// Head is what stands in front of the records of the output, nil for nothing.
func (w *Writer) Head() []byte { return w.head }

// SameHead reports whether records behind one head may stand behind another: they differ
// in a byte order mark and in the end of the line at most.
func SameHead(a, b []byte) bool {
	bare := func(h []byte) []byte {
		return bytes.TrimRight(bytes.TrimPrefix(h, []byte("\xef\xbb\xbf")), "\r\n")
	}
	return bytes.Equal(bare(a), bare(b))
}

// ArrayHead has an output be an array of JSON, if it is what [Writer.Lead] is given: Seal
// closes the array.
const ArrayHead = "[\n"

// arrayFoot closes it, in a frame of its own.
const arrayFoot = "\n]\n"

// IsArray reports whether the output is an array of JSON.
func (w *Writer) IsArray() bool { return string(w.head) == ArrayHead }

// WriteElement writes JSON, given in parts: in an array behind a comma unless it is the first, and
// elsewhere as a line.
func (w *Writer) WriteElement(parts ...[]byte) error {
	switch {
	case !w.IsArray():
		parts = append(parts, []byte{'\n'})
	case !w.owed:
		parts = append([][]byte{[]byte(",\n")}, parts...)
	}
	return w.WriteRecord(parts...)
}

// closeArray writes the end of the array, unless the output was opened behind that: a run may be stopped
// when its outputs are complete and have no names yet.
func (w *Writer) closeArray() error {
	if w.done || !w.IsArray() {
		return w.err()
	}
	w.lead()
	if _, err := w.EndFrame(); err != nil {
		return err
	}
	w.frame.src = append(w.frame.src, arrayFoot...)
	if foot := w.encode(w.frame, w.frame.out[:0]); bytes.HasSuffix(w.tail, foot) {
		w.frame.src = w.frame.src[:0]
	}
	w.head = nil // it is closed
	return nil
}

// Enclosure makes a file of records.
type Enclosure interface {
	// Frame appends to dst what stands in the file for some records. Several goroutines
	// may call it at once.
	Frame(dst, records []byte) ([]byte, error)
	// End returns the bytes behind the last frame of a file of this size, or none if they are there.
	End(file io.ReaderAt, size int64) ([]byte, error)
}

// enclosedFrame is how many bytes of records make a frame of an enclosed output.
const enclosedFrame = 8 << 20

// Enclose has an output be enclosed. Nothing may have been written since it was opened.
func (w *Writer) Enclose(e Enclosure) error {
	if w.part.path == "" {
		return fmt.Errorf("writing %s: this format is no stream: name a file", w.name)
	}
	w.size, w.enclosure = enclosedFrame, e
	w.room = semaphore.NewWeighted(int64(cap(w.free) * w.size))
	return nil
}

// closeEnclosure writes what belongs behind the last frame.
func (w *Writer) closeEnclosure() error {
	if w.enclosure == nil {
		return nil
	}
	if err := w.drained(false); err != nil {
		return err
	}
	file, ok := w.file.(io.ReaderAt)
	if !ok {
		return fmt.Errorf("writing %s: %w", w.name, errors.ErrUnsupported)
	}
	end, err := w.enclosure.End(file, w.written)
	if err == nil && len(end) > 0 {
		_, err = direct{w}.Write(end)
	}
	if err != nil {
		w.fail(err)
	}
	return w.err()
}
