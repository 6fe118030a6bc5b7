// Package compress decodes stored bytes. It recognises gzip, zstd, bzip2, xz and lz4 by their first
// bytes. [Decoders] decode one file after the other, [Ahead] decodes several before they are read,
// and [Sections] reads the members of a file and skips damage.
//
// It promises that windows and expansion stay within [Bounds]. It handles files, not inputs.
package compress

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"
)

// ReadBuffer is the number of bytes read from a compressed file at a time.
const ReadBuffer = 256 << 10

// Magic bytes of compressed files.
const (
	GzipMagic      = "\x1f\x8b"
	ZstdMagic      = "\x28\xb5\x2f\xfd"
	skippableMagic = "\x2a\x4d\x18" // after a byte 0x50 to 0x5f
	XzMagic        = "\xfd7zXZ\x00"
	bzip2Magic     = "BZh" // followed by a digit, and the first block or the end
	Lz4Magic       = "\x04\x22\x4d\x18"
	ZipMagic       = "PK\x03\x04"

	bzip2Block      = 4 // offset
	Bzip2BlockMagic = "1AY&SY"
	bzip2EndMagic   = "\x17rE8P\x90" // at the same offset, if the content is empty
)

// kind is a compression identified by a constant prefix.
type kind struct{ name, magic string }

var kinds = []kind{{"gzip", GzipMagic}, {"zstd", ZstdMagic}, {"xz", XzMagic}, {"lz4", Lz4Magic}}

// Bounds limits the cost of decoding. Its zero value means the defaults.
type Bounds struct {
	MaxWindow int64 // maximum bytes of a zstd window or xz dictionary; 0 means DefaultMaxWindow
	MaxRatio  int   // maximum of decoded to stored bytes; 0 means DefaultMaxRatio, negative any
}

// Defaults of [Bounds].
const (
	DefaultMaxWindow = 128 << 20 // as in the zstd tool

	// DefaultMaxRatio bounds the cost of a small file. No honest corpus of a GiB or more repeats
	// its records a thousand times. Below a GiB the ratio is not checked.
	DefaultMaxRatio = 1000
)

// Decoders returns decoders within the bounds.
func (b Bounds) Decoders() Decoders {
	b.MaxWindow = cmp.Or(max(b.MaxWindow, 0), DefaultMaxWindow)
	b.MaxRatio = cmp.Or(b.MaxRatio, DefaultMaxRatio)
	return Decoders{Bounds: b}
}

// Decoders decode one input at a time. The zstd decoder is reused, and keeps its largest window.
type Decoders struct {
	Bounds // with defaults applied
	dict   []byte
	zstd   *zstd.Decoder
	gzip   gzip.Reader
	buf    *bufio.Reader
}

func (d *Decoders) Close() {
	if d.zstd != nil {
		d.zstd.Close()
		d.zstd = nil
	}
}

// buffered reuses the buffer: for small files, allocating it would take most of the time.
func (d *Decoders) buffered(r io.Reader, size int) *bufio.Reader {
	if d.buf == nil {
		d.buf = bufio.NewReaderSize(nil, size)
	}
	d.buf.Reset(r)
	return d.buf
}

// Counter counts the stored bytes read from an input, for progress.
type Counter struct {
	R io.Reader
	N *int64
}

func (c Counter) Read(p []byte) (int, error) {
	n, err := c.R.Read(p)
	*c.N += int64(n)
	return n, err
}

// Decode recognises the compression of an input and returns a reader of its decoded content.
func (d *Decoders) Decode(name string, r Counter) (io.Reader, error) {
	start := *r.N
	br := d.buffered(r, ReadBuffer)
	head, err := peekHead(br)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	at := func() int64 { return *r.N - start - int64(br.Buffered()) }
	kind := CompressionOf(head)
	if kind == "" {
		return br, nil
	}
	decoded, err := d.open(kind, &members{r: br, at: at})
	if err != nil {
		return nil, ReadError(name, NoEOF(err))
	}
	return &Expansion{R: decoded, Stored: at, Most: d.MaxRatio}, nil
}

// open returns a decoder for members m with a compression.
func (d *Decoders) open(kind string, m *members) (io.Reader, error) {
	switch kind {
	case "bzip2":
		return bzip2.NewReader(m.r), nil
	case "xz":
		return newXZ(m.r, d.MaxWindow)
	}
	m.kind, m.gzip = kind, &d.gzip
	if m.decoder == nil {
		m.decoder, m.limit = d.forWindow, d.MaxWindow
	}
	return m, nil
}

// xzReader reads an xz file with dictionaries up to a limit. Until the first Read it has read only
// the header of the first stream, 12 bytes: the places of the records depend on that.
//
// On damage the library drops all data decoded since its last call. So all calls have one size, and
// the data before the damage does not depend on the reader.
type xzReader struct {
	r       io.Reader
	xz      *xz.Reader
	limit   int64
	decoded [4 << 10]byte
	left    []byte // of decoded
	err     error  // after left
}

