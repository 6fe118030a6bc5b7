package docmap

import (
	"math"
	"slices"

	"github.com/bits-and-blooms/bitset"
	"go.etcd.io/bbolt"
)

// Counted is the number that look-ups return for a document that only counts: it holds the key
// and is never named. See docs/format.md, "Documents that only count".
const Counted = math.MaxUint32

type countOnly struct {
	which numbers
	n     uint32      // their number
	fresh []tombstone // not in the file yet; ascending
}

// add appends a document. It comes after all others.
func (c *countOnly) add(num uint32) {
	c.n++
	c.which.add(num)
	c.fresh = appendNumber(c.fresh, num, 0)
}

const needsCounted = 1 << 3

var countedList = rangeList{[]byte("counted"), needsCounted, seedCounted, "only count"}

func (t *Table) loadCounted(tx *bbolt.Tx) error {
	c := &t.tombstones.counted
	mark := t.tombstones.win.watermark()
	c.which.base = mark / 64
	return countedList.load(tx, &t.head, func(r tombstone) error {
		if r.when != 0 || r.last > t.head.docs {
			return damage("documents %d to %d cannot only count among %d", r.first, r.last, t.head.docs)
		}
		for num := max(r.first, mark); num <= r.last; num++ {
			if c.which.has(num) {
				return damage("document %d only counts twice", num)
			}
			c.n++
			c.which.add(num)
		}
		return nil
	})
}

// numbers is a set of documents, from a base on.
type numbers struct {
	bits bitset.BitSet // of documents from 64*base on
	base uint32        // number of words below the watermark, left out
}

func (s *numbers) has(num uint32) bool {
	return num >= 64*s.base && s.bits.Test(uint(num-64*s.base))
}

func (s *numbers) add(num uint32) {
	if num >= 64*s.base {
		s.bits.Set(uint(num - 64*s.base))
	}
}

func (s *numbers) remove(num uint32) { s.bits.Clear(uint(num - 64*s.base)) }

func (s *numbers) dropBelow(mark uint32) {
	if base := mark / 64; base > s.base {
		words := s.bits.Words()
		s.bits = *bitset.From(slices.Clone(words[min(int(base-s.base), len(words)):]))
		s.base = base
	}
}
