package passages

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// A List has four bytes for each pick of a text: from the lowest bit, 6 bits for the words since the
// pick before or the beginning, 16 of the pick's key, and 10 of the hash of these words.
type List []byte

const (
	// EntryBytes is how long an entry of a List is.
	EntryBytes = 4

	distanceBits = 6
	keyBits      = 16
	gapBits      = 10
)

// AppendList appends the list of picks with these keys to dst.
func AppendList(dst []byte, picks []Pick, keys []uint64) List {
	before := uint32(0)
	for i, p := range picks {
		entry := p.At - before | uint32(keys[i]&(1<<keyBits-1))<<distanceBits | uint32(p.Gap>>(64-gapBits))<<(distanceBits+keyBits)
		dst = binary.LittleEndian.AppendUint32(dst, entry)
		before = p.At
	}
	return dst
}

// Len is how many picks the list has.
func (l List) Len() int { return len(l) / EntryBytes }

func (l List) entry(i int) uint32 { return binary.LittleEndian.Uint32(l[EntryBytes*i:]) }

// keyOf returns the bits of the key in an entry.
func keyOf(entry uint32) uint32 { return entry >> distanceBits & (1<<keyBits - 1) }

// A Chain is a row of picks in one list that stand in another, each as far from the one before and
// with the same words between.
type Chain struct {
	From, Of int // words at which it begins, here and in the other text
	Words    int // from there to the end of the last run
	Picks    int
}

// maxPlaces bounds how many places of one key in the other list a chain may begin at: a text that
// repeats a sentence has thousands.
const maxPlaces = 32

// A Chainer finds chains. Its buffers are used again; it is not for concurrent use.
type Chainer struct {
	places       []place
	open, goesOn []link
	chains       []Chain
}

// A place is where a key stands in the other list.
type place struct {
	key   uint32
	entry int32
}

// A link is a chain that has come to an entry of the other list.
type link struct {
	Chain
	entry int
}

// Chains returns the chains of the picks of d in e, by their ends. They are valid until the next call.
func (c *Chainer) Chains(d, e List) []Chain {
	c.chains, c.open, c.places = c.chains[:0], c.open[:0], c.places[:0]
	for i := range e.Len() {
		c.places = append(c.places, place{keyOf(e.entry(i)), int32(i)})
	}
	slices.SortStableFunc(c.places, func(a, b place) int { return cmp.Compare(a.key, b.key) })
	starts := startsOf(e)
	at := 0
	for i := range d.Len() {
		entry := d.entry(i)
		distance := int(entry & (1<<distanceBits - 1))
		at += distance
		c.goesOn = c.goesOn[:0]
		for _, l := range c.open {
			if l.entry+1 < e.Len() && e.entry(l.entry+1) == entry {
				l.entry, l.Words, l.Picks = l.entry+1, l.Words+distance, l.Picks+1
				c.goesOn = append(c.goesOn, l)
			} else {
				c.chains = append(c.chains, l.Chain)
			}
		}
		continued := len(c.goesOn)
		first, _ := slices.BinarySearchFunc(c.places, keyOf(entry), func(p place, key uint32) int { return cmp.Compare(p.key, key) })
		for _, p := range c.places[first:min(first+maxPlaces, len(c.places))] {
			if p.key != keyOf(entry) {
				break
			}
			n := int(p.entry)
			if !slices.ContainsFunc(c.goesOn[:continued], func(l link) bool { return l.entry == n }) {
				c.goesOn = append(c.goesOn, link{Chain{From: at, Of: starts[n], Words: Run, Picks: 1}, n})
			}
		}
		c.open, c.goesOn = c.goesOn, c.open
	}
	for _, l := range c.open {
		c.chains = append(c.chains, l.Chain)
	}
	return c.chains
}

// startsOf returns the first word of each pick of a list.
func startsOf(l List) []int {
	starts, at := make([]int, l.Len()), 0
	for i := range starts {
		at += int(l.entry(i) & (1<<distanceBits - 1))
		starts[i] = at
	}
	return starts
}
