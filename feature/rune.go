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

// blank reports whether runes of the class vanish at the edges of a segment.
func (c class) blank() bool { return c.kind() == space || c.kind() == ignorable }

// tableEnd is the first rune beyond the tables. Above it there are only Han, all
// of it canonical, and private-use, unassigned and ignorable code points.
const tableEnd = 0x30000

// tables hold the class of every rune below tableEnd and the canonical form of
// the mapped ones. They are computed from the Unicode tables of the standard
// library and golang.org/x/text when the first Extractor is made, and are read
// only from then on. Han text touches about 20 KiB of the classes.
type tables struct {
	class [tableEnd]class
	form  [tableEnd]uint16 // position in forms
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

// uniform are large blocks of one class, given so that they need not be worked
// out rune by rune: that would take five times as long.
var uniform = []struct {
	first, last rune
	class       class
}{
	{0x3400, 0x4DBF, plainCJK},
	{0x4E00, 0x9FFF, plainCJK},
	{0xAC00, 0xD7A3, plain | 2<<widthShift}, // Hangul
	{0xE000, 0xF8FF, plain | 1<<widthShift}, // private use
	{0x20000, 0x2A6DF, plainCJK},
	{0x2B820, 0x2CEA1, plainCJK},
	{0x2CEB0, 0x2EBE0, plainCJK},
	{tableEnd, tableEnd, 0},
}

// unicodeTables returns the tables, computing them once.
var unicodeTables = sync.OnceValue(newTables)

// newTables computes the tables, in about 15 ms.
func newTables() *tables {
	t := new(tables)
	t.addKinds()
	f := newFolder()
	r := rune(0)
	for _, u := range uniform {
		for ; r < u.first; r++ {
			t.add(r, f)
		}
		for ; r <= u.last && r < tableEnd; r++ {
			t.class[r] = u.class
		}
	}
	for b := range t.ascii {
		t.ascii[b] = asciiOf(t.class[b], byte(b))
	}
	return t
}

// addKinds sorts the runes by what they do to the text around them. All that
// stay in a segment are left plain.
func (t *tables) addKinds() {
	t.each(func(r rune) { t.class[r] |= markBit }, unicode.M)
	set := func(c class) func(rune) {
		return func(r rune) { t.class[r] = t.class[r]&markBit | c }
	}
	t.each(set(symbol), unicode.S)
	t.each(set(punct), unicode.P, unicode.Cc, unicode.Cs, unicode.Zl, unicode.Zp)
	t.each(set(space), unicode.Zs)
	t.each(func(r rune) {
		if isIgnorable(r) {
			set(ignorable)(r)
		}
	}, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
	for r, c := range map[rune]class{
		'\t': space, utf8.RuneError: punct,
		'.': dot, '．': dot, ',': comma, '，': comma,
		'\'': quote, '’': quote, '＇': quote,
	} {
		t.class[r] = c
	}
}

// each calls f for the runes of the sets that have a place in the tables.
func (t *tables) each(f func(rune), sets ...*unicode.RangeTable) {
	for _, set := range sets {
		for _, x := range set.R16 {
			for r := rune(x.Lo); r <= rune(x.Hi); r += rune(x.Stride) {
				f(r)
			}
		}
		for _, x := range set.R32 {
			for r := rune(x.Lo); r <= rune(x.Hi) && r < tableEnd; r += rune(x.Stride) {
				f(r)
			}
		}
	}
}

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

// add completes what the tables say of r, whose kind is known.
func (t *tables) add(r rune, f *folder) {
	c := t.class[r]
	if c.isPlain() && changes(r) {
		c |= t.addForm(r, f)
	}
	if c.isPlain() {
		c |= class(columns(r)) << widthShift
	}
	if isCJK(r) {
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

// changes reports whether anything could make r other than canonical as it is.
// It may err on the side of yes.
func changes(r rune) bool {
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
	return beyond(r)
}

// standing is the class of a rune of a canonical form, where it stands for
// itself: with its width, whatever its kind in a text.
func (t *tables) standing(r rune, c class) class {
	if c.isPlain() {
		return c
	}
	return c&^(kindMask|3<<widthShift) | class(columns(r))<<widthShift
}

// beyond is the class of a rune that is not in the tables.
func beyond(r rune) class {
	switch {
	case isIgnorable(r):
		return ignorable | markBit // some are marks, and it makes no difference
	case isCJK(r):
		return plainCJK
	}
	return plain | class(columns(r))<<widthShift
}
