// Package sorted packs sorted pairs of a 64-bit key and a document into bins of bytes. It finds the
// documents of a key in a bin, and unpacks bins. It reads no files: the owner of the bins passes
// each when needed.
//
//	r := sorted.NewRun(sorted.DefaultDivision.Shape(sorted.LogFor(n), first, last), id, first)
//	b := sorted.Builder{Limit: 8}
//	b.In.Keys, b.In.Docs = keys, docs  // all entries of bin number 3, in any order
//	value, kept := b.Build(nil, r, 3)
//	bin, err := r.Open(3, value, true) // later: verified, remembered
//	docs, err = r.Find(docs[:0], &bin, key)
//
// Each of n entries takes 66 - log2(n) bits for its key, and the bits of its document's number
// within the run. All 64 key bits can be restored, so answers are exact. No byte is used before its
// checksum is verified; a fault is a [Damage]. Keys must be uniform hashes; others work, but take
// longer. docs/format.md, "Bins", specifies the bytes of a bin.
package sorted

import (
	"fmt"
	"math/bits"
)

// Damage describes a fault of a bin.
type Damage string

func (d Damage) Error() string { return string(d) }

func damagef(format string, args ...any) error { return Damage(fmt.Sprintf(format, args...)) }

// Bounds of the logarithm of a run's number of buckets.
const (
	MinLog = 7  // so that the low part of a key has at most 57 bits
	MaxLog = 40 // of 2^40 entries: 8 TB
)

const maxSubBits = 6

const blockCheck = 4

// A Division determines the parts of bins. Only tests change it, to need fewer entries.
type Division struct {
	BlockBits  uint // logarithm of the buckets in a sub-block, 3 to MinLog
	MaxSubBits uint // largest logarithm of the sub-blocks in a bin, at most 6
}

// DefaultDivision is the division of the file format.
var DefaultDivision = Division{BlockBits: 7, MaxSubBits: maxSubBits}

// A Shape divides the key space of a run, and the bytes of a bin. From the top, the bits of a key
// are bin, sub, block (the bucket in a sub-block) and low.
type Shape struct {
	binBits, subBits, blockBits, lowBits uint
	docBits                              uint
	width                                uint64 // bits of an entry
	buckets                              int    // in a sub-block
	extra                                int    // bytes of a sub-block beside its entries
}

// LogFor returns q, the logarithm of the buckets, for a run of at most n entries.
func LogFor(n uint64) uint8 {
	return uint8(max(MinLog, bits.Len64(max(n, 1)-1)))
}

// Shape returns the shape of a run of 2^log buckets, MinLog to MaxLog, for documents first to last.
func (d Division) Shape(log uint8, first, last uint32) Shape {
	s := Shape{
		subBits:   min(d.MaxSubBits, uint(log)-d.BlockBits),
		blockBits: d.BlockBits,
		lowBits:   64 - uint(log),
		docBits:   uint(bits.Len32(last - first)),
		buckets:   1 << d.BlockBits,
		extra:     blockCheck + 1<<d.BlockBits/8 + 1,
	}
	s.binBits = uint(log) - s.blockBits - s.subBits
	s.width = uint64(1 + s.lowBits + s.docBits)
	return s
}

// Bins returns the number of bins in the run, a power of two.
func (s *Shape) Bins() uint64 { return 1 << s.binBits }

// EntryBits returns the number of bits of an entry.
func (s *Shape) EntryBits() uint64 { return s.width }

func (s *Shape) subs() int { return 1 << s.subBits }

func (s *Shape) head() int { return 12 + 4*s.subs() }

// offset returns the start of sub-block i, with c entries before it.
func (s *Shape) offset(i int, c uint32) int {
	return s.head() + s.extra*i + int(uint64(c)*s.width>>3)
}

// Size returns the length of a bin of n entries.
func (s *Shape) Size(n int) int { return s.offset(s.subs(), uint32(n)) + 8 }

// BinOf returns the bin of a key.
func (s *Shape) BinOf(key uint64) uint64 { return key >> (64 - s.binBits) }

// Lowest returns the first key of a bin. A shift by 64 gives 0, as needed for a run of one bin.
func (s *Shape) Lowest(bin uint64) uint64 { return bin << (64 - s.binBits) }

// Highest returns the last key of a bin.
func (s *Shape) Highest(bin uint64) uint64 { return s.Lowest(bin) + (1<<(64-s.binBits) - 1) }

func (s *Shape) subOf(key uint64) int { return int(key << s.binBits >> (64 - s.subBits)) }

// binSeed returns the checksum seed of one bin of one run.
func binSeed(id uint32, bin uint64) uint64 { return uint64(id)<<32 + bin }
