package clusters

import (
	"crypto/rand"
	"encoding/binary"
	"math"

	"github.com/dchest/siphash"
)

// A forest joins ids. An id is a node, numbered from 0 in the order of first meeting. The forest
// keeps 128 bits of SipHash for each id, under a key drawn for each forest. Among a billion ids, two
// have the same hash with a chance of 1e-21, and an attacker cannot choose such ids. The key has no
// influence on the result.
//
// A node takes 16 bytes for its hash, 9 for its data, and 5 to 11 in the table that finds it. While
// a part grows it is there twice.
type forest struct {
	key   [2]uint64
	slots []uint32 // number of a node and 1, or 0; open addressing, at most 3/4 full
	hash  [][2]uint64
	root  []uint32 // another of the same tree that was met before it, or itself
	size  []uint32 // documents of the tree, at its root
	flags []flags
}

type flags uint8

const (
	named   flags = 1 << iota // an earlier document has this id
	hasLine                   // a kept document of this id has a line of its own
	deep                      // of a root: documents of its tree name others than it
	written                   // the row of the document without a line is
)

func newForest() *forest {
	var seed [16]byte
	_, _ = rand.Read(seed[:]) // never fails
	return &forest{
		key:   [2]uint64{binary.LittleEndian.Uint64(seed[:]), binary.LittleEndian.Uint64(seed[8:])},
		slots: make([]uint32, 1<<10),
	}
}

// node returns the number of an id, and gives it one if it has none; fresh reports that.
func (f *forest) node(id string) (n uint32, fresh bool) {
	var h [2]uint64
	h[0], h[1] = siphash.Hash128(f.key[0], f.key[1], []byte(id))
	if 4*len(f.hash) >= 3*len(f.slots) {
		f.grow()
	}
	at := f.find(h)
	if f.slots[at] != 0 {
		return f.slots[at] - 1, false
	}
	if len(f.hash) >= math.MaxUint32-1 {
		panic("more than 4294967294 ids")
	}
	n = uint32(len(f.hash))
	f.slots[at] = n + 1
	f.hash, f.root = append(f.hash, h), append(f.root, n)
	f.size, f.flags = append(f.size, 0), append(f.flags, 0)
	return n, true
}

// find returns the slot of a hash, or the slot for adding it.
func (f *forest) find(h [2]uint64) uint64 {
	mask := uint64(len(f.slots) - 1)
	at := h[0] & mask
	for f.slots[at] != 0 && f.hash[f.slots[at]-1] != h {
		at = (at + 1) & mask
	}
	return at
}

func (f *forest) grow() {
	f.slots = make([]uint32, 2*len(f.slots))
	for n, h := range f.hash {
		f.slots[f.find(h)] = uint32(n + 1)
	}
}

// rootOf is the first of the tree of a node. It shortens the way.
func (f *forest) rootOf(n uint32) uint32 {
	for f.root[n] != n {
		f.root[n] = f.root[f.root[n]]
		n = f.root[n]
	}
	return n
}

// join puts a document into the tree of the one it repeats.
func (f *forest) join(of, doc uint32, fresh bool) {
	a, b := f.rootOf(of), f.rootOf(doc)
	first, other := min(a, b), max(a, b)
	if first != of || !fresh && a != b {
		f.flags[first] |= deep
	}
	if first == other {
		return
	}
	f.flags[first] |= f.flags[other] & deep
	f.root[other] = first
	f.size[first] += f.size[other]
}
