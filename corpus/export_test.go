package corpus

import (
	"bytes"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/firstseen/firstseen/corpus/compress"
)

// Internals for tests that read JSON lines, and so cannot be in this package.
const (
	OverlongHead = overlongHead
	RecordCost   = recordCost
	TailSize     = 64 << 10
)

var (
	Newline       = []byte{'\n'}
	IsZstd        = compress.IsZstd
	CompressionOf = compress.CompressionOf
	AppendString  = appendString
)

// Buffer returns the memory that a block is read into.
func (b *Block) Buffer() []byte { return b.buf }

// Gzipped returns data compressed with gzip.
func Gzipped(data []byte) []byte {
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	_, _ = w.Write(data)
	_ = w.Close()
	return buf.Bytes()
}

// Zstded returns data compressed with zstd.
func Zstded(data []byte) []byte {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	defer enc.Close()
	return enc.EncodeAll(data, nil)
}

// DecodeAhead makes a source decode ahead with the given sizes.
func (c *SourceConfig) DecodeAhead(decoders, chunk, buffers int, window, piece, look int64) {
	c.Ahead = 2
	c.sizes = &compress.AheadSizes{Decoders: decoders, Chunk: chunk, Buffers: 2 + buffers, Window: window, Piece: piece, Look: look}
}

// IsOther reports whether an input begins like a format that no reader supports.
func IsOther(head []byte) bool {
	name, _ := otherFormat(head)
	return name != ""
}
