package compress

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/zstd"
)

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
