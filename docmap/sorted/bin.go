package sorted

import (
	"encoding/binary"
	"math/bits"

	"github.com/zeebo/xxh3"
)

// A Bin reads one bin of a run.
type Bin struct {
	*Shape
	b     []byte // the value
	num   uint64 // of the bin
	place uint64
	first uint32 // document number that is stored as 0
}

// Len returns the number of entries of a bin whose directory is right.
func (v *Bin) Len() int { return int(v.count(v.subs())) }

// count returns the number of entries before sub-block i.
func (v *Bin) count(i int) uint32 { return binary.LittleEndian.Uint32(v.b[8+4*i:]) }

// verifyDirectory checks everything that later reads need to stay inside the value.
func (v *Bin) verifyDirectory() error {
	if len(v.b) < v.Size(0) {
		return damagef("bin %x has %d bytes", v.place, len(v.b))
	}
	if xxh3.HashSeed(v.b[8:v.head()], v.place) != binary.LittleEndian.Uint64(v.b) {
		return damagef("bin %x: wrong checksum of its directory", v.place)
	}
	if n := v.count(v.subs()); len(v.b) != v.Size(int(n)) {
		return damagef("bin %x has %d bytes for %d entries", v.place, len(v.b), n)
	}
	return nil
}

// block returns the bytes of sub-block i and the number of its entries.
func (v *Bin) block(i int) ([]byte, int) {
	c, next := v.count(i), v.count(i+1)
	return v.b[v.offset(i, c) : v.offset(i+1, next)+8], int(next - c)
}

func blockSeed(place uint64, i int) uint64 { return place + uint64(i+1)<<56 }

func (v *Bin) verifyBlock(i int) error {
	b, _ := v.block(i)
	if uint32(xxh3.HashSeed(b[blockCheck:len(b)-8], blockSeed(v.place, i))) != binary.LittleEndian.Uint32(b) {
		return damagef("bin %x: wrong checksum of sub-block %d", v.place, i)
	}
	return nil
}

// appendBlock appends the entries of sub-block i, in order. base holds the bits of a key above
// the sub-block's.
func (v *Bin) appendBlock(e *Entries, i int, base uint64) {
	b, n := v.block(i)
	keys, docs := e.extend(n)
	base |= uint64(i) << (v.lowBits + v.blockBits)
	low := uint64(8*blockCheck + v.buckets + n)
	doc := low + uint64(n)*uint64(v.lowBits)
	lowMask, docMask := uint64(1)<<v.lowBits-1, uint64(1)<<v.docBits-1
	for at, word := 0, 0; at < n; word++ {
		upper := binary.LittleEndian.Uint64(b[blockCheck+8*word:])
		for ; upper != 0 && at < n; upper &= upper - 1 {
			bucket := uint64(64*word + bits.TrailingZeros64(upper) - at)
			keys[at] = base | bucket<<v.lowBits | load(b, low, lowMask)
			docs[at] = v.first + uint32(load(b, doc, docMask))
			low += uint64(v.lowBits)
			doc += uint64(v.docBits)
			at++
		}
	}
}

// AppendRange appends the entries with keys in from..to, and verifies all that it reads.
func (v *Bin) AppendRange(e *Entries, from, to uint64) error {
	if err := v.verifyDirectory(); err != nil {
		return err
	}
	base := v.Lowest(v.num)
	span := v.lowBits + v.blockBits
	lo, hi := 0, v.subs()-1
	if from > base {
		lo = int((from - base) >> span)
	}
	if last := v.Highest(v.num); to < last {
		hi = int((to - base) >> span)
	}
	for i := lo; i <= hi; i++ {
		if err := v.verifyBlock(i); err != nil {
			return err
		}
		at := len(e.Keys)
		v.appendBlock(e, i, base)
		if i == lo || i == hi {
			e.keep(at, from, to)
		}
	}
	return nil
}

// findBucket returns the position of the first entry of a bucket in its sub-block, and the number
// of the bucket's entries.
func findBucket(b []byte, bucket int) (at, n int) {
	pos := 0
	skip := bucket - 1 // the zero that ends the bucket before
	for word := 0; skip >= 0; word++ {
		zeros := ^binary.LittleEndian.Uint64(b[blockCheck+8*word:])
		c := bits.OnesCount64(zeros)
		if c > skip {
			pos = 64*word + select1(zeros, skip) + 1
		}
		skip -= c
	}
	for p := uint64(pos); ; {
		// 57 bits are available wherever p falls in a byte.
		run := bits.TrailingZeros64(^load(b, 8*blockCheck+p, 1<<57-1))
		n += min(run, 57)
		if run < 57 {
			return pos - bucket, n
		}
		p += 57
	}
}
