package output

import (
	"bytes"
	"fmt"
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
