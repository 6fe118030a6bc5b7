// Package output writes records to files. A [Writer] compresses them by the ending of the file
// name, and names the file when it is complete. A [Tree] is a folder of such files, one for each
// input or of a fixed size. [CheckOutputs] rejects conflicts with inputs, indexes and each other.
//
// The bytes of an output depend only on the records and the calls of [Writer.Sync], never on timing
// or the number of processors.
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

// ErrReaderGone is returned when standard output or a pipe has lost its reader, as with "| head".
// The run may then end quietly. A program that wants to see this error must ignore SIGPIPE.
var ErrReaderGone = errors.New("the reader of the output is gone")

// Writer writes records to a file, compressed with gzip or zstd if its name ends in .gz or .zst. It
// must be used by one goroutine only; other goroutines compress and write.
//
// The file is written as NAME.partial, which is locked, and gets its name in Close. So the output
// of a failed run never looks complete. Standard output, named "-", pipes and devices such as
// /dev/null are written directly.
//
// Compressed output is a sequence of frames (zstd) or members (gzip) of whole records. A frame ends
// after the first record that brings it to 2 MiB, before and after a record above 8 MiB, and at
// Sync. So the bytes depend only on the records and the places of Sync.
type Writer struct {
	name  string  // as given, for messages
	part  partial // without a path when written directly
	file  outFile
	durab bool // file can be synced
	packing
	frame *frame

	enclosure Enclosure // nil for none
	head      []byte    // see Lead
	owed      bool      // head is not yet written
	free      chan *frame
	room      *semaphore.Weighted // bytes of records in frames in flight
	queue     chan *frame
	ended     chan struct{}
	done      bool  // closed or aborted
	result    error // of Close

	failed  atomic.Pointer[error]
	written int64 // set by drain, used by others only when all frames are free
}

// frame is a piece of output in flight.
type frame struct {
	src   []byte
	out   []byte
	ready chan struct{} // out is complete
}

// Uncompressed bytes of a frame. Frames of 2 MiB cost 0.6% more in size than 4 MiB. In flight, each
// holds 7 MiB of memory instead of 12 (zstd, Chinese articles).
const (
	compressedFrame = 2 << 20
	// Plain frames stay in the L2 cache until they are written.
	plainFrame = 256 << 10
)

// inFlight returns the number of frames: one being filled, one being written, and up to four being
// compressed, at 140 MB/s each (zstd) or 160 (gzip).
func inFlight() int { return 2 + min(runtime.GOMAXPROCS(0), 4) }

// Name returns the name of the output as given, for messages.
func (w *Writer) Name() string { return w.name }

// Aside returns the name under which Create put aside the partial file of an earlier run, or "".
func (w *Writer) Aside() string { return w.part.aside }

// ID identifies the partial file. It is zero if the output is written directly.
func (w *Writer) ID() FileID {
	if w.part.claim == nil {
		return FileID{}
	}
	return w.part.claim.ID()
}

func newWriter(name string, part partial, f outFile, durable bool, p packing) *Writer {
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

// drain writes the frames in order. After an error it only empties the queue.
func (w *Writer) drain() {
	defer close(w.ended)
	for f := range w.queue {
		<-f.ready
		if w.failed.Load() == nil {
			n, err := w.file.Write(f.out)
			w.written += int64(n)
			if err != nil {
				w.fail(err)
			}
		}
		w.room.Release(w.weight(f))
		f.src, f.out = reuse(f.src, w.size), reuse(f.out, w.size)
		w.free <- f
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

// WriteRecord writes a record, given in parts, with its end. It copies the record, or writes it
// before it returns. The error may be that of an earlier record.
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
	for _, p := range parts {
		w.frame.src = append(w.frame.src, p...)
	}
	if len(w.frame.src) >= w.size {
		if w.send(); w.frame.src == nil { // the output is long: to grow this would cost as much again
			w.frame.src = make([]byte, 0, w.size+w.size/4)
		}
	}
	return w.err()
}

// Write is WriteRecord, for a record in one piece.
func (w *Writer) Write(record []byte) (int, error) { return len(record), w.WriteRecord(record) }

// WriteAlone is WriteRecord, but gives the record a separate frame or member in compressed output.
func (w *Writer) WriteAlone(parts ...[]byte) error {
	if w.size != compressedFrame {
		return w.WriteRecord(parts...)
	}
	w.endFrame()
	err := w.WriteRecord(parts...)
	w.endFrame()
	return err
}

// endFrame sends the current frame, unless it is empty.
func (w *Writer) endFrame() {
	if !w.done && len(w.frame.src) > 0 {
		w.send()
	}
}

// send queues the current frame and takes a free one. It waits if the output is too slow.
func (w *Writer) send() {
	f := w.frame
	_ = w.room.Acquire(context.Background(), w.weight(f)) // never fails: the context never ends
	go func() {
		f.out = w.encode(f, f.out[:0])
		f.ready <- struct{}{}
	}()
	w.queue <- f
	w.frame = <-w.free
}

// reuse empties a buffer, or drops it if a long record made it large.
func reuse(b []byte, size int) []byte {
	if cap(b) > 2*size {
		return nil
	}
	return b[:0]
}

// Live reports whether a reader may wait for every record: output is plain, to a pipe or terminal.
func (w *Writer) Live() bool { return w.part.path == "" && !w.durab && w.size == plainFrame }

// Flush sends all records to the reader of a Live output. The bytes of a file do not depend on it.
func (w *Writer) Flush() error {
	if w.Live() {
		w.endFrame()
	}
	return w.err()
}

// Sync ends the current frame, syncs the file to disk and returns the mark at which OpenAt can
// continue. For a pipe it only flushes.
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

// EndFrame is Sync for a file that will not be continued. It ends the current frame, for the same
// bytes, but does not wait for the disk.
func (w *Writer) EndFrame() (Mark, error) {
	if w.done {
		return Mark{}, fmt.Errorf("writing %s: %w", w.name, os.ErrClosed)
	}
	if err := w.drained(false); err != nil || w.part.path == "" {
		return Mark{Size: w.written}, err
	}
	at, err := markAt(w.file, w.written)
	if err != nil {
		w.fail(err)
	}
	return at, w.err()
}

// Seal is Sync after the last record. It returns the mark of the complete file, for Published. Only
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

// Close writes the rest, syncs it to disk and gives the file its name. After an error the output is
// incomplete, or its name may not survive a power failure. Further calls return the same result.
// Like Abort and Discard, it does nothing for nil.
func (w *Writer) Close() error {
	if w == nil {
		return nil
	}
	if w.done {
		return w.result
	}
	_, err := w.Seal()
	w.result = errors.Join(err, w.stop())
	if w.result == nil && w.part.path != "" {
		if err := w.part.publish(); err != nil {
			w.result = fmt.Errorf("finishing output %s: %w", w.name, err)
		}
	}
	w.result = errors.Join(w.result, w.part.claim.Release())
	return w.result
}

// Abort abandons the output. The written bytes stay in the partial file; an empty one is removed.
// After Close it does nothing, so it can be deferred.
func (w *Writer) Abort() error { return w.giveUp(false) }

// Discard is Abort for outputs useless while incomplete: it removes the partial file.
func (w *Writer) Discard() error { return w.giveUp(true) }

func (w *Writer) giveUp(useless bool) error {
	if w == nil || w.done {
		return nil
	}
	w.result = fmt.Errorf("writing %s: given up", w.name)
	err := w.stop()
	if w.part.path != "" {
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
