package compress

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz/lzma"
)

// lz4Frames reads the frames of an lz4 file one after the other.
func lz4Frames(r *bufio.Reader) *series {
	return &series{next: func() (io.Reader, error) {
		if _, err := r.Peek(1); err != nil {
			return nil, err
		}
		frame := lz4.NewReader(r)
		return frame, frame.Apply(lz4.ConcurrencyOption(1))
	}}
}

// xzGuard hands on an xz file and refuses a block that asks for a larger dictionary
// than is allowed, before the decoder takes the memory. It follows the structure of
// The .xz File Format 1.2.1, sections 2 to 4, and of LZMA2's chunks.
type xzGuard struct {
	guide
	limit int64
	check int64 // bytes of a block's checksum
	size  int64 // of the block, or the index, so far: it is padded to a multiple of 4
}

var errXZ = errors.New("it is not as xz files are")

func newXZGuard(r *bufio.Reader, limit int64) *xzGuard {
	g := &xzGuard{guide: guide{r: r}, limit: limit}
	g.step = g.stream
	return g
}

// take reads n bytes to be handed on, and counts them.
func (g *xzGuard) take(n int) ([]byte, error) {
	data := make([]byte, n)
	if got, err := io.ReadFull(g.r, data); err != nil {
		g.out = data[:got]
		if got > 0 {
			g.step = func() error { return NoEOF(err) }
			return nil, nil
		}
		return nil, err
	}
	g.out = append(g.out, data...)
	g.size += int64(n)
	return data, nil
}

// stream reads a stream header, or padding of four zeros.
func (g *xzGuard) stream() error {
	data, err := g.take(4)
	if data == nil || string(data) == "\x00\x00\x00\x00" {
		return err
	}
	if data, err = g.take(8); data == nil {
		return NoEOF(err)
	}
	g.check = []int64{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}[data[3]&15]
	g.step = g.block
	return nil
}

// block reads the header of a block.
func (g *xzGuard) block() error {
	g.size = 0
	data, err := g.take(1)
	if data == nil {
		return NoEOF(err)
	}
	if data[0] == 0 {
		g.step = g.index
		return nil
	}
	if data, err = g.take(4*(int(data[0])+1) - 1); data == nil {
		return NoEOF(err)
	}
	flags, rest := data[0], data[1:]
	for _, present := range []byte{0x40, 0x80} {
		if flags&present != 0 {
			for len(rest) > 0 && rest[0]&0x80 != 0 {
				rest = rest[1:]
			}
			rest = rest[min(1, len(rest)):]
		}
	}
	if flags&3 != 0 || len(rest) < 3 || rest[0] != 0x21 {
		return errors.New("it has an xz filter that is not supported: pack it again without")
	}
	window, err := lzma.DecodeDictCap(rest[2])
	if err != nil {
		return errXZ
	}
	if window > g.limit {
		return fmt.Errorf("an xz block needs a dictionary of %d bytes, and the limit is %d: allow it with --limit window=%d, which takes as much memory", window, g.limit, window)
	}
	g.size, g.step = 0, g.chunk
	return nil
}

// chunk reads the header of a piece of LZMA2.
func (g *xzGuard) chunk() error {
	data, err := g.take(1)
	if data == nil {
		return NoEOF(err)
	}
	switch control := data[0]; {
	case control == 0: // the end: padding, and the checksum
		g.left, g.step = (4-g.size%4)%4+g.check, g.block
	case control <= 2:
		if data, err = g.take(2); data == nil {
			return NoEOF(err)
		}
		g.left = int64(data[0])<<8 + int64(data[1]) + 1
	case control < 0x80:
		return errXZ
	default:
		n := 4
		if control >= 0xc0 {
			n++
		}
		if data, err = g.take(n); data == nil {
			return NoEOF(err)
		}
		g.left = int64(data[2])<<8 + int64(data[3]) + 1
	}
	g.size += g.left
	return nil
}

// index passes over the index of a stream and its footer.
func (g *xzGuard) index() error {
	count, err := g.varint()
	g.step = func() error { return g.records(2 * count) }
	return err
}

// records passes over so many numbers of an index, a few KiB at a time.
func (g *xzGuard) records(n uint64) error {
	for ; n > 0; n-- {
		if len(g.out) > 4096 {
			rest := n
			g.step = func() error { return g.records(rest) }
			return nil
		}
		if _, err := g.varint(); err != nil {
			return err
		}
	}
	g.left, g.step = (4-g.size%4)%4+4+12, g.stream
	return nil
}

func (g *xzGuard) varint() (v uint64, err error) {
	for shift := 0; shift < 63; shift += 7 {
		c, err := g.r.ReadByte()
		if err != nil {
			return 0, NoEOF(err)
		}
		g.out = append(g.out, c)
		g.size++
		if v |= uint64(c&0x7f) << shift; c&0x80 == 0 {
			return v, nil
		}
	}
	return 0, errXZ
}
