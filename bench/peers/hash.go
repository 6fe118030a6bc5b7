package peers

import "github.com/zeebo/xxh3"

// multiplier is the golden ratio as an odd 64-bit number.
const multiplier = 0x9e3779b97f4a7c15

func hashString(s string) uint64 { return xxh3.HashString(s) }

// mix is the finalizer of splitmix64, a bijection that spreads every bit.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
