// Package alike measures exactly how alike two texts are, by the measures that
// near-duplicate detection is judged by. It is slow and shares no code with the
// features it judges.
package alike

import (
	"hash/maphash"
	"strings"
	"unicode"
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

// Text cuts s into units: a CJK character, or a run of other letters, digits and
// underscores, in lower case.
func (v *Vocabulary) Text(s string) *Text {
	t := &Text{shingles: map[uint64]struct{}{}}
	word := -1
	flush := func(end int) {
		if word >= 0 {
			t.units = append(t.units, v.number(strings.ToLower(s[word:end])))
			word = -1
		}
	}
	for i, r := range s {
		switch {
		case isCJK(r):
			flush(i)
			t.units = append(t.units, v.number(string(r)))
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_':
			if word < 0 {
				word = i
			}
		default:
			flush(i)
		}
	}
	flush(len(s))
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

func (v *Vocabulary) number(unit string) uint32 {
	n, ok := v.numbers[unit]
	if !ok {
		n = uint32(len(v.numbers)) + 1
		v.numbers[strings.Clone(unit)] = n
	}
	return n
}

func isCJK(r rune) bool {
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
	common := 0
	for s := range a.shingles {
		if _, ok := b.shingles[s]; ok {
			common++
		}
	}
	union := len(a.shingles) + len(b.shingles) - common
	return float64(common) / float64(union), float64(common) / float64(len(a.shingles))
}

// LCS returns 2·LCS/(n+m) over units, 0 to 1. It takes n·m/64 steps: the
// bit-parallel algorithm of Hyyrö, "Bit-Parallel LCS-length Computation
// Revisited" (2004).
func LCS(a, b *Text) float64 {
	if len(a.units)+len(b.units) == 0 {
		return 1
	}
	if len(a.units) > len(b.units) {
		a, b = b, a
	}
	where := positions(a.units)
	row := make([]uint64, (len(a.units)+63)/64)
	for i := range row {
		row[i] = ^uint64(0)
	}
	for _, u := range b.units {
		if match := where[u]; match != nil {
			step(row, match)
		}
	}
	length := 0
	for i := range a.units {
		if row[i/64]>>(i%64)&1 == 0 {
			length++
		}
	}
	return 2 * float64(length) / float64(len(a.units)+len(b.units))
}

// positions maps every unit to the bit set of where it stands.
func positions(units []uint32) map[uint32][]uint64 {
	where := map[uint32][]uint64{}
	for i, u := range units {
		if where[u] == nil {
			where[u] = make([]uint64, (len(units)+63)/64)
		}
		where[u][i/64] |= 1 << (i % 64)
	}
	return where
}

// step computes row = (row + (row AND match)) OR (row AND NOT match) over words.
func step(row, match []uint64) {
	var carry uint64
	for i, v := range row {
		u := v & match[i]
		sum := v + u
		c := uint64(0)
		if sum < v {
			c = 1
		}
		sum2 := sum + carry
		if sum2 < sum {
			c = 1
		}
		carry = c
		row[i] = sum2 | v&^match[i]
	}
}
