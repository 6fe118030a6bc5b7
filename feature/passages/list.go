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

// maxPlaces bounds at how many places of one key in its own list a chain may begin: a text that
// repeats a sentence has thousands.
const maxPlaces = 32

// A Chainer finds chains of one list in others. Its buffers are used again; it is not for concurrent
// use.
type Chainer struct {
	own          List
	starts       []int
	first        []int32 // of each key, 1 + its first entry
	next         []int32 // of each entry, 1 + the next of the same key
	open, goesOn []link
	chains       []Chain
}

// A link is a chain that has come to an entry of the own list.
type link struct {
	Chain
	entry int
}

// Load makes d the own list.
func (c *Chainer) Load(d List) {
	if c.first == nil {
		c.first = make([]int32, 1<<keyBits)
	}
	for i := range c.own.Len() {
		c.first[keyOf(c.own.entry(i))] = 0
	}
	c.own = append(c.own[:0], d...)
	c.starts = appendStarts(c.starts[:0], d)
	c.next = slices.Grow(c.next[:0], d.Len())[:d.Len()]
	for i := d.Len() - 1; i >= 0; i-- {
		key := keyOf(d.entry(i))
		c.next[i], c.first[key] = c.first[key], int32(i+1)
	}
}

// Chains returns the chains of the own list in e, the longest first. They are valid until the next call.
func (c *Chainer) Chains(e List) []Chain {
	c.chains, c.open = c.chains[:0], c.open[:0]
	at := 0
	for i := range e.Len() {
		entry := e.entry(i)
		distance := int(entry & (1<<distanceBits - 1))
		at += distance
		c.goesOn = c.goesOn[:0]
		for _, l := range c.open {
			if l.entry+1 < c.own.Len() && c.own.entry(l.entry+1) == entry {
				l.entry, l.Words, l.Picks = l.entry+1, l.Words+distance, l.Picks+1
				c.goesOn = append(c.goesOn, l)
			} else {
				c.chains = append(c.chains, l.Chain)
			}
		}
		c.begin(keyOf(entry), at)
		c.open, c.goesOn = c.goesOn, c.open
	}
	for _, l := range c.open {
		c.chains = append(c.chains, l.Chain)
	}
	slices.SortFunc(c.chains, func(a, b Chain) int {
		return cmp.Or(cmp.Compare(b.Words, a.Words), cmp.Compare(a.From, b.From), cmp.Compare(a.Of, b.Of))
	})
	return c.chains
}

// begin begins chains with a key, which stands at a word of the other text.
func (c *Chainer) begin(key uint32, at int) {
	continued := c.goesOn
	for p, places := c.first[key], 0; p != 0 && places < maxPlaces; p, places = c.next[p-1], places+1 {
		entry := int(p - 1)
		if !slices.ContainsFunc(continued, func(l link) bool { return l.entry == entry }) {
			c.goesOn = append(c.goesOn, link{Chain{From: c.starts[entry], Of: at, Words: Run, Picks: 1}, entry})
		}
	}
}

// appendStarts appends the first word of each pick of a list.
func appendStarts(dst []int, l List) []int {
	at := 0
	for i := range l.Len() {
		at += int(l.entry(i) & (1<<distanceBits - 1))
		dst = append(dst, at)
	}
	return dst
}
