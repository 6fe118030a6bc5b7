// Package naive decides by the rules of exact, shingles, imatch and simhash, as their papers and
// docs/methods.md state them. It uses only lists and maps: no filter, no store, no index of
// fingerprints, no code of the methods. Only its words come from package canon, which has its own
// oracle. It is slow and plain on purpose; tests and the bench compare the methods with it.
package naive

import (
	"math/bits"
	"slices"
)

// A Verdict is the decision about a document.
type Verdict struct {
	Removed  bool
	Exact    bool
	Of       int // number of the witness among all documents decided, from 0; -1 for none
	Score    float64
	Distance int
}

var kept = Verdict{Of: -1}

// A Rule decides documents, one after the other.
type Rule interface {
	Decide(text string) Verdict
}

// texts maps the whole texts of kept documents to the first document with each.
type texts struct {
	judged int
	of     map[string]int
}

// exact decides whether a text occurred before, and returns the number of the document. The caller
// stores kept texts.
func (t *texts) exact(whole string) (v Verdict, number int, done bool) {
	number = t.judged
	t.judged++
	if of, ok := t.of[whole]; ok {
		return Verdict{Removed: true, Exact: true, Of: of, Score: 1}, number, true
	}
	return kept, number, false
}

func (t *texts) keep(whole string, number int) {
	if t.of == nil {
		t.of = map[string]int{}
	}
	t.of[whole] = number
}

// Exact is the method exact.
type Exact struct{ texts texts }

// Decide implements Rule.
func (e *Exact) Decide(text string) Verdict {
	whole := read(text).whole
	v, number, done := e.texts.exact(whole)
	if !done {
		e.texts.keep(whole, number)
	}
	return v
}

// Shingles is the method shingles.
type Shingles struct {
	Words, Bands, Rows int
	Threshold          float64

	texts texts
	docs  []signed
	under map[string][]int // kept documents by band
}

// signed is a kept document.
type signed struct {
	number    int
	signature [128]uint64
}

// Decide implements Rule.
func (s *Shingles) Decide(text string) Verdict {
	r := read(text)
	v, number, done := s.texts.exact(r.whole)
	if done {
		return v
	}
	d := signed{number: number}
	words := wordsOfPieces(text, r.pieces)
	if len(words) > 0 {
		d.signature = signature(shingleSet(words, s.Words))
		if v := s.best(&d); v.Removed {
			return v
		}
	}
	s.texts.keep(r.whole, number)
	if s.under == nil {
		s.under = map[string][]int{}
	}
	if len(words) > 0 {
		for _, band := range s.bands(&d) {
			s.under[band] = append(s.under[band], len(s.docs))
		}
	}
	s.docs = append(s.docs, d)
	return kept
}

// bands returns the places of each band as bytes.
func (s *Shingles) bands(d *signed) (bands []string) {
	for b := range s.Bands {
		band := []byte{byte(b)}
		for _, v := range d.signature[b*s.Rows : (b+1)*s.Rows] {
			for shift := 0; shift < 64; shift += 8 {
				band = append(band, byte(v>>shift))
			}
		}
		bands = append(bands, string(band))
	}
	return bands
}

// best compares the first eight documents of each shared band.
func (s *Shingles) best(d *signed) Verdict {
	best := kept
	var candidates []int
	for _, band := range s.bands(d) {
		under := s.under[band]
		candidates = append(candidates, under[:min(8, len(under))]...)
	}
	slices.Sort(candidates)
	for _, c := range slices.Compact(candidates) {
		equal := 0
		for i, v := range s.docs[c].signature {
			if v%256 == d.signature[i]%256 {
				equal++
			}
		}
		score := max(0, float64(256*equal-128)) / (255 * 128)
		if score >= s.Threshold && score > best.Score {
			best = Verdict{Removed: true, Of: s.docs[c].number, Score: score}
		}
	}
	return best
}

// shingleSet returns the hashes of the shingles.
func shingleSet(words []uint64, w int) (shingles []uint64) {
	w = min(w, len(words))
	for i := 0; i+w <= len(words); i++ {
		var h uint64
		for j, word := range words[i : i+w] {
			h ^= bits.RotateLeft64(word, 13*(w-1-j))
		}
		shingles = append(shingles, splitMix(h))
	}
	return shingles
}

// signature returns, for each place, the least of the shingles whose seven highest bits are its
// number, by the other bits. An empty place takes the value of another.
func signature(shingles []uint64) (places [128]uint64) {
	least := map[uint64]uint64{}
	for _, h := range shingles {
		if v, ok := least[h>>57]; !ok || h<<7 < v {
			least[h>>57] = h << 7
		}
	}
	for i := range uint64(128) {
		from := i
		for attempt := uint64(0); ; attempt++ {
			if _, ok := least[from]; ok {
				break
			}
			from = splitMix(i<<32+attempt) >> 57
		}
		places[i] = splitMix(least[from])
	}
	return places
}

// splitMix is the output function of SplitMix64.
func splitMix(x uint64) uint64 {
	z := x + 0x9e3779b97f4a7c15
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}
