package corpus

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
)

// openKind opens an output that is compressed as an input was, whatever its name is:
// "gzip", "zstd", "xz", "lz4", or "" for none.
func openKind(kind string) opener {
	return func(name string, part *partial, f outFile, durable bool) *Writer {
		c, size := plainCodec, compressedFrame
		var stream streamEncoder
		switch kind {
		case "gzip":
			c, stream = gzipCodec, gzip.NewWriter(nil)
		case "zstd":
			c, stream = zstdCodec, newZstdEncoder()
		case "xz":
			c, stream = xzCodec, new(xzStream)
		case "lz4":
			c, stream = lz4Codec, lz4.NewWriter(nil)
		default:
			size, stream = plainFrame, new(plainStream)
		}
		w := newWriter(name, f, durable, c, size)
		w.part, w.stream = part, stream
		return w
	}
}

// xzCodec makes each frame an xz stream, of which a file may have several (The .xz File
// Format 1.2.1, section 2).
func xzCodec(f *frame, dst []byte) []byte {
	out := bytes.NewBuffer(dst)
	// Writing to a buffer in memory cannot fail.
	_ = writeAll(newXZ(out), [][]byte{f.src})
	return out.Bytes()
}

// newXZ fails only on an invalid configuration, and on writing the first bytes.
func newXZ(w io.Writer) io.WriteCloser {
	enc, err := xz.WriterConfig{DictCap: compressedFrame}.NewWriter(w)
	if err != nil {
		return failing{err}
	}
	return enc
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
func (f failing) Close() error              { return f.err }

// xzStream is an xz encoder that can be used again.
type xzStream struct{ io.WriteCloser }

func (s *xzStream) Reset(w io.Writer) { s.WriteCloser = newXZ(w) }

// lz4Codec makes each frame one of lz4.
func lz4Codec(f *frame, dst []byte) []byte {
	out := bytes.NewBuffer(dst)
	_ = writeAll(lz4.NewWriter(out), [][]byte{f.src})
	return out.Bytes()
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
