package canon

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
)

// modifierApostrophe is the letter that some keyboards produce for an apostrophe.
const modifierApostrophe = 'ʼ'

// maxRounds bounds the rounds until no rule changes the form. In all of Unicode two rounds suffice,
// and a third detects it.
const maxRounds = 8

// A folder computes canonical forms rune by rune, except for white space. It is for one goroutine,
// and its buffers are reused.
//
// It passes golang.org/x/text only characters assigned in the Unicode version of the rules. By
// Unicode's stability policies, those keep their normal forms and case folding in all later
// versions. A newer golang.org/x/text therefore changes nothing.
type folder struct {
	tables           *tables
	nfkc             normalizer
	caser            transform.Transformer
	kept, out        []byte
	composed, folded []byte
}

// A normalizer is norm.NFKC, or a test's replacement.
type normalizer interface {
	Append(out []byte, src ...byte) []byte
}

func newFolder(t *tables) *folder {
	return &folder{tables: t, nfkc: norm.NFKC, caser: cases.Fold(), folded: make([]byte, 0, 256)}
}

// core returns the form of text, valid until the next call. It repeats the rules until nothing
// changes, so the form is its own form: folding may create input for NFKC, and vice versa.
func (f *folder) core(text []byte) []byte {
	f.out = append(f.out[:0], text...)
	for range maxRounds {
		f.kept = f.appendKept(f.kept[:0], f.out)
		f.folded = f.appendFolded(f.folded[:0], f.kept)
		f.kept = f.appendKept(f.kept[:0], f.folded)
		if bytes.Equal(f.kept, f.out) {
			break
		}
		f.out, f.kept = f.kept, f.out
	}
	return f.out
}

// appendFolded appends text in NFKC, case-folded. Unassigned characters stay and never combine.
func (f *folder) appendFolded(dst, text []byte) []byte {
	for len(text) > 0 {
		n := f.assigned(text, true)
		f.composed = f.nfkc.Append(f.composed[:0], text[:n]...)
		dst, _, _ = transform.Append(f.caser, dst, f.composed) // folding accepts any input
		text = text[n:]
		n = f.assigned(text, false)
		dst = append(dst, text[:n]...)
		text = text[n:]
	}
	return dst
}

// assigned returns the length of the longest prefix of only assigned, or unassigned, characters.
func (f *folder) assigned(text []byte, are bool) int {
	if end := bytes.IndexFunc(text, func(r rune) bool { return f.tables.has(r, assigned) != are }); end >= 0 {
		return end
	}
	return len(text)
}

// appendKept appends text without ignorable runes. It unifies apostrophes, folds Cherokee, and
// replaces each invalid byte with a space.
func (f *folder) appendKept(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(dst, ' ')
		case r == '’' || r == modifierApostrophe:
			dst = append(dst, '\'')
		case 0x13A0 <= r && r <= 0xABBF && foldCherokee(r) != r:
			dst = utf8.AppendRune(dst, foldCherokee(r))
		case r < utf8.RuneSelf || f.tables.of(r).kind() != ignorable:
			dst = append(dst, text[i:i+size]...)
		}
		i += size
	}
	return dst
}

// foldCherokee folds small Cherokee letters to large ones, as in CaseFolding.txt. cases.Fold swaps
// the two, so its result would not be stable.
func foldCherokee(r rune) rune {
	switch {
	case 0xAB70 <= r && r <= 0xABBF:
		return r - 0xAB70 + 0x13A0
	case 0x13F8 <= r && r <= 0x13FD:
		return r - 8
	}
	return r
}

// layout reports whether white space between text and a rune of class c is mere layout: next to a
// CJK character. Before a mark it is not, because the mark could combine with that character.
func (t *tables) layout(text []byte, c class) bool {
	return !c.isMark() && (c.isCJK() || t.endsCJK(text))
}

// endsCJK reports whether the last character of text is CJK, ignoring marks on it.
func (t *tables) endsCJK(text []byte) bool {
	for len(text) > 0 {
		r, size := utf8.DecodeLastRune(text)
		if c := t.of(r); !c.isMark() {
			return c.isCJK()
		}
		text = text[:len(text)-size]
	}
	return false
}

// A formCache caches the canonical forms of short clusters and symbols. Texts repeat the same few:
// the letters of a decomposed text, the arrows and rules of a manual. golang.org/x/text takes about
// 400 ns for a new one, the cache 5.
type formCache [1024]cachedForm

type cachedForm struct {
	key  [2]uint64 // the cluster's bytes, none of them 0
	n    uint8
	form [15]byte
}

// formOf returns the form of a cluster, except for white space, valid until the next call.
func (s *Scanner) formOf(text []byte) []byte {
	if len(text) > 16 {
		return s.folder.core(text)
	}
	var key [2]uint64
	for i, b := range text {
		key[i/8] |= uint64(b) << (i % 8 * 8)
	}
	slot := &s.cache[(key[0]^key[1]*0x9E3779B97F4A7C15)*0xBF58476D1CE4E5B9>>54]
	if slot.key == key {
		return slot.form[:slot.n]
	}
	form := s.folder.core(text)
	if len(form) <= len(slot.form) {
		slot.key, slot.n = key, uint8(len(form))
		copy(slot.form[:], form)
	}
	return form
}
