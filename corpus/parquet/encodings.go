package parquet

import (
	"encoding/binary"
	"errors"
)

var errLevels = errors.New("its runs of levels or indices end too early, or are longer than the page")

// hybrid reads numbers of a few bits, in runs of one number and in packed groups of eight
// (Encodings.md, "RLE / Bit-Packing Hybrid"). It holds only its position.
type hybrid struct {
	data   []byte
	width  uint
	left   int    // of the run
	packed bool   // the run is packed, and its next number at bit
	value  uint32 // of a run of one number
	bit    uint
}

func newHybrid(data []byte, width uint) hybrid { return hybrid{data: data, width: width} }

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
	v := bits(h.data, h.bit, h.width)
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
	// The last group may be cut off behind the last number that counts.
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

// bits returns the number made of some bits at a place; bits behind the data are 0.
func bits(data []byte, at, width uint) (v uint64) {
	i, shift := at/8, at%8
	if i+9 <= uint(len(data)) {
		v = binary.LittleEndian.Uint64(data[i:]) >> shift
		if shift > 0 {
			v |= uint64(data[i+8]) << (64 - shift)
		}
	} else {
		for k := uint(0); k < 9 && i+k < uint(len(data)); k++ {
			if s := 8*int(k) - int(shift); s < 0 {
				v |= uint64(data[i+k]) >> -s
			} else if s < 64 {
				v |= uint64(data[i+k]) << s
			}
		}
	}
	if width < 64 {
		v &= 1<<width - 1
	}
	return v
}

// bitsFor is how many bits the numbers up to n take.
func bitsFor(n int) (width uint) {
	for ; n > 0; n >>= 1 {
		width++
	}
	return width
}

var errDelta = errors.New("its deltas are not as they are encoded")

// maxDeltaBlock is how many numbers a block of deltas may have; writers use 128.
const maxDeltaBlock = 1 << 16

// deltas reads numbers stored as differences (Encodings.md, "Delta Encoding"). It holds only its
// position.
type deltas struct {
	data   []byte
	left   uint64 // numbers, in all
	value  int64
	first  bool // value is the next number
	block  int  // numbers of a block
	minis  int  // miniblocks of a block
	widths []byte
	mini   int // the next miniblock of the block
	least  int64
	packed []byte // the miniblock
	at, n  int    // in it
}

// newDeltas reads at most n numbers.
func newDeltas(data []byte, n int) (d *deltas, err error) {
	d = &deltas{data: data, first: true}
	head := [3]uint64{}
	for i := range head {
		if head[i], err = d.uvarint(); err != nil {
			return nil, err
		}
	}
	first, err := d.uvarint()
	d.value = int64(first>>1) ^ -int64(first&1)
	if err != nil || head[0] == 0 || head[0] > maxDeltaBlock || head[1] == 0 || head[0]%head[1] != 0 || head[0]/head[1]%8 != 0 || head[2] > uint64(n) {
		return nil, errDelta
	}
	d.block, d.minis, d.left = int(head[0]), int(head[1]), head[2]
	d.mini = d.minis
	return d, nil
}

func (d *deltas) uvarint() (uint64, error) {
	v, n := binary.Uvarint(d.data)
	if n <= 0 {
		return 0, errDelta
	}
	d.data = d.data[n:]
	return v, nil
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
	if d.at == d.n {
		if err := d.miniblock(); err != nil {
			return 0, err
		}
	}
	width := uint(d.widths[d.mini-1])
	d.value += d.least + int64(bits(d.packed, uint(d.at)*width, width))
	d.at++
	return d.value, nil
}

// miniblock goes on to the next miniblock.
func (d *deltas) miniblock() error {
	if d.mini == d.minis {
		least, err := d.uvarint()
		if err != nil || len(d.data) < d.minis {
			return errDelta
		}
		d.least = int64(least>>1) ^ -int64(least&1)
		d.widths, d.data, d.mini = d.data[:d.minis], d.data[d.minis:], 0
	}
	d.at, d.n = 0, d.block/d.minis
	width := int(d.widths[d.mini])
	if width > 64 {
		return errDelta
	}
	size := min(d.n*width/8, len(d.data)) // the last may be cut off
	d.packed, d.data = d.data[:size], d.data[size:]
	d.mini++
	return nil
}

// deltasBefore reads at most n numbers, and returns the data behind them.
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
	return d, end.data, nil
}
