// Command gen computes feature/canon/tables.bin: the properties that the rules of docs/canonical.md
// give every code point of Unicode 15.0. The file is committed and is part of the rules' version:
// it is made anew when the rules change, not when Unicode does. "go generate ./feature/canon" runs
// the command. It needs a toolchain and a golang.org/x/text with the tables of Unicode 15.0 and
// refuses others.
//
// The file is
//
//	runs    of equal code points, from U+0000 to U+10FFFF: uvarint length,
//	        byte class, byte more
//	forms   of the code points that have the bit formed, ascending: byte
//	        length, UTF-8
//
// with the numbers that the constants below give.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
)

// The dots between the syllables of Tibetan are what spaces are elsewhere.
const (
	tsheg        = 0x0F0B
	tshegNoBreak = 0x0F0C
)

// unicodeVersion is the one that the rules u15b are frozen at.
const unicodeVersion = "15.0.0"

// Bits of class: the kind, the width in columns, and two properties.
const (
	plain = iota
	mapped
	compound
	ignorable
	space
	dot
	comma
	quote
	punct
	symbol

	widthShift = 4
	cjk        = 0x40
	mark       = 0x80
)

// Bits of more.
const (
	letter   = 1 << iota // L
	digit                // Nd
	assigned             // in Unicode 15.0
	formed               // its canonical form is not itself
	jamo                 // its canonical form is a Hangul vowel or final consonant
)

func main() {
	out := flag.String("o", "tables.bin", "file to write")
	flag.Parse()
	tables, err := generate()
	if err == nil {
		err = os.WriteFile(*out, tables, 0o666)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// generate returns the contents of the file.
func generate() ([]byte, error) {
	if unicode.Version != unicodeVersion || norm.Version != unicodeVersion || cases.UnicodeVersion != unicodeVersion || width.UnicodeVersion != unicodeVersion {
		return nil, fmt.Errorf("this toolchain has Unicode %s and its golang.org/x/text %s; the tables are those of %s", unicode.Version, norm.Version, unicodeVersion)
	}
	var runs, forms []byte
	class, more := describe(0)
	first := rune(0)
	for r := rune(0); r <= utf8.MaxRune+1; r++ {
		c, m := describe(r)
		if c != class || m != more || r > utf8.MaxRune {
			runs = binary.AppendUvarint(runs, uint64(r-first))
			runs = append(runs, class, more)
			class, more, first = c, m, r
		}
		if m&formed != 0 {
			form := canonical(r)
			forms = append(forms, byte(len(form)))
			forms = append(forms, form...)
		}
	}
	return append(runs, forms...), nil
}

// describe returns both bytes of a code point.
func describe(r rune) (class, more byte) {
	class = kind(r) | columns(r)<<widthShift
	if isCJK(r) {
		class |= cjk
	}
	if unicode.Is(unicode.M, r) {
		class |= mark
	}
	kind := class & 0x0F
	for bit, is := range map[byte]bool{
		letter:   unicode.IsLetter(r),
		digit:    unicode.Is(unicode.Nd, r),
		assigned: isAssigned(r),
		formed:   (kind == mapped || kind == symbol || isJamo(r)) && canonical(r) != string(r),
		jamo:     isJamo(r),
	} {
		if is {
			more |= bit
		}
	}
	return class, more
}

// kind returns the effect of a code point on the text around it.
func kind(r rune) byte {
	switch r {
	case '\t', tsheg, tshegNoBreak:
		return space
	case utf8.RuneError:
		return punct
	case '.', '．':
		return dot
	case ',', '，':
		return comma
	case '\'', '’', '＇':
		return quote
	}
	switch {
	case isIgnorable(r):
		return ignorable
	case unicode.Is(unicode.S, r):
		return symbol
	case unicode.In(r, unicode.P, unicode.Cc, unicode.Cs, unicode.Zl, unicode.Zp):
		return punct
	case unicode.Is(unicode.Zs, r):
		return space
	case !isAssigned(r):
		return plain
	}
	form := canonical(r)
	first, _ := utf8.DecodeRuneInString(form)
	switch {
	case !starts(r) || !starts(first):
		return compound
	case form != string(r):
		return mapped
	}
	return plain
}

// starts reports whether r never combines with the character before it. Text after the first
// character of a form may combine with the next one, as the form of İ does, an i with a mark.
func starts(r rune) bool { return norm.NFKC.PropertiesString(string(r)).BoundaryBefore() }

// canonical is the canonical form of one code point, before white space is put
// in order.
func canonical(r rune) string {
	drop := func(r rune) rune {
		switch {
		case isIgnorable(r):
			return -1
		case r == '’' || r == 'ʼ':
			return '\''
		case unicode.Is(unicode.Cherokee, r): // golang.org/x/text exchanges the cases
			return unicode.ToUpper(r)
		}
		return r
	}
	for s := string(r); ; {
		next := strings.Map(drop, cases.Fold().String(norm.NFKC.String(strings.Map(drop, s))))
		if next == s {
			return s
		}
		s = next
	}
}

// isIgnorable is the property Default_Ignorable_Code_Point, derived as
// DerivedCoreProperties.txt of Unicode 15 does.
func isIgnorable(r rune) bool {
	if unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
		return true
	}
	return unicode.Is(unicode.Cf, r) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r) &&
		(r < 0xFFF9 || r > 0xFFFB) && (r < 0x13430 || r > 0x13440)
}

// isJamo reports whether the form of r is one of the vowels and final consonants that compose with
// the character before them.
func isJamo(r rune) bool {
	f := []rune(canonical(r))
	return len(f) == 1 && (0x1161 <= f[0] && f[0] <= 0x1175 || 0x11A8 <= f[0] && f[0] <= 0x11C2)
}

func isAssigned(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z,
		unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs)
}

// isCJK reports whether white space next to r, and before another such rune, is
// mere layout: wide letters and numbers, but not Hangul, which is written with
// spaces between words; and the letters of five scripts that are not.
func isCJK(r rune) bool {
	if unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan) {
		return unicode.IsLetter(r)
	}
	return columns(r) == 2 && unicode.In(r, unicode.L, unicode.N) && !unicode.Is(unicode.Hangul, r)
}

// columns is the width of r by East Asian Width: W and F are 2, marks that take
// no room 0, all else 1.
func columns(r rune) byte {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
