package output

import "bytes"

// ArrayHead has an output be an array of JSON, if it is what [Writer.Lead] is given: Seal
// closes the array.
const ArrayHead = "[\n"

// arrayFoot closes it, in a frame of its own.
const arrayFoot = "\n]\n"

// IsArray reports whether the output is an array of JSON, whose elements WriteElement writes.
func (w *Writer) IsArray() bool { return string(w.head) == ArrayHead }

// WriteElement writes a record of an array, given in parts, behind a comma unless it is the
// first.
func (w *Writer) WriteElement(parts ...[]byte) error {
	if !w.owed {
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
	if foot := w.codec(w.frame, w.frame.out[:0]); bytes.HasSuffix(w.tail, foot) {
		w.frame.src = w.frame.src[:0]
	}
	w.head = nil // it is closed
	return nil
}
