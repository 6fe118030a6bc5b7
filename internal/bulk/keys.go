package bulk

import "math/bits"

// keyTable maps keys to numbers above 0: a hash table with linear probing. It takes 12 bytes a slot, of
// which at most three quarters are filled, and has no pointers for the garbage collector. A Go map of
// these is half as fast.
type keyTable struct {
	keys  []uint64
	heads []uint32 // 0 is an empty slot
	n     int
}

const firstSlots = 1 << 10

func newKeyTable() *keyTable {
	return &keyTable{keys: make([]uint64, firstSlots), heads: make([]uint32, firstSlots)}
}

// slot is where a key is, or would be.
func (t *keyTable) slot(key uint64) int {
	mask := len(t.keys) - 1
	at := int(key * 0x9e3779b97f4a7c15 >> (64 - bits.Len(uint(mask)))) // whole texts may be anything
	for t.heads[at] != 0 && t.keys[at] != key {
		at = (at + 1) & mask
	}
	return at
}

// get returns the number of a key, 0 if there is none.
func (t *keyTable) get(key uint64) uint32 { return t.heads[t.slot(key)] }

// put sets the number of a key.
func (t *keyTable) put(key uint64, head uint32) {
	at := t.slot(key)
	if t.heads[at] == 0 {
		if t.n++; 4*t.n > 3*len(t.keys) {
			t.grow()
			at = t.slot(key)
		}
	}
	t.keys[at], t.heads[at] = key, head
}

func (t *keyTable) grow() {
	old := *t
	t.keys, t.heads = make([]uint64, 2*len(old.keys)), make([]uint32, 2*len(old.keys))
	for i, head := range old.heads {
		if head != 0 {
			at := t.slot(old.keys[i])
			t.keys[at], t.heads[at] = old.keys[i], head
		}
	}
}

func (t *keyTable) bytes() int64 { return 12 * int64(len(t.keys)) }
