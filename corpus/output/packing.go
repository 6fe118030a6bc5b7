package output

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// packing is the way in which an output is compressed.
type packing struct {
	kind       string         // as the keys of packings
	size       int            // bytes at which a frame ends
	newEncoder func() encoder // nil for none
}

// packings are those of "gzip", "zstd", and "" for none.
var packings = map[string]packing{
	"":     {"", plainFrame, nil},
	"gzip": {"gzip", compressedFrame, func() encoder { return gzip.NewWriter(nil) }},
	"zstd": {"zstd", compressedFrame, func() encoder {
		enc, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(compressedFrame),
			zstd.WithZeroFrames(true), zstd.WithLowerEncoderMem(true)) // fails on invalid options only
		return enc
	}},
}

// encoder compresses written bytes. It is made when it is first needed: small outputs need one.
type encoder interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// CutPacking cuts from the name of an output the ending by which it is compressed, ".gz" or
// ".zst", in capitals too; "" is none.
func CutPacking(name string) (rest, packing string) {
	packing = strings.ToLower(filepath.Ext(name))
	if packing != ".gz" && packing != ".zst" {
		return name, ""
	}
	return name[:len(name)-len(packing)], packing
}

// packingOf is the packing that the name of an output ends in.
func packingOf(name string) packing {
	_, ending := CutPacking(name)
	return packings[map[string]string{".gz": "gzip", ".zst": "zstd"}[ending]]
}

// encode turns the source of a frame into its output, in dst. Each frame keeps its own encoder, so
// frames are compressed side by side.
func (w *Writer) encode(f *frame, dst []byte) []byte {
	if w.enclosure != nil {
		out, err := w.enclosure.Frame(dst, f.src)
		if err != nil {
			w.fail(err)
		}
		return out
	}
	if w.newEncoder == nil {
		return f.src
	}
	if f.enc == nil {
		f.enc = w.newEncoder()
	}
	if enc, ok := f.enc.(*zstd.Encoder); ok {
		return enc.EncodeAll(f.src, dst)
	}
	out := bytes.NewBuffer(dst)
	f.enc.Reset(out)
	_, _ = f.enc.Write(f.src) // never fails: it writes to memory
	_ = f.enc.Close()
	return out.Bytes()
}

// inherit takes over the frames of a written output, with their memory and encoders: for small
// outputs, making these takes most of the time.
func (w *Writer) inherit(old *Writer) {
	if old.kind == w.kind && old.size == w.size {
		w.free, w.frame, w.room = old.free, old.frame, old.room
	}
}

// longFrames is a number of frames. A longer record is written at once, without a copy of it or of its
// compressed bytes.
const longFrames = 4

// direct writes to the file without frames. It is for when all frames are
// written.
type direct struct{ w *Writer }

func (d direct) Write(p []byte) (int, error) {
	n, err := d.w.file.Write(p)
	d.w.wrote(p[:n])
	return n, err
}

// drained ends the current frame and waits until all frames are written. drop lets go of their memory.
func (w *Writer) drained(drop bool) error {
	w.endFrame()
	frames := []*frame{w.frame}
	for len(frames) < cap(w.free) {
		frames = append(frames, <-w.free)
	}
	for i, f := range frames {
		if drop {
			*f = frame{ready: f.ready}
		}
		if i > 0 {
			w.free <- f
		}
	}
	return w.err()
}

// writeLong writes a long record as a frame of its own. Beside it there should be little in memory.
func (w *Writer) writeLong(parts [][]byte) error {
	if err := w.drained(true); err != nil {
		return err
	}
	if w.enclosure != nil {
		w.frame.src = slices.Concat(parts...)
		return w.drained(false)
	}
	var to io.Writer = direct{w}
	if w.newEncoder != nil {
		if w.stream == nil {
			w.stream = w.newEncoder()
		}
		w.stream.Reset(to)
		to = w.stream
	}
	for _, p := range parts {
		if _, err := to.Write(p); err != nil {
			w.fail(err)
			return w.err()
		}
	}
	if w.stream != nil {
		if err := w.stream.Close(); err != nil {
			w.fail(err)
		}
	}
	return w.err()
}
