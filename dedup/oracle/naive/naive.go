// Package naive decides by the rules of the methods exact, shingles, imatch and simhash as
// their papers and docs/methods.md have them, with lists and maps in memory and nothing
// else: no filter, no store, no index of fingerprints, and no code of the methods that it
// judges. Only words are told by package canon, which has an oracle of its own. It is slow
// and plain on purpose; tests and the bench hold the methods against it.
package naive

import (
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/canon/canontest"
)

// A Verdict is what was decided about a document.
type Verdict struct {
	Removed  bool
	Exact    bool
	Of       int // which of all documents judged stands for it, from 0; -1 for none
	Score    float64
	Distance int
}

var kept = Verdict{Of: -1}

// A Rule decides about documents, one after the other.
type Rule interface {
	Decide(text string) Verdict
}

// texts are the whole texts of kept documents: of each the first that has it.
type texts struct {
	judged int
	of     map[string]int
}

// exact decides whether a text was there before, and says the number of the document. A
// text that is kept has to be remembered.
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
	_, whole := canontest.Read(text)
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
	under map[string][]int // by band, in words, the documents kept
}

// signed is a kept document.
type signed struct {
	number    int
	signature [128]uint64
}

// Decide implements Rule.
func (s *Shingles) Decide(text string) Verdict {
	pieces, whole := canontest.Read(text)
	v, number, done := s.texts.exact(whole)
	if done {
		return v
	}
	d := signed{number: number}
	words := wordsOfPieces(text, pieces)
	if len(words) > 0 {
		d.signature = signature(shingleSet(words, s.Words))
		if v := s.best(&d); v.Removed {
			return v
		}
	}
	s.texts.keep(whole, number)
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

// bands are the places of each, written out.
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

// best compares those that share a band, of each the first eight.
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

// shingleSet are the hashes of the shingles.
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

// signature is of each place the least of the shingles whose seven highest bits are its
// number, by the others, and where there is none what another place has.
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

// A Collection says in how many of its documents a term stands.
type Collection struct {
	Documents int
	Count     map[string]int
}

// Add counts a document.
func (c *Collection) Add(text string) {
	if c.Count == nil {
		c.Count = map[string]int{}
	}
	c.Documents++
	seen := map[string]bool{}
	for _, term := range Terms(text) {
		if !seen[term] {
			c.Count[term]++
		}
		seen[term] = true
	}
}

// rarity is that of a term, in 256ths of a bit. Terms in fewer than least documents are
// taken to stand in one.
func (c *Collection) rarity(term string, least int) int {
	count := c.Count[term]
	if count < least {
		count = 1
	}
	return logarithm(c.Documents+1, count+1)
}

// logarithm is 256 times the binary logarithm of a/b, rounded down. Only where the
// quotient is a power of two is that a whole number.
func logarithm(a, b int) int {
	if a%b == 0 && a/b&(a/b-1) == 0 {
		return 256 * (bits.Len(uint(a/b)) - 1)
	}
	return int(math.Floor(256 * math.Log2(float64(a)/float64(b))))
}

// IMatch is the method imatch, by a collection whose terms in fewer than MinDocs documents
// are not counted.
type IMatch struct {
	Collection  *Collection
	MinDocs     int
	Least, Most int // hundredths of the rarity of a term in one document

	texts texts
	of    map[string]int
}

// Decide implements Rule.
func (m *IMatch) Decide(text string) Verdict {
	_, whole := canontest.Read(text)
	v, number, done := m.texts.exact(whole)
	if done {
		return v
	}
	var chosen []string
	most := logarithm(m.Collection.Documents+1, 2)
	for _, term := range Terms(text) {
		r := 100 * m.Collection.rarity(term, m.MinDocs)
		if r >= m.Least*most && r <= m.Most*most {
			chosen = append(chosen, term)
		}
	}
	slices.Sort(chosen)
	chosen = slices.Compact(chosen)
	key := strings.Join(chosen, " ")
	if of, ok := m.of[key]; ok && len(chosen) >= 5 {
		return Verdict{Removed: true, Of: of, Score: 1}
	}
	m.texts.keep(whole, number)
	if m.of == nil {
		m.of = map[string]int{}
	}
	if _, ok := m.of[key]; !ok {
		m.of[key] = number
	}
	return kept
}

// SimHash is the method simhash; without a collection every term weighs one.
type SimHash struct {
	Distance   int
	Collection *Collection
	MinDocs    int

	texts   texts
	numbers []int
	prints  []uint64
}

// Decide implements Rule: all that are kept are compared.
func (s *SimHash) Decide(text string) Verdict {
	_, whole := canontest.Read(text)
	v, number, done := s.texts.exact(whole)
	if done {
		return v
	}
	fingerprint, weight := s.fingerprint(text)
	best := Verdict{Of: -1, Distance: s.Distance + 1}
	for i, other := range s.prints {
		if d := bits.OnesCount64(fingerprint ^ other); weight > 0 && d < best.Distance {
			best = Verdict{Removed: true, Of: s.numbers[i], Score: float64(64-d) / 64, Distance: d}
		}
	}
	if best.Removed {
		return best
	}
	s.texts.keep(whole, number)
	if weight > 0 {
		s.prints, s.numbers = append(s.prints, fingerprint), append(s.numbers, number)
	}
	return kept
}

// fingerprint has the bits that terms of more than half of the weight have.
func (s *SimHash) fingerprint(text string) (fingerprint uint64, all int) {
	var ones [64]int
	for _, term := range Terms(text) {
		weight := 1
		if s.Collection != nil {
			weight = s.Collection.rarity(term, s.MinDocs)
		}
		all += weight
		for bit := range ones {
			if xxh3.HashString(term)>>bit&1 == 1 {
				ones[bit] += weight
			}
		}
	}
	for bit, n := range ones {
		if 2*n > all {
			fingerprint |= 1 << bit
		}
	}
	return fingerprint, all
}

// Terms are the terms of a text: words, and of CJK characters side by side each two.
func Terms(text string) (terms []string) {
	_, whole := canontest.Read(text)
	for stretch := range strings.SplitSeq(whole, " ") {
		units := units(stretch)
		for i, unit := range units {
			before := i > 0 && isCJK(units[i-1])
			after := i+1 < len(units) && isCJK(units[i+1])
			switch {
			case !isCJK(unit):
				terms = append(terms, unit)
			case before:
				terms = append(terms, units[i-1]+unit)
			case !after:
				terms = append(terms, unit)
			}
		}
	}
	return terms
}

func isCJK(unit string) bool {
	r, _ := utf8.DecodeRuneInString(unit)
	return canontest.CJK(r)
}

// scanner tells words; that changes nothing in it.
var scanner = canon.NewScanner()

// units are the words of canonical text.
func units(form string) (all []string) {
	for unit, rest := scanner.NextUnit([]byte(form)); unit != nil; unit, rest = scanner.NextUnit(rest) {
		all = append(all, string(unit))
	}
	return all
}

// wordsOfPieces are the hashes of the words of a text's segments: of one that was so long
// that it was cut, those of its whole form.
func wordsOfPieces(text string, pieces []canontest.Piece) (words []uint64) {
	for i := 0; i < len(pieces); {
		form, end := pieces[i].Form, i+1
		for end < len(pieces) && !separated(text, pieces[end-1].End, pieces[end].Start) {
			end++
		}
		if end > i+1 {
			form = canontest.Canonical(text[pieces[i].Start:pieces[end-1].End])
		}
		for _, unit := range units(form) {
			words = append(words, canon.HashUnit([]byte(unit)))
		}
		i = end
	}
	return words
}

// separated reports whether there is more between two pieces than white space in a line.
func separated(text string, from, to int) bool {
	return to > from && (strings.TrimSpace(text[from:to]) != "" || strings.ContainsAny(text[from:to], "\n\r\v\f\u0085\u2028\u2029"))
}
