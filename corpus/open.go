package corpus

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// readBuffer is what is asked of a compressed file at a time.
const readBuffer = 256 << 10

// How compressed files begin.
const (
	gzipMagic      = "\x1f\x8b"
	zstdMagic      = "\x28\xb5\x2f\xfd"
	skippableMagic = "\x2a\x4d\x18" // after a byte 0x50 to 0x5f
	xzMagic        = "\xfd7zXZ\x00"
	bzip2Magic     = "BZh" // a digit, and then the first block
	lz4Magic       = "\x04\x22\x4d\x18"
	zipMagic       = "PK\x03\x04"

	bzip2Block      = 4 // where it begins
	bzip2BlockMagic = "1AY&SY"
)

// decoders undo the compression of one input after the other. They are used
// again: one for zstd holds as much memory as the largest window so far.
type decoders struct {
	maxWindow int64 // of zstd, in bytes
	maxRatio  int   // decoded bytes for each stored one; negative: any number
	zstd      *zstd.Decoder
	gzip      *gzip.Reader
}

func (d *decoders) close() {
	if d.zstd != nil {
		d.zstd.Close()
		d.zstd = nil
	}
}

// stream is the decoded content of one input.
type stream struct {
	io.Reader
	io.Closer
}

// counter counts the bytes read from an input as stored, for progress.
type counter struct {
	r io.Reader
	n *int64
}

func (c counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	*c.n += int64(n)
	return n, err
}

// openInput opens an input and undoes its compression, adding the stored bytes
// it reads to count. Errors name the input, but for those of reading.
func (d *decoders) openInput(in Input, stdin io.Reader, count *int64) (io.ReadCloser, error) {
	if in.Path == Stdin {
		r, err := d.decode(in.Name, counter{stdin, count})
		return stream{r, io.NopCloser(nil)}, err
	}
	f, err := os.Open(in.Path)
	if err != nil {
		return nil, fmt.Errorf("opening input: %w", err)
	}
	r, err := d.decode(in.Name, counter{f, count})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return stream{r, f}, nil
}

// decode recognises the compression of r and returns the decoded content.
func (d *decoders) decode(name string, r counter) (io.Reader, error) {
	start := *r.n
	br := bufio.NewReaderSize(r, readBuffer)
	head, err := peekHead(br)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	at := func() int64 { return *r.n - start - int64(br.Buffered()) }
	var decoded io.Reader
	switch {
	case bytes.HasPrefix(head, []byte(gzipMagic)):
		decoded, err = d.decodeGzip(br, at)
	case isZstd(head):
		decoded, err = d.decodeZstd(br, at)
	default:
		if other := otherCompression(head); other != "" {
			return nil, fmt.Errorf("reading %s: it is compressed with %s, which is not supported: unpack it, or use gzip or zstd", name, other)
		}
		return br, nil
	}
	if err != nil {
		return nil, readError(name, noEOF(err))
	}
	return &expansion{r: decoded, stored: at, most: d.maxRatio}, nil
}

// headSize is how many bytes at most tell how a file is compressed.
const headSize = 10

// peekHead returns the first bytes of an input, no more than it takes to know that
// they are not those of a compression: whoever waits for the answer to a first
// record of two bytes sends no third.
func peekHead(br *bufio.Reader) (head []byte, err error) {
	for n := 1; n <= headSize; n++ {
		if head, err = br.Peek(n); err != nil || !beginsLikeCompressed(head) {
			return head, err
		}
	}
	return head, nil
}

// beginsLikeCompressed reports whether head, if it went on, could be what decode
// recognises as compressed.
func beginsLikeCompressed(head []byte) bool {
	if head[0]&0xf0 == 0x50 && begins(head[1:], skippableMagic) {
		return true
	}
	if begins(head, bzip2Magic) {
		return len(head) <= bzip2Block || begins(head[bzip2Block:], bzip2BlockMagic)
	}
	for _, magic := range []string{gzipMagic, zstdMagic, xzMagic, lz4Magic, zipMagic} {
		if begins(head, magic) {
			return true
		}
	}
	return false
}

// begins compares as far as the shorter of the two goes.
func begins(head []byte, magic string) bool {
	n := min(len(head), len(magic))
	return string(head[:n]) == magic[:n]
}

func (d *decoders) decodeGzip(r *bufio.Reader, at func() int64) (io.Reader, error) {
	if d.gzip == nil {
		d.gzip = new(gzip.Reader)
	}
	if err := d.gzip.Reset(r); err != nil {
		return nil, err
	}
	d.gzip.Multistream(false)
	return &members{gzip: d.gzip, r: r, at: at}, nil
}

func (d *decoders) decodeZstd(r *bufio.Reader, at func() int64) (_ io.Reader, err error) {
	if d.zstd == nil {
		d.zstd, err = zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(d.maxWindow)))
		if err != nil {
			return nil, err
		}
	}
	f := &frames{zstd: d.zstd, r: r, at: at, limit: d.maxWindow}
	return f, f.explain(d.zstd.Reset((*frameReader)(f)))
}

// isZstd recognises a zstd frame and a skippable frame, with which files of
// some parallel compressors begin.
func isZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte(zstdMagic)) ||
		len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == skippableMagic
}

// otherCompression names formats that would otherwise be read as thousands of
// bad records.
func otherCompression(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte(xzMagic)):
		return "xz"
	case bytes.HasPrefix(head, []byte(bzip2Magic)) && bytes.HasSuffix(head, []byte(bzip2BlockMagic)):
		return "bzip2"
	case bytes.HasPrefix(head, []byte(lz4Magic)):
		return "lz4"
	case bytes.HasPrefix(head, []byte(zipMagic)):
		return "zip"
	}
	return ""
}

// noEOF keeps a file that ends inside a header from looking like a proper end.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func readError(name string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("reading %s: the compressed data ends too early, the file is cut off: %w", name, err)
	}
	return fmt.Errorf("reading %s: %w", name, err)
}
