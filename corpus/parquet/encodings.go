package parquet

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

var errLevels = errors.New("its runs of levels or indices end too early, or are longer than the page")

// hybrid reads numbers of a few bits, in runs of one number and in packed groups of eight
// (Encodings.md, "RLE / Bit-Packing Hybrid"). It stores only its position.
type hybrid struct {
	data   []byte
	width  uint
	left   int    // of the run
	packed bool   // the run is packed; its next number begins at bit
	value  uint32 // of a run of one number
	bit    uint
}

func (h *hybrid) next() (uint32, error) {
	for h.left == 0 {
		if err := h.run(); err != nil {
			return 0, err
		}
	}
	h.left--
	if !h.packed {
		return h.value, nil
	}
	v := bitsAt(h.data, h.bit, h.width)
	h.bit += h.width
	if h.left == 0 {
		h.data = h.data[min(uint(len(h.data)), (h.bit+7)/8):]
	}
	return uint32(v), nil
}

func (h *hybrid) run() error {
	head, n := binary.Uvarint(h.data)
	if n <= 0 || head>>1 == 0 || head>>1 > 1<<31 {
		return errLevels
	}
	h.data = h.data[n:]
	if head&1 == 0 {
		size := int(h.width+7) / 8
		if size > len(h.data) {
			return errLevels
		}
		h.packed, h.left, h.value = false, int(head>>1), 0
		for i, b := range h.data[:size] {
			h.value |= uint32(b) << (8 * i)
		}
		h.data = h.data[size:]
		return nil
	}
	// The last group may be truncated after the last number that counts.
	groups := head >> 1
	if h.width > 0 {
		groups = min(groups, (uint64(len(h.data))+uint64(h.width)-1)/uint64(h.width))
	}
	if groups == 0 {
		return errLevels
	}
	h.packed, h.left, h.bit = true, int(groups)*8, 0
	return nil
}

// bitsAt returns the number at a bit offset; bits after the data are 0.
func bitsAt(data []byte, at, width uint) uint64 {
	i, shift := at/8, at%8
	if i+9 > uint(len(data)) {
		var end [9]byte
		copy(end[:], data[min(i, uint(len(data))):])
		data, i = end[:], 0
	}
	v := binary.LittleEndian.Uint64(data[i:])>>shift | uint64(data[i+8])<<(64-shift)
	return v & (1<<width - 1)
}

// bitsFor returns the number of bits of numbers up to n.
func bitsFor(n int) uint { return uint(bits.Len(uint(n))) }

var errDelta = errors.New("its deltas are encoded incorrectly")

// maxDeltaBlock is the maximum number of values in a block of deltas; writers use 128.
const maxDeltaBlock = 1 << 16

// deltas reads numbers stored as differences (Encodings.md, "Delta Encoding"), in constant memory.
type deltas struct {
	byteReader
	left   uint64 // numbers in total
	value  int64
	first  bool // value is the next number
	minis  int  // miniblocks of a block
	size   int  // numbers of a miniblock
	widths []byte
	mini   int // next miniblock of the block
	least  int64
	packed []byte // the current miniblock
	done   int    // numbers read from it
}

// newDeltas returns a reader of at most n numbers.
func newDeltas(data []byte, n int) (*deltas, error) {
	d := &deltas{byteReader: byteReader{data: data}, first: true}
	block, minis := d.uvarint(), d.uvarint()
	d.left, d.value = d.uvarint(), d.int()
	if d.err != nil || block == 0 || block > maxDeltaBlock || minis == 0 || block%minis != 0 || block/minis%8 != 0 || d.left > uint64(n) {
		return nil, errDelta
	}
	d.minis, d.size = int(minis), int(block/minis)
	d.mini, d.done = d.minis, d.size
	return d, nil
}

func (d *deltas) next() (int64, error) {
	if d.left == 0 {
		return 0, errValues
	}
	d.left--
	if d.first {
		d.first = false
		return d.value, nil
	}
	if d.done == d.size {
		if err := d.miniblock(); err != nil {
			return 0, err
		}
	}
	width := uint(d.widths[d.mini-1])
	d.value += d.least + int64(bitsAt(d.packed, uint(d.done)*width, width))
	d.done++
	return d.value, nil
}

func (d *deltas) miniblock() error {
	if d.mini == d.minis {
		d.least, d.widths = d.int(), d.take(uint64(d.minis))
		if d.err != nil {
			return errDelta
		}
		d.mini = 0
	}
	width := int(d.widths[d.mini])
	if width > 64 {
		return errDelta
	}
	d.packed = d.take(uint64(min(d.size*width/8, len(d.data)-d.at))) // the last may be truncated
	d.mini++
	d.done = 0
	return nil
}

// deltasBefore returns a reader of at most n numbers, and the data after them.
func deltasBefore(data []byte, n int) (d *deltas, rest []byte, err error) {
	if d, err = newDeltas(data, n); err != nil {
		return nil, nil, err
	}
	end := *d
	for end.left > 0 {
		if _, err := end.next(); err != nil {
			return nil, nil, err
		}
	}
	return d, end.data[end.at:], nil
}
