package output

import (
	"bytes"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// codec turns the source of a frame into its output, appended to dst. Each
// frame keeps its own encoder, so frames are compressed side by side.
type codec func(f *frame, dst []byte) []byte

// encoder is made when a frame is first compressed: small outputs need one.
type encoder struct {
	zstd *zstd.Encoder
	gzip *gzip.Writer
}

func plainCodec(f *frame, _ []byte) []byte { return f.src }

func zstdCodec(f *frame, dst []byte) []byte {
	if f.enc.zstd == nil {
		f.enc.zstd = newZstdEncoder()
	}
	return f.enc.zstd.EncodeAll(f.src, dst)
}

func gzipCodec(f *frame, dst []byte) []byte {
	out := bytes.NewBuffer(dst)
	if f.enc.gzip == nil {
		f.enc.gzip = gzip.NewWriter(out)
	} else {
		f.enc.gzip.Reset(out)
	}
	// Writing to a buffer in memory cannot fail.
	_, _ = f.enc.gzip.Write(f.src)
	_ = f.enc.gzip.Close()
	return out.Bytes()
}
