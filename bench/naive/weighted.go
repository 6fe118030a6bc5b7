package naive

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

// A Collection counts the documents that contain each term.
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

// rarity returns a term's rarity, in 256ths of a bit. Terms in fewer than least documents count as
// if in one.
func (c *Collection) rarity(term string, least int) int {
	count := c.Count[term]
	if count < least {
		count = 1
	}
	return logarithm(c.Documents+1, count+1)
}

// logarithm returns 256 times the binary logarithm of a/b, rounded down. It is exact only if a/b is
// a power of two.
func logarithm(a, b int) int {
	if a%b == 0 && a/b&(a/b-1) == 0 {
		return 256 * (bits.Len(uint(a/b)) - 1)
	}
	return int(math.Floor(256 * math.Log2(float64(a)/float64(b))))
}

// IMatch is the method imatch. Terms in fewer than MinDocs documents do not count.
type IMatch struct {
	Collection  *Collection
	MinDocs     int
	Least, Most int // hundredths of the rarity of a term in one document

	texts texts
	of    map[string]int
}

// Decide implements Rule.
func (m *IMatch) Decide(text string) Verdict {
	whole := read(text).whole
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

// Decide implements Rule by comparing all kept documents.
func (s *SimHash) Decide(text string) Verdict {
	whole := read(text).whole
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

// fingerprint returns the bits that terms of more than half of the weight have.
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
