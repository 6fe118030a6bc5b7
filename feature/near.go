package feature

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"runtime"
	"slices"

	"github.com/firstseen/firstseen/internal/base/hugemem"
)

// MaxDistance is the maximum Scheme.Distance. With more, blocks would be so short that look-ups
// scan most numbers.
const MaxDistance = 7

// The layout of the memory, in bytes. A list is a sequence of chunks, each twice as long as the one
// before, up to 4 KiB. So short lists waste little, and most of a long list is contiguous, which
// reads four times as fast. A chunk begins with the number of the previous chunk in its list (u32),
// its count of numbers (u24) and its size class (u8).
const (
	unitBytes   = 256
	mostClass   = 4 // a chunk has unitBytes << class bytes
	headBytes   = 8
	slabBytes   = 4 << 20
	perSlab     = slabBytes / unitBytes
	mostKeyBits = 20 // a table uses the lowest bits of longer blocks
)

// A nearIndex holds 64-bit numbers in memory. It finds exactly those that differ from a given
// number in a few bits. Find is safe for concurrent use, but not during Add.
//
// A number is cut into blocks, one more than the bits that may differ. Two near numbers therefore
// agree in at least one block (Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web
// Crawling", WWW 2007). Each block has a table from its values to lists of numbers. A look-up scans
// one list per table: a few in every 2^16 of all numbers. Measured against tables of longer
// prefixes this takes the least memory. A look-up in 50 million takes microseconds; see
// docs/methods.md.
type nearIndex struct {
	distance int
	tables   []table
	slabs    [][]byte
	units    uint32 // allocated so far; a chunk has the number of its first unit, from 1
	n        int
}

// A table maps each value of a block to the list of numbers with that value.
type table struct {
	shift int
	mask  uint64   // of the block, after the shift
	key   uint64   // of the block's lowest bits, which select the list
	heads []uint32 // the last chunk of each list, or 0
}

// newNearIndex returns an empty index for the given distance, 1 to MaxDistance.
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

// nearIndexBytes returns the maximum memory of an index of n numbers. It counts eight bytes per
// number in each table, and the unused end of each list's last chunk.
func nearIndexBytes(n uint64, distance int) (total uint64) {
	const first, last = unitBytes / 8, unitBytes << mostClass / 8
	blocks := distance + 1
	for i := range blocks {
		lists := uint64(1) << min(64*(i+1)/blocks-64*i/blocks, mostKeyBits)
		used := min(n, lists)
		total += 4*lists + 8*min(2*n+first*used, n+n/first+last*used)
	}
	return total + total/256 + slabBytes // unused ends of slabs
}

// Add adds a number, even if it is already there. It fails if memory runs out.
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

// filled returns the count of numbers in a chunk, and its size class.
func (x *nearIndex) filled(chunk uint32) (n, class int) {
	v := binary.LittleEndian.Uint32(x.chunk(chunk)[4:])
	return int(v & (1<<24 - 1)), int(v >> 24)
}

// take allocates an empty chunk that links to next.
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

// chunk returns the slab from the given chunk on.
func (x *nearIndex) chunk(i uint32) []byte {
	return x.slabs[int(i-1)/perSlab][int(i-1)%perSlab*unitBytes:]
}

// free releases the memory once the index is unreachable.
func (x *nearIndex) free() {
	for _, s := range x.slabs {
		_ = hugemem.Free(s) // there is no caller to report to
	}
	x.slabs = nil
}

// Find appends to dst all numbers within the distance of number, each as often as it was added.
func (x *nearIndex) Find(dst []uint64, number uint64) []uint64 {
	for i := range x.tables {
		t := &x.tables[i]
		for at := t.heads[number>>t.shift&t.key]; at != 0; {
			n, _ := x.filled(at)
			c := x.chunk(at)
			at = binary.LittleEndian.Uint32(c)
			for c = c[headBytes : headBytes+8*n]; len(c) >= 8; c = c[8:] {
				other := binary.LittleEndian.Uint64(c)
				if bits.OnesCount64(other^number) <= x.distance && x.first(other^number) == i {
					dst = append(dst, other)
				}
			}
		}
	}
	runtime.KeepAlive(x)
	return dst
}

// first returns the first block in which numbers with the XOR differ agree.
func (x *nearIndex) first(differ uint64) int {
	return slices.IndexFunc(x.tables, func(t table) bool { return differ>>t.shift&t.mask == 0 })
}
