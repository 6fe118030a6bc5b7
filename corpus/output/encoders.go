package output

import (
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// packing is the way in which an output is compressed.
type packing struct {
	codec     codec
	size      int                  // bytes at which a frame ends
	newStream func() streamEncoder // for long records
}

// packings are those of "gzip", "zstd", and "" for none.
var packings = map[string]packing{
	"":     {plainCodec, plainFrame, func() streamEncoder { return new(plainStream) }},
	"gzip": {gzipCodec, compressedFrame, func() streamEncoder { return gzip.NewWriter(nil) }},
	"zstd": {zstdCodec, compressedFrame, func() streamEncoder { return newZstdEncoder() }},
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

// inherit takes over the memory of the frames of a written output, and their encoders: for small
// outputs, making these takes most of the time.
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
