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
	head, err := br.Peek(10)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	at := func() int64 { return *r.n - start - int64(br.Buffered()) }
	var decoded io.Reader
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
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
	return bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")) ||
		len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte("\x2a\x4d\x18"))
}

// otherCompression names formats that would otherwise be read as thousands of
// bad lines.
func otherCompression(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return "xz"
	case bytes.HasPrefix(head, []byte("BZh")) && bytes.HasSuffix(head, []byte("1AY&SY")):
		return "bzip2"
	case bytes.HasPrefix(head, []byte("\x04\x22\x4d\x18")):
		return "lz4"
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
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
