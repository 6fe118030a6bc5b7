package canon

import (
	_ "embed"
	"encoding/binary"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/firstseen/firstseen/feature/canon/vector"
)

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
	var formedRunes []stretch
	for r := rune(0); r <= utf8.MaxRune; {
		length, n := binary.Uvarint(d)
		s := stretch{first: r, class: class(d[n]), more: more(d[n+1])}
		d = d[n+2:]
		r += rune(length)
		t.fill(s, r)
		if s.more&formed != 0 {
			formedRunes = append(formedRunes, s, stretch{first: r})
		}
	}
	for i := 0; i < len(formedRunes); i += 2 {
		for r := formedRunes[i].first; r < formedRunes[i+1].first; r++ {
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

// fill enters the runes of s, up to end.
func (t *tables) fill(s stretch, end rune) {
	if end > tableEnd {
		t.beyond = append(t.beyond, s)
		end = tableEnd
	}
	for r := s.first; r < end; r++ {
		t.class[r], t.more[r] = s.class, s.more
	}
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
