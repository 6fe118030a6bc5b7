package feature

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
)

// A class says in one byte what the scanner must know of a rune: in the low
// four bits its kind, in the two above its width in columns (of plain runes
// only), then whether it is a CJK character and whether it is a mark.
type class uint8

const (
	plain     class = iota // canonical as it is
	mapped                 // replaced by runes that stand for themselves: tables.forms
	compound               // may compose or reorder with the runes before it
	ignorable              // dropped
	space                  // white space within a line
	dot                    // '.': part of a number, or punctuation
	comma                  // ',': the same
	quote                  // an apostrophe, or punctuation
	punct                  // separates; leaves no trace
	symbol                 // separates; counts in the whole-text fingerprint

	kindMask class = 0x0F
	cjkBit   class = 0x40
	markBit  class = 0x80

	widthShift = 4

	// plainCJK is a Han character, kana or the like that is canonical as it is.
	plainCJK = plain | 2<<widthShift | cjkBit
)

func (c class) kind() class     { return c & kindMask }
func (c class) width() int      { return int(c >> widthShift & 3) }
func (c class) isCJK() bool     { return c&cjkBit != 0 }
func (c class) isMark() bool    { return c&markBit != 0 }
func (c class) extends() bool   { return c.kind() == compound || c.kind() == ignorable }
func (c class) isPlain() bool   { return c.kind() == plain }
func (c class) separates() bool { return c.kind() >= dot }

// tableEnd is the first rune beyond the tables. Above it there are only
// private-use, unassigned and ignorable code points.
const tableEnd = 0x40000

// mappedEnd is the first rune that cannot be of kind mapped or compound.
const mappedEnd = 0x30000

// tables hold the class of every rune below tableEnd and the canonical form of
// the mapped ones. They are computed from the Unicode tables of the standard
// library and golang.org/x/text when the first Extractor is made, and are read
// only from then on. Han text touches about 20 KiB of the classes.
type tables struct {
	class [tableEnd]class
	form  [mappedEnd]uint16 // position in forms
	forms [][]byte
	ascii [256]asciiByte
}

// asciiByte is a class with the byte that replaces it. Here letters are plain
// in both cases.
type asciiByte struct {
	class class
	lower byte
	gap   byte
}

// Values of asciiByte.gap: what a byte between segments adds to the canonical
// text, or that it is not between segments.
const (
	gapSkip   = 0
	gapSymbol = 2 // itself and a space
	content   = 0xFF
)

// unicodeTables returns the tables, computing them once (about 10 ms).
var unicodeTables = sync.OnceValue(func() *tables {
	t := new(tables)
	f := newFolder()
	for r := rune(0); r < tableEnd; r++ {
		t.add(r, f)
	}
	for b := range t.ascii {
		t.ascii[b] = asciiOf(t.class[b], byte(b))
	}
	return t
})

// asciiOf describes a byte of class c.
func asciiOf(c class, b byte) asciiByte {
	a := asciiByte{class: c, lower: b, gap: content}
	switch {
	case b >= utf8.RuneSelf:
		a.class = compound // not ASCII: all loops stop there
	case c.kind() == mapped:
		a.class, a.lower = plain|1<<widthShift, b|0x20
	case c.kind() == symbol:
		a.gap = gapSymbol
	case c.separates() || c.blank():
		a.gap = gapSkip
	}
	return a
}

// add computes what the tables say of r.
func (t *tables) add(r rune, f *folder) {
	c := kindOf(r)
	if c == plain && changes(r) {
		c = t.addForm(r, f)
	}
	if c.isPlain() {
		c |= class(columns(r)) << widthShift
	}
	if unicode.Is(unicode.M, r) {
		c |= markBit
	} else if isCJK(r) {
		c |= cjkBit
	}
	t.class[r] = c
}

// addForm decides between mapped and compound for a rune that is not canonical
// as it is, or that takes part in composition.
func (t *tables) addForm(r rune, f *folder) class {
	form := string(f.core([]byte(string(r))))
	if !norm.NFKC.PropertiesString(string(r)).BoundaryBefore() {
		return compound
	}
	for _, m := range form {
		if !norm.NFKC.PropertiesString(string(m)).BoundaryBefore() {
			return compound
		}
	}
	if form == string(r) {
		return plain
	}
	t.form[r] = uint16(len(t.forms))
	t.forms = append(t.forms, []byte(form))
	return mapped
}

// kindOf sorts the runes by what they do to the text around them; all that
// stay in a segment are plain here.
func kindOf(r rune) class {
	switch {
	case r < 0x7F && r > ' ' && (r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9'):
		return plain
	case isIgnorable(r):
		return ignorable
	case r == '\t' || unicode.Is(unicode.Zs, r):
		return space
	case r == '.' || r == '．':
		return dot
	case r == ',' || r == '，':
		return comma
	case r == '\'' || r == '’' || r == '＇':
		return quote
	case r == utf8.RuneError || unicode.In(r, unicode.P, unicode.Cc, unicode.Cs, unicode.Zl, unicode.Zp):
		return punct
	case unicode.Is(unicode.S, r):
		return symbol
	}
	return plain
}

// changes reports whether anything could make r other than canonical as it is.
// It may err on the side of yes.
func changes(r rune) bool {
	if r >= mappedEnd {
		return false
	}
	if unicode.SimpleFold(r) != r || r == modifierApostrophe {
		return true
	}
	var b [utf8.UTFMax]byte
	p := norm.NFKC.Properties(b[:utf8.EncodeRune(b[:], r)])
	return p.Decomposition() != nil || !p.BoundaryBefore()
}

// isIgnorable is the property Default_Ignorable_Code_Point, derived as
// DerivedCoreProperties.txt of Unicode 15 does.
func isIgnorable(r rune) bool {
	if unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r) {
		return true
	}
	return unicode.Is(unicode.Cf, r) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r) &&
		(r < 0xFFF9 || r > 0xFFFB) && (r < 0x13430 || r > 0x13440)
}

// isCJK reports whether white space next to r, and before another such rune, is
// mere layout: wide letters and numbers, but not Hangul, which is written with
// spaces between words.
func isCJK(r rune) bool {
	return r >= 0x2E80 && columns(r) == 2 && unicode.In(r, unicode.L, unicode.N) && !unicode.Is(unicode.Hangul, r)
}

// columns is the width of r by East Asian Width: W and F are 2, marks that take
// no room 0, all else 1.
func columns(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// of returns the class of any rune.
func (t *tables) of(r rune) class {
	if r < tableEnd {
		return t.class[r]
	}
	if isIgnorable(r) {
		return ignorable
	}
	return plain | 1<<widthShift
}
