package bulk

import "fmt"

// A sample compares the marks of some keys with what is read: if a key is met in a second document,
// both its places must be marked. So lost marks are noticed. All keys are of the sample as long as
// they fit; then half of them by a hash, and so on: one key in 64 of ten million documents. With a
// thousand of their marks lost, the chance that none is of the sample is 1 in 7 million.
type sample struct {
	first map[uint64]Place // of each key, with markedBit
	bits  int              // of the hash that are 0 for keys of the sample
	most  int              // keys
}

const (
	markedBit  = 1 << 63
	sampleKeys = 8 << 20 // about 200 MB of map
)

func newSample() *sample { return &sample{first: map[uint64]Place{}, most: sampleKeys} }

func (s *sample) has(key uint64) bool { return key*0x9e3779b97f4a7c15>>(64-s.bits) == 0 }

// check looks at the keys of a document. owner is its first place, marked tells which keys are.
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
		case first == at || !marked[slot]:
			return fmt.Errorf("%w: marks are missing: one key stands at %v and at %v, and not both are marked; reduce all rows again", ErrMarks, at, place)
		}
	}
	for len(s.first) > s.most {
		s.bits++
		for key := range s.first {
			if !s.has(key) {
				delete(s.first, key)
			}
		}
	}
	return nil
}
