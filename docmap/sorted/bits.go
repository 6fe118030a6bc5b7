package sorted

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
)

// load returns the bits of b from position bit on, under mask. The mask has at
// most 57 bits, so that one load of 8 bytes holds them wherever they start.
func load(b []byte, bit, mask uint64) uint64 {
	return binary.LittleEndian.Uint64(b[bit>>3:]) >> (bit & 7) & mask
}

// bitWriter appends numbers of any width up to 57 bits to buf. It keeps the last 64 bits in a
// register: reading back the bytes just stored, at another alignment, would stall on every
// number. buf needs 8 bytes beyond the last number; they end up zero or unchanged.
type bitWriter struct {
	buf []byte
	acc uint64
	pos int  // next byte to store to
	n   uint // bits in acc
}

// seek continues at position bit, keeping the bits before it in its byte.
func (w *bitWriter) seek(bit uint64) {
	w.pos, w.n = int(bit>>3), uint(bit&7)
	w.acc = uint64(w.buf[w.pos]) & (1<<w.n - 1)
}

// put appends the low width bits of v; the others must be zero.
func (w *bitWriter) put(v uint64, width uint) {
	w.acc |= v << w.n
	if w.n+width < 64 {
		w.n += width
		return
	}
	binary.LittleEndian.PutUint64(w.buf[w.pos:], w.acc)
	w.pos += 8
	w.acc = v >> (64 - w.n)
	w.n = w.n + width - 64
}

// flush stores the remaining bits, with zeros up to the eighth byte.
func (w *bitWriter) flush() {
	binary.LittleEndian.PutUint64(w.buf[w.pos:], w.acc)
}

// select1 returns the position of the k-th one of x, counted from 0. x must have more than k
// ones. Two of three steps are on sums of bytes: Vigna, "Broadword implementation of rank/select
// queries" (2008), algorithm 2.
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

// bitset remembers the verified parts of a run. Writes before set happen before has returns true.
type bitset []uint64

func newBitset(n uint64) bitset    { return make(bitset, (n+63)/64) }
func (s bitset) has(i uint64) bool { return atomic.LoadUint64(&s[i>>6])>>(i&63)&1 != 0 }
func (s bitset) set(i uint64)      { atomic.OrUint64(&s[i>>6], 1<<(i&63)) }
