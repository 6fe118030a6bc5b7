package peers

import (
	"fmt"
	"math/bits"
)

// SimHash is Charikar's 64-bit fingerprint of the shingles, each weighted by its frequency in the
// text. It removes a text if the fingerprint of a kept one differs in few bits (Manku, Jain and Das
// Sarma, "Detecting Near-Duplicates for Web Crawling", 2007).
type SimHash struct {
	distance int
	judged   int
	prints   map[int]uint64     // of kept documents
	blocks   []map[uint64][]int // by block of bits: ascending documents with each value
	compared map[int]struct{}   // in one decision
}

// NewSimHash returns a rule that removes at that distance or less, 0 to 15 bits. Fingerprints so
// near agree in one of distance+1 blocks of bits, by which they are found.
func NewSimHash(distance int) *SimHash {
	s := &SimHash{distance: distance, prints: map[int]uint64{}, compared: map[int]struct{}{}}
	for range distance + 1 {
		s.blocks = append(s.blocks, map[uint64][]int{})
	}
	return s
}

// Name implements Rule.
func (s *SimHash) Name() string { return fmt.Sprintf("SimHash 64, distance ≤ %d", s.distance) }

// Decide implements Rule. The witness is the nearest, or the earliest of several. A text without
// units has no fingerprint and is kept.
func (s *SimHash) Decide(doc Doc) (int, bool, error) {
	number := s.judged
	s.judged++
	runs := shingles(doc.Text)
	if len(runs) == 0 {
		return 0, false, nil
	}
	fingerprint := simhash(runs)
	if witness, ok := s.nearest(fingerprint); ok {
		return witness, true, nil
	}
	s.prints[number] = fingerprint
	for i := range s.blocks {
		key := s.block(fingerprint, i)
		s.blocks[i][key] = append(s.blocks[i][key], number)
	}
	return 0, false, nil
}

// simhash sets the bits that more than half of the shingles have.
func simhash(runs []uint64) (fingerprint uint64) {
	var ones [64]int
	for _, h := range runs {
		for bit := range ones {
			ones[bit] += int(h >> bit & 1)
		}
	}
	for bit, n := range ones {
		if 2*n > len(runs) {
			fingerprint |= 1 << bit
		}
	}
	return fingerprint
}

// block returns the i-th part of the bits, in its place.
func (s *SimHash) block(fingerprint uint64, i int) uint64 {
	n := len(s.blocks)
	from, to := 64*i/n, 64*(i+1)/n
	return fingerprint >> from << from << (64 - to) >> (64 - to)
}

// nearest finds the kept document with the most similar fingerprint.
func (s *SimHash) nearest(fingerprint uint64) (witness int, found bool) {
	clear(s.compared)
	best := s.distance + 1
	for i := range s.blocks {
		for _, n := range s.blocks[i][s.block(fingerprint, i)] {
			if _, done := s.compared[n]; done {
				continue
			}
			s.compared[n] = struct{}{}
			d := bits.OnesCount64(fingerprint ^ s.prints[n])
			if d < best || d == best && found && n < witness {
				best, witness, found = d, n, true
			}
		}
	}
	return witness, found
}

// Size implements Rule.
func (s *SimHash) Size() int64 { return int64(len(s.prints)) * int64(8+len(s.blocks)*keyBytes) }
