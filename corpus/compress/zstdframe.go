package compress

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

// byteReader is the source of a guide.
type byteReader interface {
	io.Reader
	io.ByteReader
}

// guide hands on the bytes of a compressed file, and follows its structure by them.
type guide struct {
	r    byteReader
	out  []byte       // to be handed on before anything else
	left int64        // to be handed on after it, before the next step
	step func() error // reads what stands between pieces
}

func (g *guide) Read(p []byte) (int, error) {
	for len(g.out) == 0 && g.left == 0 {
		if err := g.step(); err != nil {
			return 0, err
		}
	}
	if len(g.out) > 0 {
		n := copy(p, g.out)
		g.out = g.out[n:]
		return n, nil
	}
	n, err := g.r.Read(p[:min(int64(len(p)), g.left)])
	g.left -= int64(n)
	return n, NoEOF(err)
}

// zstdFrame hands on the bytes of one zstd frame and then io.EOF, following the headers of its blocks
// (RFC 8878, section 3.1.1), so that frames are separate. A skippable frame before it is handed on as
// part of it.
type zstdFrame struct {
	guide
	head  []byte
	block [3]byte
	sum   bool  // a checksum follows the blocks
	err   error // which the decoder may take for the end
}

func newZstdFrame(r byteReader) *zstdFrame {
	f := &zstdFrame{guide: guide{r: r}}
	f.step = f.frameHeader
	return f
}

func (f *zstdFrame) Read(p []byte) (int, error) {
	n, err := f.guide.Read(p)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

// blockHeader reads the header of a block.
func (f *zstdFrame) blockHeader() error {
	head, err := f.take(f.block[:0], 3)
	if err != nil {
		return err
	}
	bits := uint32(head[0]) | uint32(head[1])<<8 | uint32(head[2])<<16
	f.left, f.out = int64(bits>>3), head
	if bits>>1&3 == 1 { // a run: one byte
		f.left = 1
	}
	if bits&1 != 0 {
		f.step = f.checksum
	}
	return nil
}

// checksum passes over the bytes behind the last block.
func (f *zstdFrame) checksum() error {
	f.step = func() error { return io.EOF }
	if f.sum {
		f.left = 4
	}
	return nil
}

// frameHeader reads the header of a frame, or of a skippable one.
func (f *zstdFrame) frameHeader() error {
	head, err := f.take(f.head[:0], 4)
	if err != nil {
		if len(head) == 0 && err == io.ErrUnexpectedEOF {
			return io.EOF
		}
		return err
	}
	if head[0]&0xf0 == 0x50 && string(head[1:4]) == skippableMagic {
		if head, err = f.take(head, 4); err != nil {
			return err
		}
		f.left = int64(binary.LittleEndian.Uint32(head[4:]))
		f.head, f.out = head, head
		return nil
	}
	if string(head) != ZstdMagic {
		return zstd.ErrMagicMismatch
	}
	if head, err = f.take(head, 1); err != nil {
		return err
	}
	d := head[4]
	more := []int{0, 1, 2, 4}[d&3] + []int{0, 2, 4, 8}[d>>6] // id of the dictionary, size of the content
	switch {
	case d>>5&1 == 0:
		more++ // size of the window
	case d>>6 == 0:
		more++ // a size of one byte
	}
	if head, err = f.take(head, more); err != nil {
		return err
	}
	f.sum, f.step = d>>2&1 != 0, f.blockHeader
	f.head, f.out = head, head
	return nil
}

// take appends n bytes to head.
func (f *zstdFrame) take(head []byte, n int) ([]byte, error) {
	for range n {
		c, err := f.r.ReadByte()
		if err != nil {
			return head, NoEOF(err)
		}
		head = append(head, c)
	}
	return head, nil
}

// explain describes an error of the decoder.
func (f *zstdFrame) explain(err error, limit int64) error {
	switch {
	case errors.Is(err, zstd.ErrMagicMismatch):
		return errors.New("what stands here is not zstd")
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return &WindowError{Window: windowOf(f.head, limit), Limit: limit}
	}
	return err
}

// windowOf returns the window of the frame with this header, a little more than the limit if it is
// unknown.
func windowOf(head []byte, limit int64) int64 {
	var h zstd.Header
	switch {
	case h.Decode(head) != nil:
		return limit + 1
	case h.SingleSegment:
		return int64(h.FrameContentSize)
	}
	return int64(h.WindowSize)
}

// dictionaryMagic is how the skippable frame begins that holds the dictionary of a
// WARC (iipc.github.io/warc-specifications/specifications/warc-zstd/), and
// maxDictionary how long it may be.
const (
	dictionaryMagic = "\x5d\x2a\x4d\x18"
	maxDictionary   = 8 << 20
)

// ReadDictionary reads the dictionary at the beginning of a file, nil without one. It may be compressed
// itself.
func ReadDictionary(br *bufio.Reader, maxWindow int64) ([]byte, error) {
	head, err := br.Peek(8)
	if err != nil || string(head[:4]) != dictionaryMagic {
		return nil, nil
	}
	size := binary.LittleEndian.Uint32(head[4:])
	if size > maxDictionary {
		return nil, &Damage{"its dictionary is longer than 8 MiB, or is none"}
	}
	_, _ = br.Discard(len(head)) // they are there
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
		return nil, &Damage{"its dictionary is longer than 8 MiB, or is none"}
	}
	return dict, err
}
