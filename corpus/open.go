package corpus

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
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
	maxWindow int64 // of zstd and xz, in bytes
	maxRatio  int   // decoded bytes for each stored one; negative: any number
	zstd      *zstd.Decoder
	gzip      *gzip.Reader
	buf       *bufio.Reader
}

func (d *decoders) close() {
	if d.zstd != nil {
		d.zstd.Close()
		d.zstd = nil
	}
}

// buffered is a buffer over r, in memory that is used again: of small files, making it would
// take longer than all else.
func buffered(buf **bufio.Reader, r io.Reader) *bufio.Reader {
	if *buf == nil {
		*buf = bufio.NewReaderSize(nil, readBuffer)
	}
	(*buf).Reset(r)
	return *buf
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

// storedInput is an input as it is stored. Until it is told to forget, it can begin
// again.
type storedInput struct {
	r    io.Reader
	file *File // nil unless it can be read at any place
	kept []byte
	pos  int
	keep bool
	io.Closer
}

// openStored opens an input, unless that was done for a piece of it. The error names it.
func openStored(in Input, stdin io.Reader, p *piece) (*storedInput, error) {
	if in.Path == Stdin {
		return &storedInput{r: stdin, keep: true, Closer: io.NopCloser(nil)}, nil
	}
	var f *File
	var err error
	if p != nil && p.in.file != nil {
		f = p.in.file
	} else if f, err = in.Open(); err != nil {
		return nil, err
	}
	s := &storedInput{r: f, keep: true, Closer: f}
	if f.At != nil {
		s.file = f
	}
	return s, nil
}

func (s *storedInput) Read(p []byte) (int, error) {
	if s.pos < len(s.kept) {
		n := copy(p, s.kept[s.pos:])
		s.pos += n
		return n, nil
	}
	n, err := s.r.Read(p)
	if s.keep {
		s.kept = append(s.kept, p[:n]...)
		s.pos = len(s.kept)
	}
	return n, err
}

// again has the input begin again, for the last time.
func (s *storedInput) again() { s.pos, s.keep = 0, false }

// forget says that it need not begin again.
func (s *storedInput) forget() { s.keep, s.kept, s.pos = false, nil, 0 }

// decode recognises the compression of an input and returns the decoded content.
func (d *decoders) decode(name string, r counter) (io.Reader, error) {
	start := *r.n
	br := buffered(&d.buf, r)
	head, err := peekHead(br)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	at := func() int64 { return *r.n - start - int64(br.Buffered()) }
	var decoded io.Reader
	switch kind := compressionOf(head); kind {
	case "":
		return br, nil
	case "gzip":
		decoded = d.members(br, at)
	case "zstd":
		decoded = d.frames(br, at)
	default:
		if decoded, err = d.decodeStream(kind, br); err != nil {
			return nil, readError(name, noEOF(err))
		}
	}
	return &expansion{r: decoded, stored: at, most: d.maxRatio}, nil
}

// Compressed reports whether an input begins as a compressed file does. An input that
// cannot be read does not.
func (in Input) Compressed() bool {
	f, err := in.Open()
	if err != nil {
		return false
	}
	defer f.Close() // it was only read
	head := make([]byte, headSize)
	n, _ := io.ReadFull(f, head)
	return compressionOf(head[:n]) != ""
}

// decodeStream undoes one of the compressions that are read as a whole. It returns nil
// for any other name.
func (d *decoders) decodeStream(name string, br *bufio.Reader) (io.Reader, error) {
	switch name {
	case "bzip2":
		return bzip2.NewReader(br), nil
	case "lz4":
		return &lz4Frames{r: br}, nil
	case "xz":
		return xz.NewReader(&xzGuard{r: br, limit: d.maxWindow})
	}
	return nil, nil
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

// members reads the members of a gzip file, of which at tells how much is used up.
func (d *decoders) members(r *bufio.Reader, at func() int64) *members {
	if d.gzip == nil {
		d.gzip = new(gzip.Reader)
	}
	return &members{gzip: d.gzip, r: r, at: at}
}

// frames reads the frames of a zstd file, of which at tells how much is used up.
func (d *decoders) frames(r *bufio.Reader, at func() int64) *frames {
	return &frames{r: r, at: at, limit: d.maxWindow, decoder: d.forWindow}
}

// forWindow is the decoder for a zstd frame with a window of any size.
func (d *decoders) forWindow(int64) (_ *zstd.Decoder, err error) {
	if d.zstd == nil {
		d.zstd, err = zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(d.maxWindow)))
	}
	return d.zstd, err
}

// isZstd recognises a zstd frame and a skippable frame, with which files of
// some parallel compressors begin.
func isZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte(zstdMagic)) ||
		len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == skippableMagic
}

// compressionOf names how what begins so is compressed; "" if it is not.
func compressionOf(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte(gzipMagic)):
		return "gzip"
	case isZstd(head):
		return "zstd"
	case bytes.HasPrefix(head, []byte(xzMagic)):
		return "xz"
	case bytes.HasPrefix(head, []byte(bzip2Magic)) && bytes.HasSuffix(head, []byte(bzip2BlockMagic)):
		return "bzip2"
	case bytes.HasPrefix(head, []byte(lz4Magic)):
		return "lz4"
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
