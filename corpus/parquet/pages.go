package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/firstseen/firstseen/corpus/output"
)

// Limits in bytes: of a page, and of all pages held for columns. DuckDB writes pages of 100 MB.
const (
	maxPage  = 256 << 20
	maxPages = 512 << 20
)

// Memory is the maximum memory for reading a file, in bytes: pages, the footer, and the decoded
// footer. Files of most writers need a few MiB for each column.
const Memory = maxPages + 2*maxFooter

// pages reads the pages of all columns, one at a time. It holds one stored page, and counts the
// bytes held by columns. Before it reads, creates or scans bytes, it calls spend with their number,
// see [corpus.Limits].
type pages struct {
	file   io.ReaderAt
	tool   decompressor
	spend  func(n int64) error
	held   int64
	stored []byte
}

func (p *pages) readAt(buf []byte, at int64) error {
	if err := p.spend(int64(len(buf))); err != nil {
		return err
	}
	_, err := p.file.ReadAt(buf, at)
	return err
}

// read reads a stored page. It is valid until the next call.
func (p *pages) read(at int64, h *pageHeader) (stored []byte, err error) {
	if p.stored, err = p.grow(p.stored, int(h.Stored)); err != nil {
		return nil, err
	}
	if err := p.readAt(p.stored, at); err != nil {
		return nil, err
	}
	if h.CRC != nil && crc32.ChecksumIEEE(p.stored) != uint32(*h.CRC) {
		return nil, errors.New("its checksum is wrong: it is damaged")
	}
	return p.stored, nil
}

// decompress decompresses a page to size bytes, in buf if large enough.
func (p *pages) decompress(buf []byte, size int, codec int32, stored []byte) ([]byte, error) {
	if err := p.spend(int64(size)); err != nil {
		return buf, err
	}
	if most := growth[codec] * int64(len(stored)); growth[codec] > 0 && int64(size) > most {
		return buf, fmt.Errorf("it claims %d bytes decompressed, but with its codec %d stored bytes become at most %d: it is damaged", size, len(stored), most)
	}
	buf, err := p.grow(buf, size)
	if err != nil || size == 0 && len(stored) == 0 {
		return buf, err
	}
	return buf, p.tool.decompress(codec, buf, stored)
}

// grow returns a buffer of n bytes with arbitrary contents.
func (p *pages) grow(buf []byte, n int) ([]byte, error) {
	if n <= cap(buf) {
		return buf[:n], nil
	}
	if err := p.hold(n - cap(buf)); err != nil {
		return nil, err
	}
	return make([]byte, n), nil
}

// hold counts n more bytes held.
func (p *pages) hold(n int) error {
	if p.held += int64(n); p.held > maxPages {
		return fmt.Errorf("the pages of all columns that are read take more than the limit of %d bytes: write the file again with smaller pages, or leave out columns", maxPages)
	}
	return nil
}

// Codecs of pages (parquet.thrift, CompressionCodec).
const (
	codecNone   = 0
	codecSnappy = 1
	codecGzip   = 2
	codecLZO    = 3
	codecBrotli = 4
	codecLZ4    = 5 // deprecated: with or without the framing of Hadoop
	codecZstd   = 6
	codecLZ4Raw = 7
)

var errSize = errors.New("its decompressed size differs from the size in its header")

// decompressor decompresses pages. It must be used by one goroutine only.
type decompressor struct {
	zstd   *zstd.Decoder
	gzip   gzip.Reader
	brotli brotli.Reader
}

// growth is the maximum number of bytes that a codec decodes from one, so that impossible sizes
// allocate no memory. Snappy makes 64 from a copy of three (or 11 from two), and lz4 255 from each
// byte of a length. Deflate makes 258 from two bits, and zstd a block of 128 KiB from four bytes.
// Brotli is unbounded: a few bytes can repeat 16 MiB.
var growth = map[int32]int64{
	codecNone: 1, codecSnappy: 22, codecLZ4: 256, codecLZ4Raw: 256, codecGzip: 1033, codecZstd: 1 << 15,
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
		if n, err = s2.DecodedLen(src); err == nil && n == len(dst) {
			_, err = s2.Decode(dst, src)
		}
	case codecZstd:
		if d.zstd == nil { // only bad options fail
			d.zstd, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
		}
		out, err := d.zstd.DecodeAll(src, dst[:0:len(dst)])
		if err != nil {
			return err
		}
		n = len(out)
	case codecGzip:
		return fillFrom(&d.gzip, dst, src)
	case codecBrotli:
		return fillFrom(&d.brotli, dst, src)
	case codecLZ4Raw:
		n, err = lz4Block(src, dst)
	case codecLZ4:
		n, err = hadoopLZ4(src, dst)
	case codecLZO:
		return errors.New("it is compressed with LZO, which is not supported: write the file again with another codec")
	default:
		return fmt.Errorf("it is compressed with the unknown codec %d", codec)
	}
	if err == nil && n != len(dst) {
		err = errSize
	}
	return err
}

// stream decompresses consecutive pages.
type stream interface {
	io.Reader
	Reset(r io.Reader) error
}

// fillFrom decompresses src, which must fill dst exactly.
func fillFrom(r stream, dst, src []byte) error {
	if err := r.Reset(bytes.NewReader(src)); err != nil {
		return err
	}
	if _, err := io.ReadFull(r, dst); err != nil {
		return err
	}
	if n, err := io.ReadFull(r, make([]byte, 1)); n > 0 || err != io.EOF {
		return errSize
	}
	return nil
}

// hadoopLZ4 decompresses the framing of Hadoop's codec. The size of each piece and of its block
// precede it, as big-endian numbers of 32 bits. Data without such a frame is one block.
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

// lz4Block decodes a block. The library follows the nil pointer of an empty dst, so an empty block,
// a single token of 0, is handled here.
func lz4Block(src, dst []byte) (int, error) {
	switch {
	case len(dst) > 0:
		return lz4.UncompressBlock(src, dst)
	case len(src) == 1 && src[0] == 0:
		return 0, nil
	}
	return 0, errSize
}

// zstdPages is kept: to create its memory takes longer than to compress a page.
var zstdPages = sync.OnceValue(func() *zstd.Encoder { // level 1 is the default of pyarrow; only bad options fail
	enc, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(4), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(pageBytes))
	return enc
})

// compress compresses a page by the codec of an enclosure. The result is in dst if that is large enough.
func compress(codec int32, dst, src []byte) ([]byte, error) {
	switch codec {
	case codecSnappy: // package snappy takes twice as long, for 14% fewer bytes
		return s2.EncodeSnappy(dst, src), nil
	case codecBrotli: // one that was reset compresses by what remains of the page before
		out := bytes.NewBuffer(dst[:0])
		w := brotli.NewWriterLevel(out, 5)
		_, err := w.Write(src)
		err = errors.Join(err, w.Close())
		return out.Bytes(), err
	case codecZstd:
		return zstdPages().EncodeAll(src, dst[:0]), nil
	case codecGzip:
		return output.AppendGzip(dst[:0], src), nil
	case codecLZ4Raw:
		dst = slices.Grow(dst[:0], lz4.CompressBlockBound(len(src)))
		n, err := lz4.CompressBlock(src, dst[:cap(dst)], nil) // always succeeds with this bound
		return dst[:n], err
	}
	return append(dst[:0], src...), nil
}
