package bloomstore

import "math/bits"

// hashKey returns the four values from which bloom/v3 derives the positions of a
// key of 8 little-endian bytes: MurmurHash3 x64 128 of the key, and of the key
// followed by one byte 1. Both share the mixing of the only block, and the
// second block of the longer one is a constant.
func hashKey(key uint64) (h0, h1, h2, h3 uint64) {
	const (
		c1 = 0x87c37b91114253d5
		c2 = 0x4cf5ad432745937f
		// What the appended byte leaves in the second half: rotl(1·c2, 33)·c1.
		word     = 1<<64 - 1
		appended = (c2<<33 | c2>>31) & word * c1 & word
	)
	mixed := bits.RotateLeft64(key*c1, 31) * c2
	h0, h1 = finish(mixed^8, 8)
	h2, h3 = finish(mixed^9, appended^9)
	return h0, h1, h2, h3
}

func finish(a, b uint64) (uint64, uint64) {
	a += b
	b += a
	a = fmix(a)
	b = fmix(b)
	a += b
	return a, a + b
}

func fmix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// A modulus reduces 64-bit numbers modulo m without a division, which takes
// 10 to 18 cycles and is not pipelined; a key needs k of them.
type modulus struct {
	m       uint64
	inverse uint64 // floor(2^64 / m), when m is no power of two
	mask    uint64 // m − 1, when m is a power of two
	pow2    bool
}

func newModulus(m uint64) modulus {
	if m&(m-1) == 0 {
		return modulus{m: m, mask: m - 1, pow2: true}
	}
	// m does not divide 2^64, so floor((2^64−1)/m) = floor(2^64/m).
	return modulus{m: m, inverse: ^uint64(0) / m}
}

// reduce returns x mod m. The estimate of the quotient from the inverse is
// right or one too small: inverse = (2^64 − e)/m with e < m, so that
// x·inverse/2^64 = x/m − (x/2^64)·(e/m), where the last term is in [0, 1).
func (d *modulus) reduce(x uint64) uint64 {
	if d.pow2 {
		return x & d.mask
	}
	q, _ := bits.Mul64(x, d.inverse)
	r := x - q*d.m
	if r >= d.m {
		r -= d.m
	}
	return r
}
