package output

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"

	"golang.org/x/sync/semaphore"
)

// ErrReaderGone is returned when standard output or a pipe has no reader any
// more, as after "| head". It is no fault of the run, which may end quietly.
// A program that wants to see it must ignore SIGPIPE.
var ErrReaderGone = errors.New("the reader of the output is gone")

// Writer writes records to a file, compressed with gzip or zstd if its name ends in .gz or .zst. It is for
// one goroutine; compression and writing happen on others.
//
// The file is written as NAME.partial, which is locked, and gets its name in Close. So the output of a
// failed run never looks complete. Standard output, named "-", pipes and devices such as /dev/null are
// written directly.
//
// Compressed output is a sequence of frames (zstd) or members (gzip) of whole records. A frame ends with
// the first record that brings it to 2 MiB, before and after a record above 8 MiB, and at Sync. So its
// bytes depend only on the records and the places of Sync.
type Writer struct {
	name  string   // as given, for messages
	part  *partial // nil when written directly
	file  outFile
	durab bool // file can be synced
	packing
	frame  *frame
	stream encoder // made for the first long record

	enclosure Enclosure // nil for none
	head      []byte    // see Lead
	owed      bool      // head is to be written
	free      chan *frame
	room      *semaphore.Weighted // bytes of records in frames on their way
	queue     chan *frame
	ended     chan struct{}
	done      bool  // closed or aborted
	result    error // of Close

	failed atomic.Pointer[error]
	// By the writing goroutine, read by others after a barrier.
	written int64
	tail    []byte // the end of the written bytes; only for partial files
}

// frame is a piece of output on its way.
type frame struct {
	src     []byte
	out     []byte
	ready   chan struct{} // out is complete
	barrier chan struct{} // not nil: nothing to write, close it
	enc     encoder       // made when the frame is first compressed
}

// Uncompressed bytes of a frame. Against frames of 4 MiB, those of 2 MiB cost
// 0.6% in size and hold 7 MiB of memory instead of 12 for each in flight (zstd,
// Chinese articles).
const (
	compressedFrame = 2 << 20
	// A plain frame stays in the second level cache until it is written.
	plainFrame = 256 << 10
)

// inFlight is how many frames there are: one being filled, one being written,
// and up to four being compressed, at 140 MB/s each (zstd) or 100 (gzip).
func inFlight() int { return 2 + min(runtime.GOMAXPROCS(0), 4) }

// Name is the output's name as it was given, for messages.
func (w *Writer) Name() string { return w.name }

// Aside is the name under which Create has put the partial file of an earlier
// run, and "" when there was none.
func (w *Writer) Aside() string {
	if w.part == nil {
		return ""
	}
	return w.part.aside
}

// ID identifies the partial file. It is zero if the output is written directly.
func (w *Writer) ID() FileID {
	if w.part == nil {
		return FileID{}
	}
	return w.part.claim.ID()
}

func newWriter(name string, part *partial, f outFile, durable bool, p packing) *Writer {
	frames := inFlight()
	w := &Writer{
		name: name, part: part, file: f, durab: durable, packing: p, room: semaphore.NewWeighted(int64(frames * p.size)),
		free: make(chan *frame, frames), queue: make(chan *frame, frames), ended: make(chan struct{}),
	}
	for range frames {
		w.free <- &frame{ready: make(chan struct{}, 1)}
	}
	w.frame = <-w.free
	go w.drain()
	return w
}

// drain writes the frames in their order. After an error it only empties the
// queue.
func (w *Writer) drain() {
	defer close(w.ended)
	for f := range w.queue {
		if f.barrier != nil {
			close(f.barrier)
			continue
		}
		<-f.ready
		if w.failed.Load() == nil {
			n, err := w.file.Write(f.out)
			w.wrote(f.out[:n])
			if err != nil {
				w.fail(err)
			}
			if w.durab && w.part != nil {
				writeOut(w.file, w.written-int64(n), w.written)
			}
		}
		w.room.Release(w.weight(f))
		f.src, f.out = reuse(f.src, w.size), reuse(f.out, w.size)
		w.free <- f
	}
}

// wrote notes the bytes written to the file.
func (w *Writer) wrote(p []byte) {
	w.written += int64(len(p))
	if w.part != nil {
		w.tail = appendTail(w.tail, p)
	}
}

// weight returns the share of a frame in w.room.
func (w *Writer) weight(f *frame) int64 { return int64(min(len(f.src), cap(w.free)*w.size)) }

func (w *Writer) fail(err error) {
	if errors.Is(err, syscall.EPIPE) {
		err = fmt.Errorf("%w: %w", ErrReaderGone, err)
	}
	err = fmt.Errorf("writing %s: %w", w.name, err)
	w.failed.CompareAndSwap(nil, &err)
}

