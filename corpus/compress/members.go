package compress

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// errHandedOver ends the reading of members if another piece continues.
var errHandedOver = errors.New("what follows is read by another")

// errForeign means that no member follows the last one.
var errForeign = errors.New("cut it off, or unpack the file yourself")

// members reads consecutive members of a gzip or lz4 file, or frames of a zstd file.
type members struct {
	r    *bufio.Reader
	at   func() int64           // bytes of the file consumed
	stop func(begin int64) bool // reports whether another piece begins there; nil means never
	kind string
	open io.Reader // the member being read

	gzip    *gzip.Reader
	decoder func(window int64) (*zstd.Decoder, error) // for a zstd frame
	limit   int64                                     // of windows
}

func (m *members) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		if m.open == nil {
			if err = m.next(); err != nil {
				return 0, err
			}
		}
		n, err = m.open.Read(p)
		if err == io.EOF {
			m.open, err = nil, nil
		} else if len(p) == 0 {
			break
		}
	}
	return n, err
}

// next opens the next member. It returns io.EOF after the last.
func (m *members) next() (err error) {
	m.open = nil
	switch m.kind {
	case "gzip":
		return m.nextGzip()
	case "zstd":
		return m.nextFrame()
	}
	if _, err := m.r.Peek(1); err != nil {
		return err
	}
	frame := lz4.NewReader(m.r)
	m.open = frame
	return frame.Apply(lz4.ConcurrencyOption(1))
}

// nextGzip opens the next gzip member. It skips zeros between and after members, as gzip does:
// tapes, tar and some file systems pad with them.
func (m *members) nextGzip() error {
	if err := skipZeros(m.r); err != nil {
		return err
	}
	if m.stop != nil && m.stop(m.at()) {
		return errHandedOver
	}
	head, err := m.r.Peek(2)
	switch {
	case err == io.EOF && head[0] == GzipMagic[0]:
		return io.ErrUnexpectedEOF
	case err != nil && err != io.EOF:
		return err
	case string(head) != GzipMagic:
		return m.foreign()
	}
	if err := m.gzip.Reset(m.r); err != nil {
		return NoEOF(err)
	}
	m.gzip.Multistream(false)
	m.open = m.gzip
	return nil
}

func skipZeros(br *bufio.Reader) error {
	for {
		c, err := br.ReadByte()
		if err != nil {
			return err
		}
		if c != 0 {
			return br.UnreadByte()
		}
	}
}

func (m *members) foreign() error {
	return fmt.Errorf("the data after byte %d of the file is not %s: %w", m.at(), m.kind, errForeign)
}

// nextFrame opens the next zstd frame. It skips skippable frames, which may occur anywhere. An lz4
// file may begin with such frames, too.
func (m *members) nextFrame() error {
	for {
		if m.stop != nil && m.stop(m.at()) {
			return errHandedOver
		}
		head, err := m.r.Peek(4)
		switch {
		case len(head) == 0:
			return err
		case len(head) < 4:
			return NoEOF(err)
		case string(head) == ZstdMagic:
			return m.beginFrame()
		case string(head) == Lz4Magic:
			if _, err := m.decoder(-1); err != nil { // its memory is unknown
				return err
			}
			m.kind = "lz4"
			return m.next()
		case !IsZstd(head):
			return m.foreign()
		}
		if head, err = m.r.Peek(8); err == nil {
			_, err = io.CopyN(io.Discard, m.r, 8+int64(binary.LittleEndian.Uint32(head[4:])))
		}
		if err != nil {
			return NoEOF(err)
		}
	}
}

// beginFrame opens a frame. It reads the header first, for the window size.
func (m *members) beginFrame() error {
	frame := &zstdFrame{r: m.r}
	if err := frame.frameHeader(); err != nil {
		return err
	}
	dec, err := m.decoder(frame.window())
	if err != nil {
		return err
	}
	m.open = &openFrame{dec, frame, m.limit}
	return dec.Reset(frame)
}

// openFrame decodes a zstd frame.
type openFrame struct {
	zstd  *zstd.Decoder
	frame *zstdFrame
	limit int64 // of windows
}

func (o *openFrame) Read(p []byte) (int, error) {
	n, err := o.zstd.Read(p)
	switch {
	case err == io.EOF && o.frame.err != nil:
		err = o.frame.err
	case errors.Is(err, zstd.ErrMagicMismatch):
		err = errors.New("this part is not zstd")
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		err = fmt.Errorf("a zstd frame needs a window of %d bytes, and the limit is %d: allow it with --limit window=%[1]d, which takes as much memory, or pack the file again with a smaller --long",
			o.frame.window(), o.limit)
	}
	return n, err
}

