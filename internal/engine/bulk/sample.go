package bulk

import (
	"fmt"

	"github.com/firstseen/firstseen/dedup"
)

// A sample compares the marks of some keys with the documents read: if a second document has a key,
// both its places must be marked. This detects lost marks. The sample has all of the first million
// keys, then one in 64 by a hash, and fewer beyond 20 million documents. If the marks of a thousand
// keys are lost, the chance that the sample has none of these is 1 in 7 million.
//
// All marks of a key in MaxHolders or more documents may be left out on purpose.
type sample struct {
	first  map[uint64]Place // first place of each key, with markedBit
	others map[uint64]int   // number of further documents with a key that has no mark
	bits   int              // leading hash bits that are 0 for keys of the sample
	most   int              // largest number of keys
}

const (
	markedBit  = 1 << 63
	sampleBits = 6
	firstKeys  = 1 << 20
	sampleKeys = 16 << 20 // about 800 MB, see sampledBytes
)

func newSample() *sample {
	return &sample{first: map[uint64]Place{}, others: map[uint64]int{}, most: firstKeys}
}

func (s *sample) has(key uint64) bool { return key*0x9e3779b97f4a7c15>>(64-s.bits) == 0 }

// check checks the keys of a document. owner is the place of the first; marked is parallel to keys.
func (s *sample) check(owner Place, keys []uint64, marked []bool) error {
	for slot, key := range keys {
		if !s.has(key) {
			continue
		}
		place := owner + Place(slot)
		first, met := s.first[key]
		switch at := first &^ markedBit; {
		case !met:
			if marked[slot] {
				place |= markedBit
			}
			s.first[key] = place
		case at.owner() == owner: // the whole text of a document may be one of its segments
		case first == at && !marked[slot]:
			s.others[key]++
		case first == at || !marked[slot]:
			return lost(at, fmt.Sprint(place))
		}
	}
	for len(s.first) > s.most {
		if s.bits++; s.most == firstKeys {
			s.bits, s.most = sampleBits, sampleKeys
		}
		for key := range s.first {
			if !s.has(key) {
				delete(s.first, key)
				delete(s.others, key)
			}
		}
	}
	return nil
}

// end checks the keys without any mark, after the last document.
func (s *sample) end() error {
	for key, others := range s.others {
		if others+1 < dedup.MaxHolders {
			return lost(s.first[key], fmt.Sprintf("%d more places", others))
		}
	}
	return nil
}

func lost(at Place, other string) error {
	return fmt.Errorf("%w: marks are missing: one key is at %v and at %s, and not all are marked; make the marks again from all rows", ErrMarks, at, other)
}
