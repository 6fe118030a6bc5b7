package flip

import (
	"math/rand/v2"
)

const (
	pageBytes   = 4096
	sectorBytes = 512

	maxSwaps       = 2000 // pairs of pages, of one file
	sampledLengths = 300  // beside those at the borders of sectors
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
	swap                 // the pages a and b change places
)

var kindNames = [...]string{"bits flipped", "cut short", "zeroed", "pages swapped"}

func (k kind) String() string { return kindNames[k] }

// damages is everything done to a file of so many bytes, always in the same order:
// every bit of every byte, lengths about every sector and some between, every
// sector and page zeroed, and every pair of pages swapped, or as many as maxSwaps.
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

// apply damages a copy of data and returns the copy.
// It returns nil if nothing would change.
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
