package flip

import (
	"math/rand/v2"
)

const (
	pageBytes   = 4096
	sectorBytes = 512

	maxSwaps       = 2000 // pairs of pages per file
	sampledLengths = 300  // in addition to those near sector boundaries
)

// A damage is one change to a file. The meaning of a and b depends on the kind.
type damage struct {
	kind kind
	a, b int
}

type kind int

const (
	bit      kind = iota // bit b of byte a is flipped
	truncate             // only the first a bytes are left
	zero                 // b bytes from a on are zero
	swap                 // pages a and b are swapped
)

var kindNames = [...]string{"bits flipped", "cut short", "zeroed", "pages swapped"}

func (k kind) String() string { return kindNames[k] }

// damages lists every damage to a file of this size, always in the same order. It flips every bit,
// cuts the file near sector boundaries and between, zeroes every sector and page, and swaps at most
// maxSwaps pairs of pages.
func damages(size int) []damage {
	list := make([]damage, 0, 8*size+size/32+maxSwaps)
	for at := range size {
		for b := range 8 {
			list = append(list, damage{bit, at, b})
		}
	}
	rng := rand.New(rand.NewPCG(uint64(size), 1))
	for at := 0; at < size; at += sectorBytes {
		list = append(list, damage{kind: truncate, a: at})
		if at > 0 {
			list = append(list, damage{kind: truncate, a: at - 1})
		}
		list = append(list, damage{kind: truncate, a: min(at+1, size-1)})
		list = append(list, damage{zero, at, min(sectorBytes, size-at)})
		if at%pageBytes == 0 {
			list = append(list, damage{zero, at, min(pageBytes, size-at)})
		}
	}
	if size > 0 {
		for range sampledLengths {
			list = append(list, damage{kind: truncate, a: rng.IntN(size)})
		}
	}
	return append(list, swaps(size/pageBytes, rng)...)
}

func swaps(pages int, rng *rand.Rand) (list []damage) {
	if pages*(pages-1)/2 <= maxSwaps {
		for a := range pages {
			for b := range a {
				list = append(list, damage{swap, b, a})
			}
		}
		return list
	}
	for range maxSwaps {
		if a, b := rng.IntN(pages), rng.IntN(pages); a != b {
			list = append(list, damage{swap, a, b})
		}
	}
	return list
}

// apply returns a damaged copy of data, or nil if nothing would change.
func (d damage) apply(dst, data []byte) []byte {
	dst = append(dst[:0], data...)
	switch d.kind {
	case bit:
		dst[d.a] ^= 1 << d.b
		return dst
	case truncate:
		return dst[:d.a]
	case zero:
		clear(dst[d.a : d.a+d.b])
	case swap:
		copy(dst[d.a*pageBytes:][:pageBytes], data[d.b*pageBytes:])
		copy(dst[d.b*pageBytes:][:pageBytes], data[d.a*pageBytes:])
	}
	if string(dst) == string(data) {
		return nil
	}
	return dst
}
