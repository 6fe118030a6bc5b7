package docmap

import "math/bits"

const (
	minLog     = 7  // so that the low part of a key has at most 57 bits
	maxLog     = 40 // of 2^40 entries: 8 TB
	blockCheck = 4
)

// sizes are what the division of runs and of the work depends on. They are the
// same for all tables but those of tests, which reach with small tables what
// takes a large one otherwise.
type sizes struct {
	blockBits  uint // 2^this buckets in a sub-block, 3 to minLog
	maxSubBits uint // at most 2^this sub-blocks in a bin
	// low and high are how many runs of levels 0 and 1, and of those above,
	// become one.
	low, high int
	// sliceBytes bounds the values in one transaction of a flush or merge.
	sliceBytes int
}

// Of runs: more at a time would write less and leave more runs to look into. Low
// runs are few keys and many runs; from level 2 on, 100 million keys a run, merging
// four at a time cost the tenth million of documents 4 µs each, and spares a
// look-up two runs of ten.
var defaultSizes = sizes{blockBits: 7, maxSubBits: 6, low: 4, high: 8, sliceBytes: 4 << 20}

// fanIn is how many runs of a level become one of the next.
func (z *sizes) fanIn(level int) int {
	if level < 2 {
		return z.low
	}
	return z.high
}

// window is how many flushes lie between two merges of a level.
func (z *sizes) window(level int) int {
	n := 1
	for l := range level + 1 {
		n *= z.fanIn(l)
	}
	return n
}

// pace is the share of a merge to do after each flush. The next merge of the
// same level cannot start for a window of flushes; this one is done after three
// quarters of it. So the work of a flush is bounded and even: each level under way
// adds four thirds of what the flush itself has written.
func (z *sizes) pace(level int) float64 { return 4.0 / 3 / float64(z.window(level)) }

// shape is how a run divides the key space and a bin its bytes; see
// docs/format.md, "Bins". From the top, the bits of a key are bin, sub, block
// (the bucket in a sub-block), low.
type shape struct {
	binBits, subBits, blockBits, lowBits uint
	docBits                              uint
	width                                uint64 // bits of an entry
	buckets                              int    // in a sub-block
	extra                                int    // bytes of a sub-block beside its entries
}

// logFor returns q for a run of at most n entries.
func logFor(n uint64) uint8 {
	q := 0
	if n > 1 {
		q = bits.Len64(n - 1)
	}
	return uint8(max(minLog, q))
}

// shape is that of a run of 2^log buckets and a range of documents.
func (z *sizes) shape(log uint8, first, last uint32) shape {
	s := shape{
		subBits:   min(z.maxSubBits, uint(log)-z.blockBits),
		blockBits: z.blockBits,
		lowBits:   64 - uint(log),
		docBits:   uint(bits.Len32(last - first)),
		buckets:   1 << z.blockBits,
		extra:     blockCheck + 1<<z.blockBits/8 + 1,
	}
	s.binBits = uint(log) - s.blockBits - s.subBits
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
	return s.head() + s.extra*i + int(uint64(c)*s.width>>3)
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
