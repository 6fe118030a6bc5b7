package output

import (
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// longFrames is a number of frames. A longer record is written at once, without a copy of it or of its
// compressed bytes.
const longFrames = 4

// streamEncoder compresses a long record on its way into the file.
type streamEncoder interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// newZstdEncoder fails only on invalid options, and these are constants.
func newZstdEncoder() *zstd.Encoder {
	enc, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(compressedFrame), zstd.WithZeroFrames(true), zstd.WithLowerEncoderMem(true))
	return enc
}

type plainStream struct{ io.Writer }

func (p *plainStream) Reset(w io.Writer) { p.Writer = w }
func (p *plainStream) Close() error      { return nil }

// direct writes to the file without frames. It is for when all frames are
// written.
type direct struct{ w *Writer }

func (d direct) Write(p []byte) (int, error) {
	n, err := d.w.file.Write(p)
	d.w.wrote(p[:n])
	return n, err
}

// drained ends the current frame and waits until all frames are written.
func (w *Writer) drained() {
	w.endFrame()
	barrier := make(chan struct{})
	w.queue <- &frame{barrier: barrier}
	<-barrier
}

// writeLong writes a long record as a frame of its own.
func (w *Writer) writeLong(parts [][]byte) error {
	w.drained()
	if w.err() != nil {
		return w.err()
	}
	w.dropFrames()
	if w.enclosure != nil {
		w.frame.src = slices.Concat(parts...)
		w.drained()
		return w.err()
	}
	if w.stream == nil {
		w.stream = w.newStream()
	}
	w.stream.Reset(direct{w})
	for _, p := range parts {
		if _, err := w.stream.Write(p); err != nil {
			w.fail(err)
			return w.err()
		}
	}
	if err := w.stream.Close(); err != nil {
		w.fail(err)
	}
	return w.err()
}

// dropFrames drops the memory of all frames, which are free and empty: there is a
// long record, and beside it there should be little.
func (w *Writer) dropFrames() {
	w.frame.src, w.frame.out, w.frame.enc = nil, nil, encoder{}
	for range len(w.free) {
		f := <-w.free
		f.src, f.out, f.enc = nil, nil, encoder{}
		w.free <- f
	}
}
