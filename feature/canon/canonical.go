package canon

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
)

// modifierApostrophe is the letter that some keyboards write for an apostrophe.
const modifierApostrophe = 'ʼ'

// maxRounds bounds the search for a form that no rule changes any more. Two
// rounds reach it in all of Unicode, and a third sees that nothing changed.
const maxRounds = 8

// A folder computes canonical forms rune by rune, without the treatment of
// white space. It is for one goroutine; its buffers are reused.
//
// It asks golang.org/x/text only about characters that are assigned in the
// version of Unicode the rules are of. Those keep their normal forms and their
// case folding in all later versions, by Unicode's stability policies. A newer
// golang.org/x/text therefore changes nothing.
type folder struct {
	tables           *tables
	nfkc             normalizer
	caser            transform.Transformer
	kept, out        []byte
	composed, folded []byte
}

// A normalizer is norm.NFKC, or a test's own.
type normalizer interface {
	Append(out []byte, src ...byte) []byte
}

func newFolder(t *tables) *folder {
	return &folder{tables: t, nfkc: norm.NFKC, caser: cases.Fold(), folded: make([]byte, 0, 256)}
}

// core returns the form of text, valid until the next call. The rules are
// applied until they change nothing, so that the form is its own form: folding
// may bring forth what NFKC composes, and the other way round.
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

// appendFolded appends the NFKC of text, case-folded. Unassigned characters are
// as they are, and nothing combines with them.
func (f *folder) appendFolded(dst, text []byte) []byte {
	for len(text) > 0 {
		n := f.assigned(text, true)
		f.composed = f.nfkc.Append(f.composed[:0], text[:n]...)
		dst, _, _ = transform.Append(f.caser, dst, f.composed) // folding takes all
		text = text[n:]
		n = f.assigned(text, false)
		dst = append(dst, text[:n]...)
		text = text[n:]
	}
	return dst
}

// assigned returns how far the characters of text are assigned, or are not.
func (f *folder) assigned(text []byte, are bool) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if f.tables.has(r, assigned) != are {
			return i
		}
		i += size
	}
	return len(text)
}

// appendKept appends text without its ignorable runes, with one sort of apostrophe, Cherokee
// folded, and a space for every byte that is not UTF-8.
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

// foldCherokee folds the small letters of Cherokee to the large ones, as
// CaseFolding.txt has it. cases.Fold exchanges the two, so that its result
// would fold to something else again.
func foldCherokee(r rune) rune {
	switch {
	case 0xAB70 <= r && r <= 0xABBF:
		return r - 0xAB70 + 0x13A0
	case 0x13F8 <= r && r <= 0x13FD:
		return r - 8
	}
	return r
}

// layout reports whether white space between text and a rune of class c is mere
// layout: next to a CJK character. Before a mark it is not, which could combine
// with that character.
func (t *tables) layout(text []byte, c class) bool {
	return !c.isMark() && (c.isCJK() || t.endsCJK(text))
}

// endsCJK reports whether the last character of text, marks upon it aside, is
// CJK.
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

// A formCache remembers the canonical form of short clusters and symbols.
// Texts that have any repeat the same few: the letters of a decomposed text,
// the arrows and rules of a manual. golang.org/x/text takes some 400 ns to find
// one anew, the cache 5.
type formCache [1024]cachedForm

type cachedForm struct {
	key  [2]uint64 // the cluster's bytes; none of them is 0
	n    uint8
	form [15]byte
}

// formOf returns the canonical form of a cluster without the treatment of white
// space, valid until the next call.
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
