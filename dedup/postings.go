package dedup

import (
	"math/bits"
	"slices"
)

// postings are the documents of pairs, each once. A hash table finds them: to sort all pairs
// takes three times as long, for a document shares most of its features with few others.
type postings struct {
	slots  []uint32 // 1 + the index of a document; 0: free
	sorted []uint64 // document<<32 | index, by document
	pairs  []uint32 // of each index, how many
	rank   []uint32 // of each index, its place in sorted
	of     []uint32 // of each pair, the index
}

// gather finds the documents of pairs, which have them in their higher halves.
func (h *postings) gather(pairs []uint64) {
	size := 1 << bits.Len(uint(2*len(pairs)))
	h.slots = slices.Grow(h.slots[:0], size)[:size]
	clear(h.slots)
	h.sorted, h.pairs, h.of = h.sorted[:0], h.pairs[:0], h.of[:0]
	for _, pair := range pairs {
		i := h.find(uint32(pair>>32), uint32(size-1))
		h.pairs[i]++
		h.of = append(h.of, i)
	}
	slices.Sort(h.sorted)
	h.rank = slices.Grow(h.rank[:0], len(h.sorted))[:len(h.sorted)]
	for place, s := range h.sorted {
		h.rank[uint32(s)] = uint32(place)
	}
}

// find returns the index of a document.
func (h *postings) find(num, mask uint32) uint32 {
	const golden = 0x9e3779b1 // neighbours come far from each other
	for at := num * golden >> 7 & mask; ; at = (at + 1) & mask {
		switch i := h.slots[at]; {
		case i == 0:
			i = uint32(len(h.sorted))
			h.slots[at] = i + 1
			h.sorted = append(h.sorted, uint64(num)<<32|uint64(i))
			h.pairs = append(h.pairs, 0)
			return i
		case uint32(h.sorted[i-1]>>32) == num:
			return i - 1
		}
	}
}
