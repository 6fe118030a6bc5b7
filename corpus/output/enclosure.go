package output

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/semaphore"
)

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
	if w.part == nil {
		return fmt.Errorf("writing %s: this format is no stream: name a file", w.name)
	}
	w.size, w.enclosure = enclosedFrame, e
	w.room = semaphore.NewWeighted(int64(cap(w.free) * w.size))
	w.codec = func(f *frame, dst []byte) []byte {
		out, err := e.Frame(dst, f.src)
		if err != nil {
			w.fail(err)
		}
		return out
	}
	return nil
}

// closeEnclosure writes what belongs behind the last frame.
func (w *Writer) closeEnclosure() error {
	if w.enclosure == nil {
		return nil
	}
	w.drained()
	if w.err() != nil {
		return w.err()
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
