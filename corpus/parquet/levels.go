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
