package corpus

import "slices"

// copyTask is how many bytes one task of WriteRecords copies, at least.
const copyTask = 64 << 10

// WriteRecords writes records, each followed by end, as WriteRecord does one after the
// other. They are copied by tasks: run calls f with 0 to tasks-1, at the same time or
// not, and returns when all calls have.
func (w *Writer) WriteRecords(records [][]byte, end []byte, run func(tasks int, f func(task int))) error {
	if len(records) > 0 && !w.done {
		w.lead()
	}
	for len(records) > 0 {
		n := w.fitting(records, end)
		if n == 0 || w.done {
			if err := w.WriteRecord(records[0], end); err != nil {
				return err
			}
			records = records[1:]
			continue
		}
		w.copy(records[:n], end, run)
		records = records[n:]
		if len(w.frame.src) >= w.size {
			w.send()
		}
	}
	return w.err()
}

// fitting is how many of the records, the first, go into the current frame: up to the
// one that ends it, and none that is long.
func (w *Writer) fitting(records [][]byte, end []byte) (n int) {
	for size := len(w.frame.src); n < len(records) && size < w.size; n++ {
		length := len(records[n]) + len(end)
		if length > longFrames*w.size {
			break
		}
		size += length
	}
	return n
}

// copy appends records to the frame.
func (w *Writer) copy(records [][]byte, end []byte, run func(tasks int, f func(task int))) {
	w.starts = w.starts[:0]
	at := len(w.frame.src)
	for _, r := range records {
		w.starts = append(w.starts, at)
		at += len(r) + len(end)
	}
	tasks := max((at-len(w.frame.src))/copyTask, 1)
	if cap(w.frame.src) < at {
		w.frame.src = slices.Grow(w.frame.src, max(at, w.size+w.size/4)-len(w.frame.src))
	}
	w.frame.src = w.frame.src[:at]
	run(tasks, func(task int) {
		from, to := task*len(records)/tasks, (task+1)*len(records)/tasks
		for i := from; i < to; i++ {
			b := w.frame.src[w.starts[i]:]
			copy(b[copy(b, records[i]):], end)
		}
	})
}
