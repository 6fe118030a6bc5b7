package docmap

import "math/bits"

const (
	blockLog     = 7  // 128 buckets in a sub-block
	maxSubLog    = 6  // at most 64 sub-blocks in a bin
	minLog       = 7  // so that the low part of a key has at most 57 bits
	maxLog       = 40 // of 2^40 entries: 8 TB
	blockExtra   = 21 // bytes of a sub-block beside its entries
	blockCheck   = 4
	blockBuckets = 1 << blockLog
)

// shape is how a run divides the key space and a bin its bytes; see
// docs/format.md, "Bins". From the top, the bits of a key are bin, sub,
// blockLog bits of bucket, low.
type shape struct {
	binBits, subBits, lowBits uint
	docBits                   uint
	width                     uint64 // bits of an entry
}

// logFor returns q for a run of at most n entries.
func logFor(n uint64) uint8 {
	q := 0
	if n > 1 {
		q = bits.Len64(n - 1)
	}
	return uint8(max(minLog, q))
}

func newShape(log uint8, first, last uint32) shape {
	s := shape{
		subBits: min(maxSubLog, uint(log)-minLog),
		lowBits: 64 - uint(log),
		docBits: uint(bits.Len32(last - first)),
	}
	s.binBits = uint(log) - minLog - s.subBits
	s.width = uint64(1 + s.lowBits + s.docBits)
	return s
}

// subs is the number of sub-blocks in a bin, bins that of bins in the run.
func (s *shape) subs() int    { return 1 << s.subBits }
func (s *shape) bins() uint64 { return 1 << s.binBits }

// head is the length of a bin's checksum and directory.
func (s *shape) head() int { return 12 + 4*s.subs() }

// offset returns where sub-block i starts, c entries being before it.
func (s *shape) offset(i int, c uint32) int {
	return s.head() + blockExtra*i + int(uint64(c)*s.width>>3)
}

// size is the length of a bin of n entries.
func (s *shape) size(n int) int { return s.offset(s.subs(), uint32(n)) + 8 }

// binOf returns the bin a key belongs to.
func (s *shape) binOf(key uint64) uint64 { return key >> (64 - s.binBits) }

// first and last key of a bin. (A shift by 64 gives 0 in Go, which is right
// for the run of one bin.)
func (s *shape) lowest(bin uint64) uint64  { return bin << (64 - s.binBits) }
func (s *shape) highest(bin uint64) uint64 { return s.lowest(bin) + (1<<(64-s.binBits) - 1) }

// place is the part of a checksum's seed that says which bin of which run.
func place(id uint32, bin uint64) uint64 { return uint64(id)<<32 + bin }
