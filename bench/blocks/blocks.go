// Package blocks has other ways to lay out tables of fingerprints than package
// feature/hamming has, to be measured against it: of a number of blocks some are a table's
// key, and there is a table for every choice (Manku, Jain, Das Sarma, WWW 2007). A table is
// sorted by its key, so the fingerprints of a key lie together. It cannot be added to.
package blocks

import (
	"math/bits"
	"slices"
)

// A Layout cuts 64 bits into blocks, so many of which are the key of a table. It finds all
// that differ in at most Blocks - Chosen bits.
type Layout struct{ Blocks, Chosen int }

// Masks are the bits of each table's key.
func (l Layout) Masks() (masks []uint64) {
	for choice := range 1 << l.Blocks {
		if bits.OnesCount(uint(choice)) != l.Chosen {
			continue
		}
		var mask uint64
		for b := range l.Blocks {
			if choice>>b&1 == 1 {
				from, to := 64*b/l.Blocks, 64*(b+1)/l.Blocks
				mask |= (1<<(to-from) - 1) << from
			}
		}
		masks = append(masks, mask)
	}
	return masks
}

// A Table is fingerprints, moved so that their key is first, in order.
type Table struct {
	mask    uint64
	keyBits int
	sorted  []uint64
	first   []uint32 // of each value of the first 16 bits
}

// New makes a table. It uses the memory of spare, which is as long as the numbers.
func New(mask uint64, numbers, spare []uint64) *Table {
	t := &Table{mask: mask, keyBits: bits.OnesCount64(mask), sorted: numbers}
	for i, n := range numbers {
		numbers[i] = t.move(n)
	}
	const digit = 16
	for shift := 64 - 4*digit; shift < 64; shift += digit {
		var starts [1<<digit + 1]int
		for _, n := range numbers {
			starts[n>>shift&(1<<digit-1)+1]++
		}
		for i := range 1 << digit {
			starts[i+1] += starts[i]
		}
		for _, n := range numbers {
			d := n >> shift & (1<<digit - 1)
			spare[starts[d]] = n
			starts[d]++
		}
		numbers, spare = spare, numbers
	}
	t.first = make([]uint32, 1<<16+1)
	at := uint32(0)
	for i := range t.first {
		for int(at) < len(numbers) && numbers[at]>>48 < uint64(i) {
			at++
		}
		t.first[i] = at
	}
	return t
}

// move brings the bits of the key to the front, in their order, the others behind them.
func (t *Table) move(n uint64) (moved uint64) {
	return gather(n, t.mask)<<(64-t.keyBits) | gather(n, ^t.mask)
}

// back undoes move.
func (t *Table) back(moved uint64) uint64 {
	return spread(moved>>(64-t.keyBits), t.mask) | spread(moved&(1<<(64-t.keyBits)-1), ^t.mask)
}

// gather packs the bits of n that mask has, stretch by stretch.
func gather(n, mask uint64) (packed uint64) {
	for at := 0; mask != 0; {
		from := bits.TrailingZeros64(mask)
		length := bits.TrailingZeros64(^(mask >> from))
		packed |= n >> from & (1<<length - 1) << at
		at += length
		mask &^= (1<<length - 1) << from
	}
	return packed
}

// spread undoes gather.
func spread(packed, mask uint64) (n uint64) {
	for mask != 0 {
		from := bits.TrailingZeros64(mask)
		length := bits.TrailingZeros64(^(mask >> from))
		n |= packed & (1<<length - 1) << from
		packed >>= length
		mask &^= (1<<length - 1) << from
	}
	return n
}

// Find appends those that differ in at most so many bits, and says how many have the key.
func (t *Table) Find(dst []uint64, number uint64, distance int) (found []uint64, looked int) {
	moved := t.move(number)
	least := moved &^ (1<<(64-t.keyBits) - 1)
	most := moved | (1<<(64-t.keyBits) - 1)
	from, to := int(t.first[moved>>48]), int(t.first[moved>>48+1])
	at, _ := slices.BinarySearch(t.sorted[from:to], least)
	for i := from + at; i < to && t.sorted[i] <= most; i++ {
		looked++
		if bits.OnesCount64(t.sorted[i]^moved) <= distance {
			dst = append(dst, t.back(t.sorted[i]))
		}
	}
	return dst, looked
}
