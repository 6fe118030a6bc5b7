package compress

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// zstdFrame hands on the bytes of one zstd frame and then io.EOF, following the headers of its blocks
// (RFC 8878, section 3.1.1), so that frames are separate. A skippable frame before it is handed on as
// part of it.
type zstdFrame struct {
	r    *bufio.Reader
	head zstd.Header
	left int64        // bytes to be handed on before the next step
	step func() error // looks at what stands behind them
	err  error        // which the decoder may take for the end
}

func newZstdFrame(r *bufio.Reader) *zstdFrame {
	f := &zstdFrame{r: r}
	f.step = f.frameHeader
	return f
}

func (f *zstdFrame) Read(p []byte) (n int, err error) {
	for f.left == 0 && err == nil {
		err = f.step()
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

// frameHeader looks at the header of a frame, or of a skippable one. It waits for no byte behind that.
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
			f.left = int64(f.head.HeaderSize) + int64(f.head.SkippableSize)
			if !f.head.Skippable {
				f.step = f.blockHeader
			}
			return nil
		}
	}
}

// blockHeader looks at the header of a block.
func (f *zstdFrame) blockHeader() error {
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
	if bits&1 != 0 { // the last block
		f.step = func() error { return io.EOF }
		if f.head.HasCheckSum {
			f.left += 4
		}
	}
	return nil
}

// explain describes an error of the decoder.
func (f *zstdFrame) explain(err error, limit int64) error {
	switch {
	case errors.Is(err, zstd.ErrMagicMismatch):
		return errors.New("what stands here is not zstd")
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fmt.Errorf("a zstd frame needs a window of %d bytes, and the limit is %d: allow it with --limit window=%[1]d, which takes as much memory, or pack the file again with a smaller --long",
			f.window(), limit)
	}
	return err
}

// window returns the window of the frame.
func (f *zstdFrame) window() int64 {
	if f.head.SingleSegment {
		return int64(f.head.FrameContentSize)
	}
	return int64(f.head.WindowSize)
}

// dictionaryMagic is how the skippable frame begins that holds the dictionary of a
// WARC (iipc.github.io/warc-specifications/specifications/warc-zstd/), and
// maxDictionary how long it may be.
const (
	dictionaryMagic = "\x5d\x2a\x4d\x18"
	maxDictionary   = 8 << 20
)

var errDictionary = &Damage{"its dictionary is longer than 8 MiB, or is none"}

// readDictionary reads the dictionary at the beginning of a file, nil without one. It may be compressed
// itself.
func readDictionary(br *bufio.Reader, maxWindow int64) ([]byte, error) {
	head, err := br.Peek(8)
	if err != nil || string(head[:4]) != dictionaryMagic {
		return nil, nil
	}
	size := binary.LittleEndian.Uint32(head[4:])
	if size > maxDictionary {
		return nil, errDictionary
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
		return nil, errDictionary
	}
	return dict, err
}
