// Package similarity measures how alike two whole texts are, by the measures that judge
// near-duplicate detection. It shares no code with the features it judges, except that [Stands]
// reads letters by package canon.
//
// [Of] gives all scores of a pair. The longest common subsequence and the edit distance can take
// long, so they stop after a number of steps that depends on the texts alone. Texts of 64 MiB are
// measured if they differ in no more than some ten thousand places.
package similarity

import (
	"hash/maphash"
	"iter"
	"math/bits"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// ShingleUnits is the number of neighbouring units in a shingle.
const ShingleUnits = 5

// Text is a document prepared for comparison. It takes 8 bytes for each unit.
type Text struct {
	text  string
	units []uint64 // hash of each unit
}

// seed is random in each process, so that attackers cannot write colliding units.
var seed = maphash.MakeSeed()

// New prepares s, which it keeps. Units are compared by 64-bit hashes.
func New(s string) *Text {
	t := &Text{text: s, units: make([]uint64, 0, len(s)/6)}
	var form []byte
	for start, end := range Spans(s) {
		form = appendForm(form[:0], s[start:end])
		t.units = append(t.units, maphash.Bytes(seed, form))
	}
	return t
}

// Units yields the units of s, in their forms. A unit is a CJK character, a letter of a script
// without spaces between words, or a run of other letters, digits and underscores. Marks and
// invisible characters belong to the unit before them.
func Units(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for start, end := range Spans(s) {
			if !yield(Form(s[start:end])) {
				return
			}
		}
	}
}

// longestFormed is the size of the longest unit to normalize, in bytes. It bounds the memory.
const longestFormed = 1 << 10

// Form returns a unit as it is compared: NFKC in lower case, without invisible characters. As in
// the fingerprints, width and composition make no difference. Much longer forms are not used,
// because one character can become 18.
func Form(unit string) string {
	if len(unit) <= longestFormed && strings.ContainsFunc(unit, formed) {
		if form := norm.NFKC.String(strings.Map(visible, unit)); len(form) <= 3*len(unit) {
			unit = form
		}
	}
	return strings.ToLower(unit)
}

// appendForm appends the form of a unit to dst. Only units beyond ASCII and Han need a new string.
func appendForm(dst []byte, unit string) []byte {
	if r, size := utf8.DecodeRuneInString(unit); size == len(unit) && isHan(r) {
		return append(dst, unit...)
	}
	for i := range len(unit) {
		b := unit[i]
		if b >= utf8.RuneSelf {
			return append(dst[:len(dst)-i], Form(unit)...)
		}
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		dst = append(dst, b)
	}
	return dst
}

// formed reports whether a character and its form can differ in more than case.
func formed(r rune) bool { return r >= utf8.RuneSelf && !isHan(r) }

// visible is a mapping for strings.Map that drops invisible characters.
func visible(r rune) rune {
	if classOf(r)&invisible != 0 {
		return -1
	}
	return r
}

// Spans yields the byte range of each unit in s.
func Spans(s string) iter.Seq2[int, int] {
	classes := classes()
	return func(yield func(start, end int) bool) {
		first, goesOn := -1, joins // start of the current unit, and the classes that continue it
		for i, r := range s {
			var c class
			if int(r) < len(classes) {
				c = classes[r]
			} else {
				c = classOf(r)
			}
			if first >= 0 && c&goesOn != 0 {
				continue
			}
			if first >= 0 && !yield(first, i) {
				return
			}
			switch first = -1; {
			case c&invisible != 0:
			case c&alone != 0:
				first, goesOn = i, joins
			case c&inWord != 0:
				first, goesOn = i, joins|inWord
			}
		}
		if first >= 0 {
			yield(first, len(s))
		}
	}
}

// A class is the role of a character in units, as bits.
type class uint8

const (
	inWord    class = 1 << iota // a letter or digit of a word, or an underscore
	alone                       // a letter that is a unit by itself
	joins                       // continues any unit before it: a mark, a later part of a syllable, or invisible
	invisible                   // without width and meaning in words, such as a soft hyphen
)

