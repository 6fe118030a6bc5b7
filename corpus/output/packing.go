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

// packing is a way to compress an output.
type packing struct {
	kind       string         // key in packings
	size       int            // uncompressed bytes after which a frame ends
	newEncoder func() encoder // nil without compression
}

var packings = map[string]packing{
	"":     {"", plainFrame, nil},
	"gzip": {"gzip", compressedFrame, func() encoder { return gzip.NewWriter(nil) }},
	"zstd": {"zstd", compressedFrame, func() encoder {
		enc, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(compressedFrame),
			zstd.WithZeroFrames(true), zstd.WithLowerEncoderMem(true)) // only bad options fail
		return enc
	}},
}

// encoder compresses bytes. It is created on first use: small outputs need only one.
type encoder interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// CutPacking splits the ending of a compression off a name: ".gz", ".zst", in capitals too, or "".
func CutPacking(name string) (rest, packing string) {
	packing = strings.ToLower(filepath.Ext(name))
	if packing != ".gz" && packing != ".zst" {
		return name, ""
	}
	return name[:len(name)-len(packing)], packing
}

// packingOf returns the packing for the ending of a name.
func packingOf(name string) packing {
	_, ending := CutPacking(name)
	return packings[map[string]string{".gz": "gzip", ".zst": "zstd"}[ending]]
}

// encode appends the encoded frame to dst. Frames have their own encoders, to run in parallel.
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

// inherit takes over the frames of a closed output, with their memory and encoders. Creating these
// takes most of the time of a small output.
func (w *Writer) inherit(old *Writer) {
	if old.kind == w.kind && old.size == w.size {
		w.free, w.frame, w.room = old.free, old.frame, old.room
	}
}

// longFrames is the length in frames above which a record is written at once, without any copy.
const longFrames = 4

// direct writes to the file without frames. All frames must be written before.
type direct struct{ w *Writer }

func (d direct) Write(p []byte) (int, error) {
	n, err := d.w.file.Write(p)
	d.w.wrote(p[:n])
	return n, err
}

// drained ends the current frame and waits until all frames are written. drop frees their memory.
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

// writeLong writes a long record as a separate frame. It first frees the memory of the others.
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