func newXZ(r io.Reader, limit int64) (*xzReader, error) {
	header := make([]byte, 12)
	_, err := io.ReadFull(r, header)
	end := bytes.NewReader(nil) // the library ignores data returned together with io.EOF
	return &xzReader{r: io.MultiReader(bytes.NewReader(header), fullReader{r}, end), limit: limit}, err
}

func (x *xzReader) Read(p []byte) (n int, err error) {
	if x.xz == nil {
		x.xz, x.err = xz.NewReader(x.r, uint32(min(x.limit, math.MaxUint32)))
	}
	if len(x.left) == 0 && x.err == nil {
		n, x.err = ReadFull(x.xz, x.decoded[:])
		x.left = x.decoded[:n]
	}
	n = copy(p, x.left)
	if x.left = x.left[n:]; len(x.left) > 0 {
		return n, nil
	}
	switch x.err {
	case xz.ErrBuf:
		return n, io.ErrUnexpectedEOF
	case xz.ErrOptions:
		return n, errors.New("it uses an unsupported xz filter: pack it again without the filter")
	case xz.ErrMemlimit:
		return n, fmt.Errorf("an xz block needs a larger dictionary than the limit of %d bytes: allow it with --limit window=SIZE, which takes as much memory; xz --list -vv names the size", x.limit)
	}
	return n, x.err
}

// fullReader fills every read, until its end.
type fullReader struct{ io.Reader }

func (r fullReader) Read(p []byte) (int, error) { return ReadFull(r.Reader, p) }

// HeadSize is the largest number of bytes that identify a compression.
const HeadSize = 10

// peekHead peeks just enough bytes to exclude a compression: a sender may wait for the answer to a
// first record of two bytes.
func peekHead(br *bufio.Reader) (head []byte, err error) {
	for n := 1; n <= HeadSize; n++ {
		if head, err = br.Peek(n); err != nil || !beginsLikeCompressed(head) {
			return head, err
		}
	}
	return head, nil
}

// beginsLikeCompressed reports whether head may begin a compressed input.
func beginsLikeCompressed(head []byte) bool {
	if head[0]&0xf0 == 0x50 && Begins(head[1:], skippableMagic) {
		return true
	}
	if Begins(head, bzip2Magic) {
		return len(head) <= bzip2Block || Begins(head[bzip2Block:], Bzip2BlockMagic) || Begins(head[bzip2Block:], bzip2EndMagic)
	}
	return Begins(head, ZipMagic) || slices.ContainsFunc(kinds, func(k kind) bool { return Begins(head, k.magic) })
}

// Begins reports whether the shorter string is a prefix of the other.
func Begins(head []byte, magic string) bool {
	n := min(len(head), len(magic))
	return string(head[:n]) == magic[:n]
}

// forWindow returns the decoder for a zstd frame, whatever its window.
func (d *Decoders) forWindow(int64) (_ *zstd.Decoder, err error) {
	if d.zstd != nil {
		return d.zstd, nil
	}
	options := []zstd.DOption{
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(d.MaxWindow)),
	}
	if bytes.HasPrefix(d.dict, []byte("\x37\xa4\x30\xec")) {
		options = append(options, zstd.WithDecoderDicts(d.dict))
	} else if d.dict != nil {
		options = append(options, zstd.WithDecoderDictRaw(0, d.dict))
	}
	d.zstd, err = zstd.NewReader(nil, options...)
	return d.zstd, err
}

// IsZstd recognises zstd frames and skippable frames, which some parallel compressors write first.
func IsZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte(ZstdMagic)) ||
		len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == skippableMagic
}

// CompressionOf returns the compression of an input with this head, or "" for none.
func CompressionOf(head []byte) string {
	if IsZstd(head) {
		return "zstd"
	}
	if bytes.HasPrefix(head, []byte(bzip2Magic)) && (bytes.HasSuffix(head, []byte(Bzip2BlockMagic)) || bytes.HasSuffix(head, []byte(bzip2EndMagic))) {
		return "bzip2"
	}
	for _, k := range kinds {
		if bytes.HasPrefix(head, []byte(k.magic)) {
			return k.name
		}
	}
	return ""
}

// ReadFull reads until p is full. Unlike io.ReadFull, it returns the error of r unchanged.
func ReadFull(r io.Reader, p []byte) (n int, err error) {
	for idle := 0; n < len(p) && err == nil; idle++ {
		var got int
		got, err = r.Read(p[n:])
		n += got
		switch {
		case got > 0:
			idle = 0
		case idle == 100 && err == nil:
			err = io.ErrNoProgress
		}
	}
	return n, err
}

// NoEOF replaces io.EOF, since a file that ends inside a header is incomplete.
func NoEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func ReadError(name string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("reading %s: the compressed data ends too early, the file is cut off, fetch it again and run the same command: %w", name, err)
	}
	return fmt.Errorf("reading %s: %w", name, err)
}

// File is an open file, as stored.
type File struct {
	io.Reader // from the start
	io.Closer
	At interface { // nil unless the file allows random access
		io.ReaderAt
		io.Seeker
	}
}

// Size returns the size of a file with random access. Do not read it sequentially afterwards.
func (f *File) Size() (int64, error) { return f.At.Seek(0, io.SeekEnd) }
