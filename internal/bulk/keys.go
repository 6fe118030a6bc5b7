package bulk

import "math/bits"

// keyTable maps keys to numbers above 0. It is a hash table in 256 parts with linear probing, of 12 bytes
// a slot and without pointers for the garbage collector. A part is filled to three quarters at most, and
// grows by a quarter. The parts are of different sizes and grow one after the other, so the whole takes
// 18 bytes a key at any time. A Go map of these is half as fast.
type keyTable [256]keyPart

type keyPart struct {
	keys  []uint64
	heads []uint32 // 0 is an empty slot
	n     int
}

const mixer = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio

func newKeyTable() *keyTable {
	t := new(keyTable)
	for i := range t {
		t[i].alloc(64 + i/16)
	}
	return t
}

// part returns the part of a key, and the hash for the slot in it. A whole text's key may be any number.
func (t *keyTable) part(key uint64) (p *keyPart, hash uint64) {
	hash = key * mixer
	return &t[hash>>56], hash << 8
}

// get returns the number of a key, 0 if there is none.
func (t *keyTable) get(key uint64) uint32 {
	p, hash := t.part(key)
	return p.heads[p.slot(key, hash)]
}

// put sets the number of a key.
func (t *keyTable) put(key uint64, head uint32) {
	p, hash := t.part(key)
	at := p.slot(key, hash)
	if p.heads[at] == 0 {
		if p.n++; 4*p.n > 3*len(p.keys) {
			p.grow()
			at = p.slot(key, hash)
		}
	}
	p.keys[at], p.heads[at] = key, head
}

// bytes is how much memory the slots take.
func (t *keyTable) bytes() (n int64) {
	for i := range t {
		n += 12 * int64(len(t[i].keys))
	}
	return n
}

func (p *keyPart) alloc(slots int) {
	p.keys, p.heads = make([]uint64, slots), make([]uint32, slots)
}

// slot is the slot of a key, or the one it would have.
func (p *keyPart) slot(key, hash uint64) int {
	first, _ := bits.Mul64(hash, uint64(len(p.keys)))
	at := int(first)
	for p.heads[at] != 0 && p.keys[at] != key {
		if at++; at == len(p.keys) {
			at = 0
		}
	}
	return at
}

func (p *keyPart) grow() {
	old := *p
	p.alloc(len(old.keys) + len(old.keys)/4)
	for i, head := range old.heads {
		if head != 0 {
			at := p.slot(old.keys[i], old.keys[i]*mixer<<8)
			p.keys[at], p.heads[at] = old.keys[i], head
		}
	}
}
