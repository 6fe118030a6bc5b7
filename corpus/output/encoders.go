package output

import "github.com/klauspost/compress/gzip"

// openKind opens an output of a compression, whatever its name is: "gzip", "zstd", or ""
// for none.
func openKind(kind string) opener {
	return func(name string, part *partial, f outFile, durable bool) *Writer {
		c, size := plainCodec, compressedFrame
		var stream streamEncoder
		switch kind {
		case "gzip":
			c, stream = gzipCodec, gzip.NewWriter(nil)
		case "zstd":
			c, stream = zstdCodec, newZstdEncoder()
		default:
			size, stream = plainFrame, new(plainStream)
		}
		w := newWriter(name, f, durable, c, size)
		w.part, w.stream = part, stream
		return w
	}
}

// inherit takes over the memory of the frames of an output that is written, and their
// encoders: of small outputs, making these takes longer than all else.
func (w *Writer) inherit(old *Writer) {
	if old.size != w.size {
		return
	}
	swap := func(f, o *frame) {
		f.src, f.out, f.enc, o.src, o.out, o.enc = o.src[:0], o.out[:0], o.enc, nil, nil, encoder{}
	}
	swap(w.frame, old.frame)
	for range min(len(w.free), len(old.free)) {
		f, o := <-w.free, <-old.free
		swap(f, o)
		w.free <- f
	}
}
