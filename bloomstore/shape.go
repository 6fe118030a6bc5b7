package bloomstore

import (
	"fmt"
	"math"
)

const (
	// maxBits (1 TiB) and maxHashes bound the size in a header.
	maxBits   = 1 << 43
	maxHashes = 64

	defaultHashes = 8
)

// Shape is the size of a filter. Filters of equal shape and scheme can be merged.
type Shape struct {
	Bits   uint64 // m: bits in the filter, 1 to 2^43
	Hashes int    // k: bits set for each key, 1 to 64
}

// ForItems returns the shape made for n keys: 16 bits a key and 8 probes. At n keys the filter is
// 39% full and reports 5.745e-4 of the keys never added as seen; at 2n it is 2.5e-2.
func ForItems(n uint64) Shape {
	n = min(max(n, 4), maxBits/(2*defaultHashes))
	bits := n * 2 * defaultHashes
	return Shape{Bits: (bits + 63) &^ 63, Hashes: defaultHashes}
}

// ForMemory returns the largest shape whose bits take at most the given bytes of memory; at least
// 8 bytes.
func ForMemory(bytes uint64) Shape {
	bytes = min(max(bytes&^7, 8), maxBits/8)
	return Shape{Bits: bytes * 8, Hashes: defaultHashes}
}

// Validate returns an error if no filter can have this shape.
func (s Shape) Validate() error {
	if s.Bits < 1 || s.Bits > maxBits {
		return fmt.Errorf("a filter of %d bits: must have 1 to %d", s.Bits, uint64(maxBits))
	}
	if s.Hashes < 1 || s.Hashes > maxHashes {
		return fmt.Errorf("a filter with %d probes a key: must have 1 to %d", s.Hashes, maxHashes)
	}
	return nil
}

// Capacity returns the number of keys at design load: two bits for every probe, 16 bits a key for
// 8 probes. A filter takes more keys, but the rate rises fast.
func (s Shape) Capacity() uint64 { return s.Bits / (2 * uint64(s.Hashes)) }

// Bytes returns the memory of the bits.
func (s Shape) Bytes() uint64 { return s.words() * 8 }

// FalsePositiveRate predicts the false positive rate after items distinct keys were added:
// (1 − e^(−kn/m))^k.
func (s Shape) FalsePositiveRate(items uint64) float64 {
	k := float64(s.Hashes)
	// Expm1 keeps the digits if few bits are set.
	fill := -math.Expm1(-k * float64(items) / float64(s.Bits))
	return math.Pow(fill, k)
}

func (s Shape) words() uint64 { return (s.Bits + 63) / 64 }
