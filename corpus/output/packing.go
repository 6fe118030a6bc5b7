package output

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/semaphore"
)

// gzipLevel takes 29 to 43% less time than the default level, for 9 to 15% more bytes. Level 1 takes
// as long in Chinese, for 5% more.
const gzipLevel = 2

// packing is a way to compress an output.
type packing struct {
	size     int        // uncompressed bytes after which a frame ends
	encoders *sync.Pool // nil without compression
}

var packings = map[string]packing{
	"": {plainFrame, nil},
	"gzip": {compressedFrame, &sync.Pool{New: func() any {
		enc, _ := gzip.NewWriterLevel(nil, gzipLevel) // only bad levels fail
		return enc
	}}},
	"zstd": {compressedFrame, &sync.Pool{New: func() any {
		enc, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(compressedFrame),
			zstd.WithZeroFrames(true), zstd.WithLowerEncoderMem(true)) // only bad options fail
		return enc
	}}},
}

// encoder compresses bytes. It is kept for the next output: creating one takes most of the time of a
// small output.
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
	if w.encoders == nil {
		return f.src
	}
	return w.append(dst, f.src)
}

// append appends src to dst, compressed.
func (p packing) append(dst, src []byte) []byte {
	enc := p.encoders.Get().(encoder)
	defer p.encoders.Put(enc)
	if enc, ok := enc.(*zstd.Encoder); ok {
		return enc.EncodeAll(src, dst)
	}
	out := bytes.NewBuffer(dst)
	enc.Reset(out)
	_, _ = enc.Write(src) // never fails: it writes to memory
	_ = enc.Close()
	return out.Bytes()
}

// AppendGzip appends src to dst as a gzip member.
func AppendGzip(dst, src []byte) []byte { return packings["gzip"].append(dst, src) }

// longFrames is the length in frames above which a record is written at once, without any copy.
const longFrames = 4

// direct writes to the file without frames. All frames must be written before.
type direct struct{ w *Writer }

func (d direct) Write(p []byte) (int, error) {
	n, err := d.w.file.Write(p)
	d.w.written += int64(n)
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
	var enc encoder
	if w.encoders != nil {
		enc = w.encoders.Get().(encoder)
		defer w.encoders.Put(enc)
		enc.Reset(to)
		to = enc
	}
	for _, p := range parts {
		if _, err := to.Write(p); err != nil {
			w.fail(err)
			return w.err()
		}
	}
	if enc != nil {
		if err := enc.Close(); err != nil {
			w.fail(err)
		}
	}
	return w.err()
}

// Lead sets the bytes before the first record of the output. They are written with that record, or
// by Close if there is none, but not to a continued output with content. Further calls must pass
// the same bytes: records with different columns do not belong in one file.
func (w *Writer) Lead(head []byte) error {
	if head == nil || w.head == nil {
		w.head = head
		w.owed = head != nil && w.written == 0 && len(w.frame.src) == 0
		return nil
	}
	if !SameHead(w.head, head) {
		return fmt.Errorf("writing %s: %w", w.name, ErrOtherHead)
	}
	return nil
}

// ErrOtherHead is returned if one file would contain records with different columns.
var ErrOtherHead = fmt.Errorf("the first rows of the inputs, which name the columns, differ: use --out-dir, or give each kind a run of its own with the same --index")

// lead writes the head, unless it is already written.
func (w *Writer) lead() {
	if w.owed {
		w.owed = false
		w.frame.src = append(w.frame.src, w.head...)
		if len(w.head) > 0 && w.head[len(w.head)-1] != '\n' {
			w.frame.src = append(w.frame.src, '\n')
		}
	}
}

// Head returns the bytes before the first record, or nil.
func (w *Writer) Head() []byte { return w.head }

// SameHead reports whether the records of two heads may share a file: the heads differ at most in a
// byte order mark and a line end.
func SameHead(a, b []byte) bool {
	bare := func(h []byte) []byte {
		return bytes.TrimRight(bytes.TrimPrefix(h, []byte("\xef\xbb\xbf")), "\r\n")
	}
	return bytes.Equal(bare(a), bare(b))
}

// ArrayHead, passed to [Writer.Lead], makes the output a JSON array, which Seal closes.
const ArrayHead = "[\n"

// arrayFoot closes the array, in a separate frame.
const arrayFoot = "\n]\n"

// IsArray reports whether the output is a JSON array.
func (w *Writer) IsArray() bool { return string(w.head) == ArrayHead }

// WriteElement writes JSON, given in parts: as an element of an array, or otherwise as a line.
func (w *Writer) WriteElement(parts ...[]byte) error {
	switch {
	case !w.IsArray():
		parts = append(parts, []byte{'\n'})
	case !w.owed:
		parts = append([][]byte{[]byte(",\n")}, parts...)
	}
	return w.WriteRecord(parts...)
}

// closeArray writes the end of the array, unless it is already there: a run may be stopped when its
// outputs are complete, but without names.
func (w *Writer) closeArray() error {
	if w.done || !w.IsArray() {
		return w.err()
	}
	w.lead()
	if _, err := w.EndFrame(); err != nil {
		return err
	}
	w.frame.src = append(w.frame.src, arrayFoot...)
	if w.part.path != "" {
		tail, err := tailOf(w.file, w.written)
		if err != nil {
			return err
		}
		if foot := w.encode(w.frame, w.frame.out[:0]); bytes.HasSuffix(tail, foot) {
			w.frame.src = w.frame.src[:0]
		}
	}
	w.head = nil // closed
	return nil
}

// Enclosure encodes records as a file format.
type Enclosure interface {
	// Frame appends to dst the encoding of some records. Several goroutines may call it at once.
	Frame(dst, records []byte) ([]byte, error)
	// End returns the bytes after the last frame of a file of this size, or none if they are there.
	End(file io.ReaderAt, size int64) ([]byte, error)
}

// enclosedFrame is the number of bytes of records in a frame of an enclosed output.
const enclosedFrame = 8 << 20

// Enclose sets the enclosure of an output. Nothing may have been written since it was opened.
func (w *Writer) Enclose(e Enclosure) error {
	if w.part.path == "" {
		return fmt.Errorf("writing %s: this format cannot be streamed: name a file", w.name)
	}
	w.size, w.enclosure = enclosedFrame, e
	w.room = semaphore.NewWeighted(int64(cap(w.free) * w.size))
	return nil
}

// closeEnclosure writes the bytes after the last frame.
func (w *Writer) closeEnclosure() error {
	if w.enclosure == nil {
		return nil
	}
	if err := w.drained(false); err != nil {
		return err
	}
	end, err := w.enclosure.End(w.file, w.written)
	if err == nil && len(end) > 0 {
		_, err = direct{w}.Write(end)
	}
	if err != nil {
		w.fail(err)
	}
	return w.err()
}
