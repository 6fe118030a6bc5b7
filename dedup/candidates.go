package dedup

import (
	"math/bits"
	"slices"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
)

// The first step of a decision: the filter and the store name the earlier documents
// that matter. Nothing is compared here.

// appendKeys appends the keys that a document is looked up and remembered under beside a table: its
// features, and its whole text last.
func appendKeys(dst []uint64, s *feature.Sketch) []uint64 {
	for i := range s.Features {
		dst = append(dst, s.Features[i].Key)
	}
	return append(dst, s.Whole)
}

// testFilter asks the filter, if there is one, for keys, by one of its ways to test.
func (d *Deduper) testFilter(keys []uint64, seen []bool, test func(f *bloomstore.Filter, keys []uint64, seen []bool)) {
	if d.Cfg.Filter != nil {
		test(d.Cfg.Filter, keys, seen)
		testEarlier(d.Cfg.Earlier, keys, seen)
		return
	}
	for i := range seen {
		seen[i] = true
	}
}

// holdersOfWhole asks the table for the documents under the fingerprint of the whole text (rule 2),
// which is the last key.
func (c *decider) holdersOfWhole(table Asker) (nums []uint32, err error) {
	if err := c.answers.lookup(table, c.keys[len(c.keys)-1:]); err != nil {
		return nil, err
	}
	return c.answers.of(0), nil
}

// count counts a look-up of so many keys.
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

// gather makes candidates of the documents that hold features which were looked up,
// in order of arrival. A feature that MaxHolders hold is common (rule 6): it counts
// apart. gather notes the weight that all hold together of the others.
func (c *decider) gather() {
	c.pairs, c.found.Common, c.union = c.pairs[:0], c.found.Common[:0], 0
	for a, i := range c.answers.asked {
		docs := c.answers.of(a)
		common, counted := len(docs) >= MaxHolders, slices.Contains(docs, Counted)
		what := uint64(i)
		switch docs = named(docs); {
		case len(docs) == 0: // a document for which no other is named is new
		case common:
			what |= commonPair
			if counted {
				what |= countedPair
			}
			c.found.Common = append(c.found.Common, uint32(i))
		default:
			c.union += c.judge.Weight(i)
		}
		for _, num := range docs {
			c.pairs = append(c.pairs, uint64(num)<<32|what)
		}
	}
	c.postings.gather(c.pairs)
	c.collect()
}

// withoutDead leaves out the zeros that stand, in front, for documents that were taken
// back.
func withoutDead(docs []uint32) []uint32 {
	for len(docs) > 0 && docs[0] == 0 {
		docs = docs[1:]
	}
	return docs
}

// named leaves out the zeros and, in place, what stands for documents that only count.
func named(docs []uint32) []uint32 {
	docs = withoutDead(docs)
	if !slices.Contains(docs, Counted) {
		return docs
	}
	return slices.DeleteFunc(docs, func(num uint32) bool { return num == Counted })
}

// commonPair marks a pair of a document and a common feature. countedPair marks one for which some
// of the eight holders only count.
const (
	commonPair  = 1 << 31
	countedPair = 1 << 30
)

// collect turns the pairs, whose features ascend, into candidates.
func (c *decider) collect() {
	c.positions = slices.Grow(c.positions[:0], len(c.pairs))[:len(c.pairs)]
	candidates, used := c.found.Candidates[:0], 0
	for _, h := range c.postings.sorted {
		next := used + int(c.postings.pairs[uint32(h)])
		candidates = append(candidates, method.Candidate{Num: uint32(h >> 32), Shared: c.positions[used:used:next]})
		used = next
	}
	for p, pair := range c.pairs {
		i := uint32(pair)
		e := &candidates[c.postings.rank[c.postings.of[p]]]
		at := int(i &^ (commonPair | countedPair))
		weight := c.judge.Weight(at)
		if i&commonPair != 0 {
			e.CommonWeight += weight
			if i&countedPair != 0 {
				e.CountedWeight += weight
				if at >= c.sketch.Parts() {
					e.CountedLeads++
				}
			}
			continue
		}
		e.Shared = append(e.Shared, i)
		e.Weight += weight
	}
	c.found.Candidates = candidates
}

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
