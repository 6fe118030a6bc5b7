// Package similarity measures how alike two texts are, each read whole: by the measures that
// near-duplicate detection is judged by. It shares no code with the features it judges.
//
// [Of] gives all scores of a pair. Those that could take long, the longest common
// subsequence and the edit distance, stop after so many steps that depend on the texts
// alone; texts of 64 MiB are measured as long as they differ in no more than some ten thousand places.
package similarity

import (
	"hash/maphash"
	"iter"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ShingleUnits is how many neighbouring units make a shingle.
const ShingleUnits = 5

// Text is a document prepared for comparison: 8 bytes for each unit.
type Text struct {
	text  string
	units []uint64 // the hash of each
}

// seed is drawn anew by every process, so that attackers cannot write colliding units.
var seed = maphash.MakeSeed()

// New prepares s, which it keeps. Units are compared by hashes of 64 bits.
func New(s string) *Text {
	t := &Text{text: s, units: make([]uint64, 0, len(s)/6)}
	var unit []byte
	end := func() {
		if len(unit) > 0 {
			t.units = append(t.units, maphash.Bytes(seed, unit))
			unit = unit[:0]
		}
	}
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			if lower := lowerASCII[b]; lower != 0 {
				unit = append(unit, lower)
			} else {
				end()
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch cjk := isCJK(r); {
		case cjk:
			end()
			unit = append(unit, s[i:i+size]...)
			end()
		case inWord(r):
			unit = utf8.AppendRune(unit, unicode.ToLower(r))
		default:
			end()
		}
		i += size
	}
	end()
	return t
}

// lowerASCII has the lower case of each ASCII character that words are of, 0 for others.
var lowerASCII = func() (lower [utf8.RuneSelf]byte) {
	for b := range lower {
		if inWord(rune(b)) {
			lower[b] = byte(unicode.ToLower(rune(b)))
		}
	}
	return lower
}()

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

// Spans yields the beginning and end in s of each unit, in bytes.
func Spans(s string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		word := -1 // start of the word under way
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
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func isCJK(r rune) bool {
	return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// Units is the length of the text.
func (t *Text) Units() int { return len(t.units) }

// Jaccard and containment of the shingles (Broder, "On the resemblance and containment
// of documents", 1997): the share of all that both have, and the share of the smaller
// text's that the other has. Two texts without a unit are alike.
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

// Contained is the share, 0 to 1, of the distinct shingles of a that b has too: all, if a has none.
func Contained(a, b *Text) float64 {
	n, _, both := countShingles(a, b)
	return containedShare(n, both)
}

// containedShare is the share of n shingles that both are, all of none.
func containedShare(n, both int) float64 {
	if n == 0 {
		return 1
	}
	return float64(both) / float64(n)
}

// factors make of the hashes of a shingle's units one number. They are odd, and drawn anew
// by every process.
var factors = func() (f [ShingleUnits]uint64) {
	for i := range f {
		f[i] = maphash.Comparable(seed, i) | 1
	}
	return f
}()

// shingles are hashes of the runs of ShingleUnits units, in order; if there are fewer units, all of
// them are one run. None is 0.
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

// countShingles counts the distinct shingles of each text, and those that both have. It
// takes 16 to 32 bytes a unit. Sorting both would take four times as long.
func countShingles(a, b *Text) (inA, inB, inBoth int) {
	places := 1 << bits.Len(uint(len(a.units)+len(b.units)))
	t := shingleTable{hashes: make([]uint64, 2*places), of: make([]uint8, 2*places)}
	for h := range shingles(a.units) {
		if t.add(h, 1) == 0 {
			inA++
		}
	}
	for h := range shingles(b.units) {
		switch was := t.add(h, 2); {
		case was == 0:
			inB++
		case was == 1:
			inB++
			inBoth++
		}
	}
	return inA, inB, inBoth
}

// A shingleTable is a hash table with open addressing, at most half full.
type shingleTable struct {
	hashes []uint64 // 0: free
	of     []uint8  // which texts have it, as bits
}

// add notes that a text has the shingle, and returns which had it before.
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