// ErrRatio means that an input expands more than any corpus.
var ErrRatio = errors.New("it may be malicious; if it is not, allow it with --limit ratio=0")

// RatioFrom is the decoded size in bytes above which the ratio is checked.
const RatioFrom = 1 << 30

// Expansion limits the ratio of decoded to stored bytes.
type Expansion struct {
	R       io.Reader
	Stored  func() int64
	Decoded int64
	Most    int // negative means unlimited
}

func (e *Expansion) Read(p []byte) (int, error) {
	n, err := e.R.Read(p)
	if err := e.Add(int64(n)); err != nil {
		return n, err
	}
	return n, err
}

// Add counts n decoded bytes, or work that takes as long.
func (e *Expansion) Add(n int64) error {
	if e.Decoded += n; e.Decoded > RatioFrom && e.Most > 0 {
		if stored := e.Stored(); e.Decoded/int64(e.Most) > stored {
			return fmt.Errorf("%d bytes of it expand to %d: no corpus repeats itself more than %d times, so %w", stored, e.Decoded, e.Most, ErrRatio)
		}
	}
	return nil
}

// zstdFrame reads one zstd frame, then returns io.EOF. It follows the headers of the blocks (RFC
// 8878, section 3.1.1) to keep frames separate.
type zstdFrame struct {
	r    *bufio.Reader
	head zstd.Header
	left int64 // bytes to read before the next block header
	last bool  // no block follows them
	err  error // the decoder may mistake it for the end
}

func (f *zstdFrame) Read(p []byte) (n int, err error) {
	for f.left == 0 && err == nil {
		err = f.blockHeader()
	}
	if err == nil {
		n, err = f.r.Read(p[:min(int64(len(p)), f.left)])
		f.left -= int64(n)
		err = NoEOF(err)
	}
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

// frameHeader reads the header of the frame. It waits for no byte after that.
func (f *zstdFrame) frameHeader() error {
	for n := 5; ; n++ {
		head, err := f.r.Peek(n)
		if len(head) == 0 {
			return err
		}
		switch short := f.head.Decode(head); {
		case short != nil && short != io.ErrUnexpectedEOF:
			return short
		case short != nil && err != nil:
			return NoEOF(err)
		case short == nil:
			f.left = int64(f.head.HeaderSize)
			return nil
		}
	}
}

// blockHeader reads a block header. It returns io.EOF after the last block.
func (f *zstdFrame) blockHeader() error {
	if f.last {
		return io.EOF
	}
	head, err := f.r.Peek(3)
	if err != nil {
		return NoEOF(err)
	}
	bits := uint32(head[0]) | uint32(head[1])<<8 | uint32(head[2])<<16
	size := int64(bits >> 3)
	if bits>>1&3 == 1 { // a run: one byte
		size = 1
	}
	f.left = int64(len(head)) + size
	if f.last = bits&1 != 0; f.last && f.head.HasCheckSum {
		f.left += 4
	}
	return nil
}

func (f *zstdFrame) window() int64 {
	if f.head.SingleSegment {
		return int64(f.head.FrameContentSize)
	}
	return int64(f.head.WindowSize)
}

// Magic and maximum size of the skippable frame with the dictionary of a WARC
// (iipc.github.io/warc-specifications/specifications/warc-zstd/).
const (
	dictionaryMagic = "\x5d\x2a\x4d\x18"
	maxDictionary   = 8 << 20
)

var errDictionary = &Damage{"it is longer than 8 MiB, or is not a dictionary"}

// readDictionary reads any dictionary at the start of a file, which may be compressed, too.
func readDictionary(br *bufio.Reader, maxWindow int64) ([]byte, error) {
	head, err := br.Peek(8)
	if err != nil || string(head[:4]) != dictionaryMagic {
		return nil, nil
	}
	size := binary.LittleEndian.Uint32(head[4:])
	if size > maxDictionary {
		return nil, errDictionary
	}
	_, _ = br.Discard(len(head)) // already buffered
	dict := make([]byte, size)
	if _, err := io.ReadFull(br, dict); err != nil {
		return nil, NoEOF(err)
	}
	if !bytes.HasPrefix(dict, []byte(ZstdMagic)) {
		return dict, nil
	}
	dec, err := zstd.NewReader(bytes.NewReader(dict), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(uint64(min(maxWindow, maxDictionary))))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	dict, err = io.ReadAll(io.LimitReader(dec, maxDictionary+1))
	if len(dict) > maxDictionary {
		return nil, errDictionary
	}
	return dict, err
}
