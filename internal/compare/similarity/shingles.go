package similarity

import (
	"hash/maphash"
	"iter"
	"math/bits"
)

// factors make of the hashes of a shingle's units one number. They are odd, and drawn anew
// by every process.
var factors = func() (f [ShingleUnits]uint64) {
	for i := range f {
		f[i] = maphash.Comparable(seed, i) | 1
	}
	return f
}()

// shingles are hashes of the runs of ShingleUnits units, in order; if there are fewer units, all of
// them are one run. None is 0.
func shingles(units []uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i := 0; i == 0 && len(units) > 0 || i+ShingleUnits <= len(units); i++ {
			h := uint64(1)
			for at, u := range units[i:min(i+ShingleUnits, len(units))] {
				h += u * factors[at]
			}
			if !yield(max(h, 1)) {
				return
			}
		}
	}
}

// countShingles counts the distinct shingles of each text, and those that both have. It
// takes 16 to 32 bytes a unit. Sorting both would take four times as long.
func countShingles(a, b *Text) (inA, inB, inBoth int) {
	places := 1 << bits.Len(uint(len(a.units)+len(b.units)))
	t := shingleTable{hashes: make([]uint64, 2*places), of: make([]uint8, 2*places)}
	for h := range shingles(a.units) {
		if t.add(h, 1) == 0 {
			inA++
		}
	}
	for h := range shingles(b.units) {
		switch was := t.add(h, 2); {
		case was == 0:
			inB++
		case was == 1:
			inB++
			inBoth++
		}
	}
	return inA, inB, inBoth
}

// A shingleTable is a hash table with open addressing, at most half full.
type shingleTable struct {
	hashes []uint64 // 0: free
	of     []uint8  // which texts have it, as bits
}

// add notes that a text has the shingle, and returns which had it before.
func (t *shingleTable) add(h uint64, text uint8) (was uint8) {
	mask := uint64(len(t.hashes) - 1)
	for i := h * 0x9e3779b97f4a7c15 >> 32 & mask; ; i = (i + 1) & mask {
		switch t.hashes[i] {
		case 0:
			t.hashes[i] = h
		case h:
		default:
			continue
		}
		was = t.of[i]
		t.of[i] |= text
		return was
	}
}
