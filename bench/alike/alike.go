// Package alike measures exactly how alike two texts are, by the measures that
// near-duplicate detection is judged by. It is slow and shares no code with the
// features it judges.
package alike

import (
	"hash/maphash"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ShingleUnits is how many neighbouring units make a shingle.
const ShingleUnits = 5

// Text is a document prepared for comparison.
type Text struct {
	units    []uint32            // each unit's number in the Vocabulary
	shingles map[uint64]struct{} // distinct runs of ShingleUnits units
}

// Vocabulary numbers units, so that texts compare numbers and not strings.
type Vocabulary struct {
	numbers map[string]uint32
	seed    maphash.Seed
}

// NewVocabulary returns an empty vocabulary. Texts are comparable only within
// one.
func NewVocabulary() *Vocabulary {
	return &Vocabulary{numbers: map[string]uint32{}, seed: maphash.MakeSeed()}
}

// Text prepares s.
func (v *Vocabulary) Text(s string) *Text {
	t := &Text{}
	for unit := range Units(s) {
		t.units = append(t.units, v.number(unit))
	}
	t.shingles = make(map[uint64]struct{}, len(t.units))
	for i := 0; i+ShingleUnits <= len(t.units); i++ {
		t.shingles[maphash.Comparable(v.seed, [ShingleUnits]uint32(t.units[i:]))] = struct{}{}
	}
	if n := len(t.units); n > 0 && n < ShingleUnits {
		var short [ShingleUnits]uint32
		copy(short[:], t.units)
		t.shingles[maphash.Comparable(v.seed, short)] = struct{}{}
	}
	return t
}

// Units cuts s into units: a CJK character, or a run of other letters, digits and
// underscores, in lower case.
func Units(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for start, end := range Spans(s) {
			if !yield(strings.ToLower(s[start:end])) {
				return
			}
		}
	}
}

// Spans gives where in s each unit begins and ends, in bytes.
func Spans(s string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		word := -1 // where the word begins that we are in
		for i, r := range s {
			cjk := isCJK(r)
			if !cjk && inWord(r) {
				if word < 0 {
					word = i
				}
				continue
			}
			if word >= 0 && !yield(word, i) || cjk && !yield(i, i+utf8.RuneLen(r)) {
				return
			}
			word = -1
		}
		if word >= 0 {
			yield(word, len(s))
		}
	}
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_'
}

func (v *Vocabulary) number(unit string) uint32 {
	n, ok := v.numbers[unit]
	if !ok {
		n = uint32(len(v.numbers)) + 1
		v.numbers[strings.Clone(unit)] = n
	}
	return n
}

func isCJK(r rune) bool {
	if r < 0x1100 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// Units is the length of the text.
func (t *Text) Units() int { return len(t.units) }

// Jaccard and containment of the shingles: the share of all that both have, and
// the share of the smaller text's that the other has. Two texts without a unit
// are alike.
func Jaccard(a, b *Text) (jaccard, containment float64) {
	if len(a.shingles) > len(b.shingles) {
		a, b = b, a
	}
	if len(b.shingles) == 0 {
		return 1, 1
	}
	if len(a.shingles) == 0 {
		return 0, 0
	}
	common := a.common(b)
	union := len(a.shingles) + len(b.shingles) - common
	return float64(common) / float64(union), float64(common) / float64(len(a.shingles))
}

// Contained is the share, 0 to 1, of the distinct shingles of a that b has too: all,
// where a has none.
func Contained(a, b *Text) float64 {
	if len(a.shingles) == 0 {
		return 1
	}
	common := a.common(b)
	return float64(common) / float64(len(a.shingles))
}

// common counts the shingles that both have.
func (t *Text) common(other *Text) int {
	n := 0
	for s := range t.shingles {
		if _, ok := other.shingles[s]; ok {
			n++
		}
	}
	return n
}
