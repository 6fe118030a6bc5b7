package dedup

import (
	"math/bits"
	"slices"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
)

// The first step of a decision: filter and store name earlier documents. Nothing is compared here.

// appendKeys appends the keys under which a document is looked up and stored beside a table: those
// of its features and, last, its whole text.
func appendKeys(dst []uint64, s *feature.Sketch) []uint64 {
	for i := range s.Features {
		dst = append(dst, s.Features[i].Key)
	}
	return append(dst, s.Whole)
}

// testFilter tests keys with the filter, if there is one, by the given method.
func (d *Deduper) testFilter(keys []uint64, seen []bool, test func(f *bloomstore.Filter, keys []uint64, seen []bool)) {
	if d.cfg.Filter != nil {
		test(d.cfg.Filter, keys, seen)
		testEarlier(d.cfg.EarlierFilters, keys, seen)
		return
	}
	for i := range seen {
		seen[i] = true
	}
}

// holdersOfWhole looks up the fingerprint of the whole text (rule 2), the last key.
func (c *decider) holdersOfWhole(table Asker) (nums []uint32, err error) {
	if err := c.answers.lookup(table, c.keys[len(c.keys)-1:]); err != nil {
		return nil, err
	}
	return c.answers.of(0), nil
}

func (c *decider) count(keys int) {
	c.counts.Lookups++
	for i := range keys {
		if len(c.answers.of(i)) > 0 {
			c.counts.Confirmed++
		} else {
			c.counts.Refuted++
		}
	}
}

// gather turns the documents that hold looked-up features into candidates, in order of arrival. It
// counts a feature with MaxHolders holders separately as common (rule 5). It also sums the weight
// of all other features with holders.
func (c *decider) gather() {
	c.pairs, c.found.Common, c.union = c.pairs[:0], c.found.Common[:0], 0
	for a, i := range c.answers.asked {
		docs := c.answers.of(a)
		common := len(docs) >= MaxHolders
		switch docs = named(docs); {
		case len(docs) == 0: // a document with no named holders is new
			continue
		case common:
			c.found.Common = append(c.found.Common, uint32(i))
			continue
		}
		c.union += c.judge.Weight(i)
		for _, num := range docs {
			c.pairs = append(c.pairs, uint64(num)<<32|uint64(i))
		}
	}
	c.postings.gather(c.pairs)
	c.collect()
}

// withoutDead removes the leading zeros, which stand for documents taken back.
func withoutDead(docs []uint32) []uint32 {
	for len(docs) > 0 && docs[0] == 0 {
		docs = docs[1:]
	}
	return docs
}

// named removes zeros and, in place, the marks of documents that only count.
func named(docs []uint32) []uint32 {
	docs = withoutDead(docs)
	if !slices.Contains(docs, Counted) {
		return docs
	}
	return slices.DeleteFunc(docs, func(num uint32) bool { return num == Counted })
}

// collect turns the pairs, with ascending features, into candidates.
func (c *decider) collect() {
	c.positions = slices.Grow(c.positions[:0], len(c.pairs))[:len(c.pairs)]
	candidates, used := c.found.Candidates[:0], 0
	for _, h := range c.postings.sorted {
		next := used + int(c.postings.pairs[uint32(h)])
		candidates = append(candidates, method.Candidate{Num: uint32(h >> 32), Shared: c.positions[used:used:next]})
		used = next
	}
	for p, pair := range c.pairs {
		e := &candidates[c.postings.rank[c.postings.of[p]]]
		e.Shared = append(e.Shared, uint32(pair))
		e.Weight += c.judge.Weight(int(uint32(pair)))
	}
	c.found.Candidates = candidates
}

// postings has the distinct documents of pairs. A hash table finds them. Sorting all pairs would
// take three times as long, since a document shares most of its features with few others.
type postings struct {
	slots  []uint32 // 1 + the index of a document, or 0 if free
	sorted []uint64 // document<<32 | index, by document
	pairs  []uint32 // number of pairs of each index
	rank   []uint32 // place of each index in sorted
	of     []uint32 // index of each pair
}

// gather collects the documents in the upper halves of pairs.
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

// find returns the index of a document, which it adds if it is new.
func (h *postings) find(num, mask uint32) uint32 {
	const golden = 0x9e3779b1 // separates neighbours
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
