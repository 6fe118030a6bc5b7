package feature

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"runtime"

	"github.com/firstseen/firstseen/internal/hugemem"
)

// MaxDistance is the most of Scheme.Distance: with more, blocks would be so short that every look-up
// goes through most of the numbers.
const MaxDistance = 7

// The layout of the memory, in bytes. A list is chunks, each twice as long as the one
// before it up to 4 KiB: those of a short list waste little, and most of a long one lies
// together, which is read four times as fast. A chunk begins with the number of the one
// before it in its list, u32, how many numbers it has, u24, and its size class, u8.
const (
	unitBytes   = 256
	mostClass   = 4 // of a chunk of unitBytes << class
	headBytes   = 8
	slabBytes   = 4 << 20
	perSlab     = slabBytes / unitBytes
	mostKeyBits = 20 // of a table: of a longer block its lowest bits
)

// A nearIndex finds, among many 64-bit numbers in memory, those that differ from another in a few
// bits: all of them, and no others. Find may be called by several goroutines at once, but not while
// Add is.
//
// A number is cut into one block more than bits may differ, so of two near numbers at least one
// block is the same (Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling", WWW
// 2007). For each block there is a table from its value to the numbers that have it. These lie
// together, one after the other in memory, and all are looked at: a few in every 2^16 of all
// numbers. Measured against tables of longer prefixes it takes the least memory, and at 50 million
// numbers microseconds; see docs/methods.md.
type nearIndex struct {
	distance int
	tables   []table
	slabs    [][]byte
	units    uint32 // given out; a chunk goes by the number of its first, from 1
	n        int
}

// A table has for each value of a block the list of numbers that have it.
type table struct {
	shift int
	mask  uint64   // of the block, shifted
	key   uint64   // of its lowest bits, by which lists are found
	heads []uint32 // the last chunk of each list, 0 for none
}

// newNearIndex returns an empty index for numbers that differ in at most so many bits, 1 to
// MaxDistance.
func newNearIndex(distance int) *nearIndex {
	x := &nearIndex{distance: distance}
	blocks := distance + 1
	for i := range blocks {
		from, to := 64*i/blocks, 64*(i+1)/blocks
		key := min(to-from, mostKeyBits)
		x.tables = append(x.tables, table{
			shift: from, mask: lowest(to - from), key: lowest(key), heads: make([]uint32, 1<<key),
		})
	}
	return x
}

func lowest(n int) uint64 { return 1<<n - 1 }

// nearIndexBytes is the most memory that an index of n numbers takes: eight bytes for each number in
// each table, and the free room in the last chunk of each list.
func nearIndexBytes(n uint64, distance int) (total uint64) {
	const first, last = unitBytes / 8, unitBytes << mostClass / 8
	blocks := distance + 1
	for i := range blocks {
		lists := uint64(1) << min(64*(i+1)/blocks-64*i/blocks, mostKeyBits)
		used := min(n, lists)
		total += 4*lists + 8*min(2*n+first*used, n+n/first+last*used)
	}
	return total + total/256 + slabBytes // ends of slabs
}

// Add adds a number, which may be there already. It fails if there is no memory.
func (x *nearIndex) Add(number uint64) error {
	for i := range x.tables {
		t := &x.tables[i]
		head := &t.heads[number>>t.shift&t.key]
		n, class, room := 0, -1, 0
		if *head != 0 {
			n, class = x.filled(*head)
			room = unitBytes<<class/8 - 1
		}
		if n == room {
			chunk, err := x.take(*head, min(class+1, mostClass))
			if err != nil {
				return err
			}
			*head, n = chunk, 0
		}
		c := x.chunk(*head)
		binary.LittleEndian.PutUint64(c[headBytes+8*n:], number)
		c[4], c[5], c[6] = byte(n+1), byte((n+1)>>8), byte((n+1)>>16)
	}
	x.n++
	return nil
}

// filled is how many numbers a chunk has, and its class.
func (x *nearIndex) filled(chunk uint32) (n, class int) {
	v := binary.LittleEndian.Uint32(x.chunk(chunk)[4:])
	return int(v & (1<<24 - 1)), int(v >> 24)
}

// take gives out an empty chunk with another behind it.
func (x *nearIndex) take(next uint32, class int) (uint32, error) {
	units := uint32(1) << class
	if left := uint32(len(x.slabs)*perSlab) - x.units; left < units {
		slab, err := hugemem.Alloc(slabBytes)
		if err != nil {
			return 0, fmt.Errorf("memory for %d numbers: %w", x.n, err)
		}
		if len(x.slabs) == 0 {
			runtime.SetFinalizer(x, (*nearIndex).free)
		}
		x.slabs = append(x.slabs, slab)
		x.units += left // a chunk is in one slab
	}
	chunk := x.units + 1
	x.units += units
	c := x.chunk(chunk)
	binary.LittleEndian.PutUint32(c, next)
	c[7] = byte(class)
	return chunk, nil
}

// chunk returns a chunk, and the bytes behind it in its slab.
func (x *nearIndex) chunk(i uint32) []byte {
	return x.slabs[int(i-1)/perSlab][int(i-1)%perSlab*unitBytes:]
}

// free gives the memory back, once the index is no longer reachable.
func (x *nearIndex) free() {
	for _, s := range x.slabs {
		_ = hugemem.Free(s) // no caller is left to report to
	}
	x.slabs = nil
}

// Find appends to dst all numbers that differ from number in at most the index's
// distance, each as often as it was added.
func (x *nearIndex) Find(dst []uint64, number uint64) []uint64 {
	for i := range x.tables {
		t := &x.tables[i]
		for at := t.heads[number>>t.shift&t.key]; at != 0; {
			n, _ := x.filled(at)
			c := x.chunk(at)
			at = binary.LittleEndian.Uint32(c)
			for c = c[headBytes : headBytes+8*n]; len(c) >= 8; c = c[8:] {
				other := binary.LittleEndian.Uint64(c)
				if bits.OnesCount64(other^number) <= x.distance && x.first(other^number, i) {
					dst = append(dst, other)
				}
			}
		}
	}
	runtime.KeepAlive(x)
	return dst
}

// first reports whether the i-th block is the first in which two numbers, that differ in
// these bits, are the same.
func (x *nearIndex) first(differ uint64, i int) bool {
	for j := range x.tables[:i] {
		if t := &x.tables[j]; differ>>t.shift&t.mask == 0 {
			return false
		}
	}
	return x.tables[i].mask&(differ>>x.tables[i].shift) == 0
}
