package bloomstore

import "math/bits"

// hashKey returns the four values from which bloom/v3 derives the positions of a key of 8
// little-endian bytes. They are MurmurHash3 x64 128 of the key, and of the key followed by a byte
// 1. Both share the mixing of the only block, and the second block of the longer one is constant.
func hashKey(key uint64) (h0, h1, h2, h3 uint64) {
	const (
		c1 = 0x87c37b91114253d5
		c2 = 0x4cf5ad432745937f
		// The appended byte's contribution to the second half: rotl(1·c2, 33)·c1.
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

// positions writes k unreduced positions for each key to dst, of length k·len(keys). The order is
// that of bloom/v3's location function: h[i%2] + i·h[2 + ((i + i%2) % 4)/2].
func positions(dst, keys []uint64, k int) {
	if k == 8 {
		positions8(dst, keys)
		return
	}
	for i, key := range keys {
		h0, h1, h2, h3 := hashKey(key)
		h := [4]uint64{h0, h1, h2, h3}
		for j := range dst[i*k : (i+1)*k] {
			n := uint64(j)
			dst[i*k+j] = h[n%2] + n*h[2+(n+n%2)%4/2]
		}
	}
}

// positions8 is positions for k = 8, unrolled: 8 ns a key instead of 19.
func positions8(dst, keys []uint64) {
	for i, key := range keys {
		h0, h1, h2, h3 := hashKey(key)
		d := (*[8]uint64)(dst[i*8:])
		d[0] = h0
		d[1] = h1 + h3
		d[2] = h0 + 2*h3
		d[3] = h1 + 3*h2
		d[4] = h0 + 4*h2
		d[5] = h1 + 5*h3
		d[6] = h0 + 6*h3
		d[7] = h1 + 7*h2
	}
}

// A modulus reduces 64-bit numbers modulo m without division. A division takes 10 to 18 cycles and
// is not pipelined, and each key needs k reductions.
type modulus struct {
	m       uint64
	inverse uint64 // floor((2^64 − 1) / m)
}

func newModulus(m uint64) modulus { return modulus{m: m, inverse: ^uint64(0) / m} }

// reduce replaces every x by x mod m.
func (d modulus) reduce(xs []uint64) {
	if mask := d.m - 1; d.m&mask == 0 {
		for i := range xs {
			xs[i] &= mask
		}
		return
	}
	// The estimated quotient q is exact or one too small: inverse is (2^64 − e)/m with 1 ≤ e ≤ m.
	// So x·inverse/2^64 = x/m − (x/2^64)·(e/m), and the subtracted term is less than 1.
	for i, x := range xs {
		q, _ := bits.Mul64(x, d.inverse)
		r := x - q*d.m
		if r >= d.m {
			r -= d.m
		}
		xs[i] = r
	}
}
