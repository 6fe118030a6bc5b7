package canon

import (
	_ "embed"
	"encoding/binary"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/firstseen/firstseen/feature/canon/vector"
)

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

//go:generate go test -run TestTablesAreGenerated -update

// frozen says all that the rules want to know of every code point of Unicode
// 15.0. Whatever Unicode the toolchain or golang.org/x/text has, a text has the
// same form. The file is
//
//	runs    of equal code points, from U+0000 to U+10FFFF: uvarint length,
//	        byte class, byte more
//	forms   of the code points that have the bit formed, ascending: byte
//	        length, UTF-8
//
// and is made anew when the rules change, not when Unicode does.
//
//go:embed tables.bin
var frozen string

// tableEnd is the first rune beyond the tables. Above it there are only Han, all
// of it canonical, and private-use, unassigned and ignorable code points.
const tableEnd = 0x30000

// tables hold the class of every rune below tableEnd, and the canonical form of
// the mapped ones and of symbols. Han text touches about 20 KiB of the classes.
type tables struct {
	class   [tableEnd]class
	more    [tableEnd]more
	form    [tableEnd]uint16 // number of the form; 0: the rune itself
	ends    []uint32         // form n is forms[ends[n-1]:ends[n]]
	forms   []byte
	beyond  []stretch // from tableEnd on
	ascii   [256]asciiByte
	classes *vector.Classes
	begins  [256]uint8 // 1 if a word of a canonical form may begin with the byte
}

// more holds the seldom used properties of a rune.
type more uint8

const (
	letter   more = 1 << iota // L
	digit                     // Nd
	assigned                  // in the version of Unicode that the rules are of
	formed                    // its form is in the tables
	jamo                      // its form is a Hangul vowel or final consonant
)

// A stretch is a number of runes that are alike, from first on.
type stretch struct {
	first rune
	class class
	more  more
}

// unicodeTables returns the tables, unpacking them once.
var unicodeTables = sync.OnceValue(func() *tables { return newTables(frozen) })

// newTables unpacks a file.
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

// of returns the class of any rune.
func (t *tables) of(r rune) class {
	if r < tableEnd {
		return t.class[r]
	}
	return t.stretch(r).class
}

// has reports whether a rune has the property p.
func (t *tables) has(r rune, p more) bool {
	if r < tableEnd {
		return t.more[r]&p != 0
	}
	return t.stretch(r).more&p != 0
}

// stretch returns the properties of a rune from tableEnd on.
func (t *tables) stretch(r rune) stretch {
	i, found := slices.BinarySearchFunc(t.beyond, r, func(s stretch, r rune) int { return int(s.first) - int(r) })
	if !found {
		i--
	}
	return t.beyond[i]
}

// formOf returns the canonical form of a rune, or nil if it is the rune itself
// or the rune is neither mapped, nor a symbol, nor jamo.
func (t *tables) formOf(r rune) []byte {
	if r >= tableEnd || t.form[r] == 0 {
		return nil
	}
	n := t.form[r]
	return t.forms[t.ends[n-1]:t.ends[n]]
}
