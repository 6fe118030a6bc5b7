package corpus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sync/semaphore"
)

// ErrReaderGone is returned when standard output or a pipe has no reader any
// more, as after "| head". It is no fault of the run, which may end quietly.
// A program that wants to see it must ignore SIGPIPE.
var ErrReaderGone = errors.New("the reader of the output is gone")

// Writer writes lines to a file, compressed with gzip or zstd when the file's
// name ends in .gz or .zst. It is for one goroutine; compression and writing
// happen on others.
//
// The file is written as NAME.partial and gets its name in Close, so what a
// failed run leaves never looks whole. Standard output, named "-", and what is
// not a regular file, such as a pipe or /dev/null, is written directly.
//
// Compressed output is a sequence of frames (zstd) or members (gzip), each of
// them whole lines: a frame ends with the first line that brings it to 2 MiB,
// before and after a line above 8 MiB, and at Sync. So its bytes depend on the
// lines and the places of Sync only.
type Writer struct {
	name   string // as given, for messages
	path   string // the final file; "" when written directly
	file   outFile
	durab  bool // file can be synced
	codec  codec
	size   int // bytes at which a frame ends
	frame  *frame
	stream streamEncoder // for long lines, made for the first
	free   chan *frame
	room   *semaphore.Weighted // bytes of lines in frames on their way
	queue  chan *frame
	ended  chan struct{}
	done   bool  // closed or aborted
	result error // of Close

	failed  atomic.Pointer[error]
	written int64 // by the writing goroutine, read by others after a barrier
}

// frame is a piece of output on its way.
type frame struct {
	src     []byte
	out     []byte
	ready   chan struct{} // out is complete
	barrier chan struct{} // not nil: nothing to write, close it
	enc     encoder
}

// Uncompressed bytes of a frame. Against frames of 4 MiB, those of 2 MiB cost
// 0.6% in size and hold 7 MiB of memory instead of 12 for each in flight (zstd,
// Chinese articles).
const (
	compressedFrame = 2 << 20
	plainFrame      = 1 << 20
)

// inFlight is how many frames there are: one being filled, one being written,
// and up to four being compressed, at 140 MB/s each (zstd) or 100 (gzip).
func inFlight() int { return 2 + min(runtime.GOMAXPROCS(0), 4) }

// Create starts an output. A regular file of that name stays as it is until
// Close replaces it.
func Create(name string) (*Writer, error) {
	if name == Stdin {
		return newWriter("standard output", stdout{os.Stdout}, isRegular(os.Stdout), plainCodec, plainFrame), nil
	}
	path, direct, err := resolve(name)
	if err != nil {
		return nil, fmt.Errorf("creating output: %w", err)
	}
	if direct {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("opening output: %w", err)
		}
		return openWriter(name, "", f, false), nil
	}
	f, err := os.Create(path + PartialSuffix)
	if err != nil {
		return nil, fmt.Errorf("creating output: %w", err)
	}
	return openWriter(name, path, f, true), nil
}

// OpenAt goes on with an output that was not closed: its partial file is cut
// to position, which Sync has returned, and continued there. It fails when the
// file is gone or shorter than that.
func OpenAt(name string, position int64) (*Writer, error) {
	path, direct, err := resolve(name)
	if err == nil && (name == Stdin || direct) {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, fmt.Errorf("continuing output %s: %w", name, err)
	}
	f, err := os.OpenFile(path+PartialSuffix, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("continuing output: %w", err)
	}
	if err := cut(f, position); err != nil {
		return nil, errors.Join(fmt.Errorf("continuing output %s: %w", name, err), f.Close())
	}
	w := openWriter(name, path, f, true)
	w.written = position
	return w, nil
}

func openWriter(name, path string, f outFile, durable bool) *Writer {
	codec, size := plainCodec, plainFrame
	switch {
	case strings.HasSuffix(name, ".gz"):
		codec, size = gzipCodec, compressedFrame
	case strings.HasSuffix(name, ".zst"):
		codec, size = zstdCodec, compressedFrame
	}
	w := newWriter(name, f, durable, codec, size)
	w.path = path
	return w
}

func newWriter(name string, f outFile, durable bool, c codec, size int) *Writer {
	frames := inFlight()
	w := &Writer{
		name: name, file: f, durab: durable, codec: c, size: size, room: semaphore.NewWeighted(int64(frames * size)),
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

// weight is what a frame takes of w.room.
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

// WriteLine writes a line, given in parts, and its end. The line must not hold a
// '\n'; it is copied, or written before WriteLine returns. An error may be that
// of an earlier line.
func (w *Writer) WriteLine(parts ...[]byte) error {
	if w.done {
		return fmt.Errorf("writing %s: %w", w.name, os.ErrClosed)
	}
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
	w.frame.src = append(w.frame.src, '\n')
	if len(w.frame.src) >= w.size {
		w.send()
	}
	return w.err()
}

// send hands the current frame on and takes a free one, waiting for it when
// the output is slower than its source.
func (w *Writer) send() {
	f := w.frame
	_ = w.room.Acquire(context.Background(), w.weight(f)) // without an end, no error
	go func() {
		f.out = w.codec(f, f.out[:0])
		f.ready <- struct{}{}
	}()
	w.queue <- f
	w.frame = <-w.free
}

// reuse empties a buffer, or drops it if one long line has made it large.
func reuse(b []byte, size int) []byte {
	if cap(b) > 2*size {
		return nil
	}
	return b[:0]
}

// Flush hands what was written so far to whoever reads the output at its other
// end. Only plain output to a pipe or a terminal has such a reader; elsewhere it
// does nothing, so that the bytes of a file do not depend on when it was called.
func (w *Writer) Flush() error {
	if !w.done && w.path == "" && !w.durab && w.size == plainFrame && len(w.frame.src) > 0 {
		w.send()
	}
	return w.err()
}

// Sync ends the current frame, brings all of it to the disk and returns the
// size of the file then: a position at which OpenAt can go on. For a pipe it
// only flushes.
func (w *Writer) Sync() (position int64, err error) {
	if w.done {
		return 0, fmt.Errorf("writing %s: %w", w.name, os.ErrClosed)
	}
	w.drained()
	if w.err() == nil && w.durab {
		if err := w.file.Sync(); err != nil {
			w.fail(err)
		}
	}
	return w.written, w.err()
}

// Close writes what is left, brings it to the disk and gives the file its
// name. Unless it returns nil there is no whole output. Called again it
// returns the same.
func (w *Writer) Close() error {
	if w.done {
		return w.result
	}
	_, err := w.Sync()
	if err == nil && w.written == 0 && w.size == compressedFrame {
		w.send() // an empty file is not a valid gzip file
		_, err = w.Sync()
	}
	w.result = errors.Join(err, w.stop())
	if w.result == nil && w.path != "" {
		w.result = publish(w.path)
	}
	return w.result
}

// Abort gives the output up: what is written stays in the partial file. After
// Close it does nothing, so it can be deferred.
func (w *Writer) Abort() error {
	if w.done {
		return nil
	}
	w.result = fmt.Errorf("writing %s: given up", w.name)
	return w.stop()
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
