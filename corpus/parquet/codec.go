package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codecs of pages (parquet.thrift, CompressionCodec).
const (
	codecNone   = 0
	codecSnappy = 1
	codecGzip   = 2
	codecLZO    = 3
	codecBrotli = 4
	codecLZ4    = 5 // deprecated: framed as Hadoop does, or not
	codecZstd   = 6
	codecLZ4Raw = 7
)

var errSize = errors.New("it is decompressed to another size than is said")

// decompressor undoes the compression of pages. It is for one goroutine.
type decompressor struct {
	zstd   *zstd.Decoder
	gzip   *gzip.Reader
	brotli *brotli.Reader
}

func (d *decompressor) close() {
	if d.zstd != nil {
		d.zstd.Close()
	}
}

// mostOf returns how many bytes the stored bytes can be decompressed to at most. Snappy makes 64
// from a copy of three (or 11 from two), and lz4 255 from each byte of a length. Deflate makes 258
// from two bits, and zstd a block of 128 KiB from four bytes. Brotli can repeat 16 MiB for a few
// bytes. The bound avoids allocating memory for impossible sizes.
func mostOf(codec int32, stored int) int {
	switch codec {
	case codecNone:
		return stored
	case codecSnappy:
		return 22 * stored
	case codecLZ4, codecLZ4Raw:
		return 256 * stored
	case codecGzip:
		return 1033 * stored
	case codecZstd:
		return min(stored, maxPage>>15) << 15
	}
	return maxPage
}

// decompress fills dst, whose length is the size claimed by the file.
func (d *decompressor) decompress(codec int32, dst, src []byte) (err error) {
	n := 0
	switch codec {
	case codecNone:
		if len(src) != len(dst) {
			return errSize
		}
		n = copy(dst, src)
	case codecSnappy:
		size, err := snappy.DecodedLen(src)
		if err != nil {
			return err
		}
		if size != len(dst) {
			return errSize
		}
		_, err = snappy.Decode(dst, src)
		return err
	case codecZstd:
		if d.zstd == nil {
			if d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true)); err != nil {
				return err
			}
		}
		out, err := d.zstd.DecodeAll(src, dst[:0:len(dst)])
		if err != nil {
			return err
		}
		n = len(out)
	case codecGzip:
		if d.gzip == nil {
			d.gzip = new(gzip.Reader)
		}
		if err := d.gzip.Reset(bytes.NewReader(src)); err != nil {
			return err
		}
		return fillFrom(d.gzip, dst)
	case codecBrotli:
		if d.brotli == nil {
			d.brotli = new(brotli.Reader)
		}
		if err := d.brotli.Reset(bytes.NewReader(src)); err != nil {
			return err
		}
		return fillFrom(d.brotli, dst)
	case codecLZ4Raw:
		n, err = lz4Block(src, dst)
	case codecLZ4:
		n, err = hadoopLZ4(src, dst)
	case codecLZO:
		return errors.New("it is compressed with LZO, which is not read: write the file again with another codec")
	default:
		return fmt.Errorf("it is compressed with a codec that is not known, %d", codec)
	}
	if err == nil && n != len(dst) {
		err = errSize
	}
	return err
}

// fillFrom fills dst with all that a reader has.
func fillFrom(r io.Reader, dst []byte) error {
	if _, err := io.ReadFull(r, dst); err != nil {
		return err
	}
	if n, err := io.ReadFull(r, make([]byte, 1)); n > 0 || err != io.EOF {
		return errSize
	}
	return nil
}

// hadoopLZ4 decompresses the framing of Hadoop's codec: each piece has its size and that of its
// block before it, as big-endian numbers of 32 bits. Data without such a frame is one block.
func hadoopLZ4(src, dst []byte) (int, error) {
	done, rest := 0, src
	for len(rest) >= 8 {
		size, length := int64(binary.BigEndian.Uint32(rest)), int64(binary.BigEndian.Uint32(rest[4:]))
		if rest = rest[8:]; length > int64(len(rest)) || size > int64(len(dst)-done) {
			break
		}
		n, err := lz4Block(rest[:length], dst[done:done+int(size)])
		if err != nil || int64(n) != size {
			break
		}
		if done, rest = done+n, rest[length:]; len(rest) == 0 {
			return done, nil
		}
	}
	return lz4Block(src, dst)
}

// lz4Block decodes a block. The library follows the nil pointer of an empty dst, so a block of nothing,
// a single token of 0, is recognized here.
func lz4Block(src, dst []byte) (int, error) {
	switch {
	case len(dst) > 0:
		return lz4.UncompressBlock(src, dst)
	case len(src) == 1 && src[0] == 0:
		return 0, nil
	}
	return 0, errSize
}

// encoders are for zstd, which takes long to make. They are those of its level 1, the default of
// pyarrow.
var encoders = sync.Pool{New: func() any {
	enc, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest)) // fails only on invalid options
	return enc
}}

// compress appends a page to dst, compressed by a codec that writing returns.
func compress(codec int32, dst, src []byte) ([]byte, error) {
	switch codec {
	case codecSnappy:
		return append(dst, snappy.Encode(nil, src)...), nil
	case codecZstd:
		enc := encoders.Get().(*zstd.Encoder)
		defer encoders.Put(enc)
		return enc.EncodeAll(src, dst), nil
	case codecGzip:
		out := bytes.NewBuffer(dst)
		w := gzip.NewWriter(out)
		_, err := w.Write(src)
		err = errors.Join(err, w.Close())
		return out.Bytes(), err
	case codecBrotli:
		out := bytes.NewBuffer(dst)
		w := brotli.NewWriterLevel(out, 5)
		_, err := w.Write(src)
		err = errors.Join(err, w.Close())
		return out.Bytes(), err
	case codecLZ4Raw:
		block := make([]byte, lz4.CompressBlockBound(len(src)))
		n, err := lz4.CompressBlock(src, block, nil)
		if n == 0 && len(src) > 0 && err == nil {
			return dst, errors.New("a block of lz4 was not made")
		}
		return append(dst, block[:n]...), err
	}
	return append(dst, src...), nil
}

// writing returns the codec for writing data that was read with another.
func writing(codec int32) int32 {
	switch codec {
	case codecLZ4:
		return codecLZ4Raw
	case codecLZO:
		return codecZstd
	}
	return codec
}
