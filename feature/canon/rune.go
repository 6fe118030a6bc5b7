package canon

import "unicode/utf8"

// A class packs into one byte the properties of a rune that the scanner needs. The low four bits
// are its kind, and the two above its width in columns (of plain runes only). Two more bits mark a
// CJK character and a mark.
type class uint8

const (
	plain     class = iota // canonical as it is
	mapped                 // replaced by others, which do not combine with the runes before
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

	// plainCJK is a Han character, kana or the like already in canonical form.
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

// asciiByte is a class with the byte that replaces it. Here letters are plain
// in both cases.
type asciiByte struct {
	class class
	lower byte
	gap   byte
}

// Values of asciiByte.gap: the addition of a byte between segments to the canonical text, or a mark
// for a byte inside a segment.
const (
	gapSkip   = 0
	gapSymbol = 2 // itself and a space
	content   = 0xFF
)

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

// tsheg stands between the syllables of Tibetan, as white space does elsewhere.
const tsheg = 0x0F0B

// isSpace reports whether r has the property White_Space, or is a tsheg. It is for canonical
// forms, which have some that separate in a text.
func isSpace(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r == ' ' || '\t' <= r && r <= '\r'
	case 0x2000 <= r && r <= 0x200A:
		return true
	}
	switch r {
	case 0x85, 0xA0, tsheg, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000:
		return true
	}
	return false
}

// standing is the class of a rune in a canonical form. There it stands for itself, whatever its
// kind in a text.
func (c class) standing() class { return c &^ kindMask }
