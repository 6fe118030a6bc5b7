package corpus

import (
	"bytes"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// What the tests need that read JSON lines, and so cannot be in this package.
const (
	OverlongHead = overlongHead
	RecordCost   = recordCost
	TailSize     = tailSize
)

var (
	Newline       = []byte{'\n'}
	BenchLines    = benchLines
	Chdir         = chdir
	IsZstd        = isZstd
	CompressionOf = compressionOf
	AppendString  = appendString
)

// Buffer is the memory that a block is read into.
func (b *Block) Buffer() []byte { return b.buf }

// lineEndings are some endings of inputs.
var lineEndings = []string{".jsonl", ".ndjson", ".json"}

// Gzipped packs data.
func Gzipped(data []byte) []byte {
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	_, _ = w.Write(data)
	_ = w.Close()
	return buf.Bytes()
}

// Zstded packs data.
func Zstded(data []byte) []byte {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	defer enc.Close()
	return enc.EncodeAll(data, nil)
}

// DecodeAhead has a source decode ahead with sizes of its own.
func (c *SourceConfig) DecodeAhead(decoders, chunk, buffers int, window, piece, look int64) {
	c.Ahead = 2
	c.sizes = &aheadSizes{decoders, chunk, 2*forTurn + buffers, window, piece, look}
}

// IsOther reports whether an input begins like a format that no reader is for.
func IsOther(head []byte) bool {
	name, _ := otherFormat(head)
	return name != ""
}

// SpoolSize is how many bytes were unpacked of the archive that an input is in.
func (in Input) SpoolSize() (int64, error) {
	info, err := in.member.in.spool.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
