package canon

import (
	_ "embed"
	"encoding/binary"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/firstseen/firstseen/feature/canon/vector"
)

// A class packs the properties of a rune that the scanner needs into one byte. The low four bits
// are its kind. Two bits are its width in columns (only for plain runes). The highest two bits
// indicate a mark and a CJK character.
type class uint8

const (
	plain     class = iota // already canonical
	mapped                 // replaced by runes that do not combine with preceding ones
	compound               // may compose or reorder with preceding runes
	ignorable              // dropped
	space                  // white space within a line
	dot                    // '.': part of a number, or punctuation
	comma                  // ',': likewise
	quote                  // an apostrophe or punctuation
	punct                  // separates and leaves no trace
	symbol                 // separates and counts in the whole-text fingerprint

	kindMask class = 0x0F
	cjkBit   class = 0x40
	markBit  class = 0x80

	widthShift = 4

	// plainCJK is a Han character, kana or similar, already in canonical form.
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

// An asciiByte has the class of a byte and its replacement. Here letters of both cases are plain.
type asciiByte struct {
	class class
	lower byte
	gap   byte
}

// Values of asciiByte.gap. A byte between segments adds gap bytes to the canonical text. content
// marks a byte that begins a segment.
const (
	gapSkip   = 0
	gapSymbol = 2 // the symbol and a space
	content   = 0xFF
)

func asciiOf(c class, b byte) asciiByte {
	a := asciiByte{class: c, lower: b, gap: content}
	switch {
	case b >= utf8.RuneSelf:
		a.class = compound // not ASCII: stops all loops
	case c.kind() == mapped:
		a.class, a.lower = plain|1<<widthShift, b|0x20
	case c.kind() == symbol:
		a.gap = gapSymbol
	case c.separates() || c.blank():
		a.gap = gapSkip
	}
	return a
}

// tsheg separates the syllables of Tibetan, like white space elsewhere.
const tsheg = 0x0F0B

// isSpace reports whether r has the property White_Space or is a tsheg. It is for canonical forms:
// in a text, some of these runes are separators.
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

// standing returns the class of a rune in a canonical form, which stands for itself.
func (c class) standing() class { return c &^ kindMask }

//go:generate go test -run TestTablesAreGenerated -update

// frozen has the properties of every code point of Unicode 15.0 that the rules need. They make the
// form independent of the Unicode version of the toolchain and golang.org/x/text. The file has
//
//	runs    of equal code points, from U+0000 to U+10FFFF: uvarint length,
//	        byte class, byte more
//	forms   of the code points with the bit formed, ascending: byte length,
//	        UTF-8
//
// It is regenerated when the rules change, not when Unicode does.
//
//go:embed tables.bin
var frozen string

// tableEnd is the first rune beyond the tables. Above it there are only canonical Han, and
// private-use, unassigned and ignorable code points.
const tableEnd = 0x30000

// tables has the class of every rune below tableEnd, and the canonical forms of mapped runes and
// symbols. Han text touches about 20 KiB of the classes.
type tables struct {
	class   [tableEnd]class
	more    [tableEnd]more
	form    [tableEnd]uint16 // number of the form; 0 for the rune itself
	ends    []uint32         // form n is forms[ends[n-1]:ends[n]]
	forms   []byte
	beyond  []stretch // from tableEnd on
	ascii   [256]asciiByte
	classes *vector.Classes
	begins  [256]uint8 // 1 if a word of a canonical form may begin with the byte
}

// more has the rarely used properties of a rune.
type more uint8

const (
	letter   more = 1 << iota // general category L
	digit                     // general category Nd
	assigned                  // in the Unicode version of the rules
	formed                    // its form is in the tables
	jamo                      // its form is a Hangul vowel or final consonant
)

// A stretch is a range of runes with equal properties, from first on.
type stretch struct {
	first rune
	class class
	more  more
}

var unicodeTables = sync.OnceValue(func() *tables { return newTables(frozen) })

func newTables(packed string) *tables {
	t := &tables{ends: make([]uint32, 1, 8<<10), forms: make([]byte, 0, len(packed))}
	d := []byte(packed)
	for r := rune(0); r <= utf8.MaxRune; {
		length, n := binary.Uvarint(d)
		s := stretch{first: r, class: class(d[n]), more: more(d[n+1])}
		d = d[n+2:]
		r += rune(length)
		if r > tableEnd {
			t.beyond = append(t.beyond, s)
		}
		for at := s.first; at < min(r, tableEnd); at++ {
			t.class[at], t.more[at] = s.class, s.more
		}
	}
	for r := range t.form {
		if t.more[r]&formed != 0 {
			n := 1 + int(d[0])
			t.form[r] = uint16(len(t.ends))
			t.forms = append(t.forms, d[1:n]...)
			t.ends = append(t.ends, uint32(len(t.forms)))
			d = d[n:]
		}
	}
	for b := range t.ascii {
		t.ascii[b] = asciiOf(t.class[b], byte(b))
		if t.ascii[b].gap != gapSymbol {
			t.begins[b] = 1
		}
	}
	t.classes = t.vectorClasses()
	return t
}

func (t *tables) of(r rune) class {
	if r < tableEnd {
		return t.class[r]
	}
	return t.stretch(r).class
}

func (t *tables) has(r rune, p more) bool {
	if r < tableEnd {
		return t.more[r]&p != 0
	}
	return t.stretch(r).more&p != 0
}

// stretch returns the properties of a rune not below tableEnd.
func (t *tables) stretch(r rune) stretch {
	i, found := slices.BinarySearchFunc(t.beyond, r, func(s stretch, r rune) int { return int(s.first) - int(r) })
	if !found {
		i--
	}
	return t.beyond[i]
}

// formOf returns the canonical form of a mapped rune, symbol or jamo. It returns text, the rune
// itself, for others, and if the rune is its own form.
func (t *tables) formOf(r rune, text []byte) []byte {
	if r >= tableEnd || t.form[r] == 0 {
		return text
	}
	n := t.form[r]
	return t.forms[t.ends[n-1]:t.ends[n]]
}