// classes returns the classes of the characters that make up nearly all texts.
var classes = sync.OnceValue(func() *[1 << 16]class {
	var known [1 << 16]class
	for r := range known {
		known[r] = classOf(rune(r))
	}
	return &known
})

func classOf(r rune) (c class) {
	switch {
	case isHan(r):
		return alone
	case r < utf8.RuneSelf:
		if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			c = inWord
		}
		return c
	case unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return joins | invisible
	}
	letter := unicode.IsLetter(r)
	switch {
	case unicode.In(r, cjk...) || letter && unicode.In(r, unspaced...):
		c = alone
	case letter || unicode.IsDigit(r):
		c = inWord
	}
	if unicode.IsMark(r) || !norm.NFKC.PropertiesString(string(r)).BoundaryBefore() {
		c |= joins
	}
	return c
}

var (
	cjk = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul}
	// unspaced lists scripts without spaces between words.
	unspaced = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Tibetan, unicode.Myanmar, unicode.Khmer}
)

// isHan reports whether r is in the main block of CJK ideographs. It needs no table.
func isHan(r rune) bool { return 0x4E00 <= r && r <= 0x9FFF }

// Units returns the length of the text in units.
func (t *Text) Units() int { return len(t.units) }

// Jaccard returns the Jaccard similarity and the containment of the shingles (Broder, "On the
// resemblance and containment of documents", 1997). They are the share of all shingles that both
// have, and of the smaller text's that the other has. Two texts without units are alike.
func Jaccard(a, b *Text) (jaccard, containment float64) {
	n, m, both := countShingles(a, b)
	if max(n, m) == 0 {
		return 1, 1
	}
	if min(n, m) == 0 {
		return 0, 0
	}
	return float64(both) / float64(n+m-both), float64(both) / float64(min(n, m))
}

// Contained returns the share, 0 to 1, of a's distinct shingles that b has too; 1 if a has none.
func Contained(a, b *Text) float64 {
	n, _, both := countShingles(a, b)
	if n == 0 {
		return 1
	}
	return float64(both) / float64(n)
}

// factors combines the hashes of a shingle's units. They are odd, and random in each process.
var factors = func() (f [ShingleUnits]uint64) {
	for i := range f {
		f[i] = maphash.Comparable(seed, i) | 1
	}
	return f
}()

// shingles yields nonzero hashes of all runs of ShingleUnits units, in order. Fewer form one run.
func shingles(units []uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i := 0; i == 0 && len(units) > 0 || i+ShingleUnits <= len(units); i++ {
			h := uint64(1)
			for at, u := range units[i:min(i+ShingleUnits, len(units))] {
				h += u * factors[at]
			}
			if !yield(max(h, 1)) {
				return
			}
		}
	}
}

// countShingles counts the distinct shingles of each text, and those in both. It takes 16 to 32
// bytes a unit. Sorting would take four times as long.
func countShingles(a, b *Text) (inA, inB, inBoth int) {
	places := 1 << bits.Len(uint(len(a.units)+len(b.units)))
	t := shingleTable{hashes: make([]uint64, 2*places), of: make([]uint8, 2*places)}
	for h := range shingles(a.units) {
		if t.add(h, 1) == 0 {
			inA++
		}
	}
	for h := range shingles(b.units) {
		if was := t.add(h, 2); was < 2 {
			inB++
			inBoth += int(was)
		}
	}
	return inA, inB, inBoth
}

// A shingleTable is a hash table with open addressing, at most half full.
type shingleTable struct {
	hashes []uint64 // 0 if free
	of     []uint8  // bits of the texts that have it
}

// add records that a text has the shingle, and returns the texts that had it before.
func (t *shingleTable) add(h uint64, text uint8) (was uint8) {
	mask := uint64(len(t.hashes) - 1)
	for i := h * 0x9e3779b97f4a7c15 >> 32 & mask; ; i = (i + 1) & mask {
		switch t.hashes[i] {
		case 0:
			t.hashes[i] = h
		case h:
		default:
			continue
		}
		was = t.of[i]
		t.of[i] |= text
		return was
	}
}