func (w *Writer) err() error {
	if err := w.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// WriteRecord writes a record, given in parts, with what ends it. It is copied, or
// written before WriteRecord returns. An error may be that of an earlier record.
func (w *Writer) WriteRecord(parts ...[]byte) error {
	if w.done {
		return fmt.Errorf("writing %s: %w", w.name, os.ErrClosed)
	}
	w.lead()
	length := 0
	for _, p := range parts {
		length += len(p)
	}
	if length > longFrames*w.size {
		return w.writeLong(parts)
	}
	if w.frame.src == nil && w.size == plainFrame {
		w.frame.src = make([]byte, 0, plainFrame+plainFrame/4)
	}
	for _, p := range parts {
		w.frame.src = append(w.frame.src, p...)
	}
	if len(w.frame.src) >= w.size {
		w.send()
	}
	return w.err()
}

// WriteAlone is WriteRecord, but a compressed output has the record in a frame or member
// of its own.
func (w *Writer) WriteAlone(parts ...[]byte) error {
	if w.size != compressedFrame {
		return w.WriteRecord(parts...)
	}
	w.endFrame()
	err := w.WriteRecord(parts...)
	w.endFrame()
	return err
}

// endFrame hands on the current frame, if anything is in it.
func (w *Writer) endFrame() {
	if !w.done && len(w.frame.src) > 0 {
		w.send()
	}
}

// send hands the current frame on and takes a free one, waiting for it when
// the output is slower than its source.
func (w *Writer) send() {
	f := w.frame
	_ = w.room.Acquire(context.Background(), w.weight(f)) // without an end, no error
	go func() {
		f.out = w.encode(f, f.out[:0])
		f.ready <- struct{}{}
	}()
	w.queue <- f
	w.frame = <-w.free
}

// reuse empties a buffer, or drops it if one long record has made it large.
func reuse(b []byte, size int) []byte {
	if cap(b) > 2*size {
		return nil
	}
	return b[:0]
}

// Live reports whether the output may have a reader that waits for every record: it
// is plain and goes to a pipe or a terminal.
func (w *Writer) Live() bool { return w.part == nil && !w.durab && w.size == plainFrame }

// Flush hands the bytes written so far to the reader of the output. Only plain output to a pipe or a
// terminal has one. Elsewhere Flush does nothing, so that the bytes of a file do not depend on its calls.
func (w *Writer) Flush() error {
	if w.Live() {
		w.endFrame()
	}
	return w.err()
}

// Sync ends the current frame, brings all of it to the disk and returns the
// place at which OpenAt can go on. For a pipe it only flushes.
func (w *Writer) Sync() (Mark, error) {
	at, err := w.EndFrame()
	if err == nil && w.durab {
		if err := w.file.Sync(); err != nil {
			w.fail(err)
		}
		err = w.err()
	}
	return at, err
}

// EndFrame is Sync for a file that will not be continued: it ends the current frame, so
// that the file has the same bytes, and does not wait for the disk.
func (w *Writer) EndFrame() (Mark, error) {
	if w.done {
		return Mark{}, fmt.Errorf("writing %s: %w", w.name, os.ErrClosed)
	}
	err := w.drained()
	return newMark(w.written, w.tail), err
}

// Seal is Sync behind the last record. It returns the mark of the complete file, for Published. Only
// Close may follow.
func (w *Writer) Seal() (Mark, error) {
	if err := w.closeEnclosure(); err != nil {
		return Mark{}, err
	}
	if err := w.closeArray(); err != nil {
		return Mark{}, err
	}
	if !w.done {
		w.lead()
	}
	at, err := w.Sync()
	if err == nil && w.written == 0 && w.size == compressedFrame {
		w.send() // an empty file is not a valid gzip file
		return w.Sync()
	}
	return at, err
}

// Close writes the rest, brings it to the disk and gives the file its name. After an error there is no
// complete output, or its name may not outlast a power cut. Further calls return the same.
func (w *Writer) Close() error {
	if w.done {
		return w.result
	}
	_, err := w.Seal()
	w.result = errors.Join(err, w.stop())
	if w.result == nil && w.part != nil {
		if err := w.part.publish(); err != nil {
			w.result = fmt.Errorf("finishing output %s: %w", w.name, err)
		}
	}
	w.result = errors.Join(w.result, w.part.release())
	return w.result
}

// Abort gives the output up. The written bytes stay in the partial file; an empty one is removed. After
// Close it does nothing, so it can be deferred.
func (w *Writer) Abort() error { return w.giveUp(false) }

// Discard is Abort for outputs without use in part: it removes the partial file.
func (w *Writer) Discard() error { return w.giveUp(true) }

// giveUp ends the writing of an output, and the use of its partial file.
func (w *Writer) giveUp(useless bool) error {
	if w.done {
		return nil
	}
	w.result = fmt.Errorf("writing %s: given up", w.name)
	err := w.stop()
	if w.part != nil {
		err = errors.Join(err, w.part.giveUp(useless))
	}
	return err
}

func (w *Writer) stop() error {
	w.done = true
	close(w.queue)
	<-w.ended
	if err := w.file.Close(); err != nil {
		return fmt.Errorf("closing %s: %w", w.name, err)
	}
	return nil
}
