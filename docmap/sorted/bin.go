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
	first uint32 // document number stored as 0
}

// Len returns the number of entries of a bin with a verified directory.
func (v *Bin) Len() int { return int(v.count(v.subs())) }

func (v *Bin) count(i int) uint32 { return binary.LittleEndian.Uint32(v.b[8+4*i:]) }

// verifyDirectory checks everything that keeps later reads inside the value.
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

// appendBlock appends sub-block i's entries in order. base holds the higher bits of their keys.
func (v *Bin) appendBlock(e *Entries, i int, base uint64) {
	b, n := v.block(i)
	keys, docs := e.extend(n)
	first := v.first
	base |= uint64(i) << (v.lowBits + v.blockBits)
	lowBits, docBits := uint64(v.lowBits)&63, uint64(v.docBits) // the loop need not read them again
	low := uint64(8*blockCheck + v.buckets + n)
	doc := low + uint64(n)*lowBits
	lowMask, docMask := uint64(1)<<lowBits-1, uint64(1)<<docBits-1
	for at, word := 0, 0; at < n; word++ {
		upper := binary.LittleEndian.Uint64(b[blockCheck+8*word:])
		for ; upper != 0 && at < n; upper &= upper - 1 {
			bucket := uint64(64*word + bits.TrailingZeros64(upper) - at)
			keys[at] = base | bucket<<lowBits | load(b, low, lowMask)
			docs[at] = first + uint32(load(b, doc, docMask))
			low += lowBits
			doc += docBits
			at++
		}
	}
}

// AppendRange appends the entries with keys in from..to, and verifies everything it reads.
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
		at, first := len(e.Keys), base+uint64(i)<<span
		v.appendBlock(e, i, base)
		if last := first + (1<<span - 1); from > first || to < last {
			e.Keep(at, func(key uint64, _ uint32) bool { return key >= from && key <= to })
		}
	}
	return nil
}

// findBucket returns the position and the number of a bucket's entries in its sub-block.
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

// load returns the bits of b from offset bit on, under mask. The mask has at most 57 bits, so one
// 8-byte load holds them at any offset.
func load(b []byte, bit, mask uint64) uint64 {
	at := bit >> 3
	return binary.LittleEndian.Uint64(b[at:at+8]) >> (bit & 7) & mask
}

// A bitWriter appends numbers of up to 56 bits to a buffer. It keeps the bits of the last, partial byte
// in a register, since rereading bytes just stored, at another alignment, would stall on every number.
// put takes and returns a copy, which stays in registers. It has no branch: with numbers of 43 bits,
// a processor mispredicts which of them fill a word. Beyond the last number, the buffer needs 8 bytes,
// which end up zero.
type bitWriter struct {
	acc uint64
	pos int  // byte of the lowest bit in acc
	n   uint // bits in acc, 0 to 7
}

// put appends the low width bits of v to buf; the others must be zero.
func (w bitWriter) put(buf []byte, v uint64, width uint) bitWriter {
	w.acc |= v << (w.n & 7)
	binary.LittleEndian.PutUint64(buf[w.pos:w.pos+8], w.acc)
	w.n += width
	w.pos += int(w.n >> 3)
	w.acc >>= w.n & 56 // less than 64, so that the compiler adds no test
	w.n &= 7
	return w
}

// putKeys appends the low width bits of each key. The loop fits into the registers.
func (w bitWriter) putKeys(buf []byte, keys []uint64, width uint) bitWriter {
	mask := uint64(1)<<width - 1
	if width > 56 { // 57, of a run with MinLog
		for _, k := range keys {
			w = w.put(buf, k&1, 1).put(buf, k&mask>>1, width-1)
		}
		return w
	}
	for _, k := range keys {
		w = w.put(buf, k&mask, width)
	}
	return w
}

// putDocs appends width bits of each document's number minus first.
func (w bitWriter) putDocs(buf []byte, docs []uint32, first uint32, width uint) bitWriter {
	if width <= 56/2 {
		for ; len(docs) > 1; docs = docs[2:] {
			w = w.put(buf, uint64(docs[0]-first)|uint64(docs[1]-first)<<width, 2*width)
		}
	}
	for _, d := range docs {
		w = w.put(buf, uint64(d-first), width)
	}
	return w
}

// select1 returns the position of the k-th one bit of x, counting from 0. x must have more than k
// ones. Two of the three steps work on byte sums; see Vigna, "Broadword implementation of
// rank/select queries" (2008), algorithm 2.
func select1(x uint64, k int) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	s := x - x>>1&0x5555555555555555
	s = s&0x3333333333333333 + s>>2&0x3333333333333333
	s = (s + s>>4) & 0x0f0f0f0f0f0f0f0f * ones    // byte i: ones in bytes 0..i
	below := ((uint64(k)*ones | high) - s) & high // bytes whose sum is at most k
	at := bits.OnesCount64(below) * 8
	k -= int(s << 8 >> at & 0xff)
	x >>= at
	for range k {
		x &= x - 1
	}
	return at + bits.TrailingZeros64(x)
}
