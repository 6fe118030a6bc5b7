package canon

import (
	"encoding/binary"
	"flag"
	"os"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/firstseen/firstseen/internal/testing/canontest"
)

var update = flag.Bool("update", false, "write tables.bin anew: only with rules of another version")

// TestTablesAreGenerated fails if tables.bin differs from the generated tables.
func TestTablesAreGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	canontest.NeedUnicode(t)
	want := generate()
	if *update {
		if err := os.WriteFile("tables.bin", want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if string(want) != frozen {
		t.Errorf("tables.bin has %d bytes that are not the %d generated", len(frozen), len(want))
	}
}

// generate returns the contents of tables.bin.
func generate() []byte {
	var runs, forms []byte
	run := describe(0)
	for r := rune(0); r <= utf8.MaxRune+1; r++ {
		s := describe(r)
		if s.class != run.class || s.more != run.more || r > utf8.MaxRune {
			runs = binary.AppendUvarint(runs, uint64(r-run.first))
			runs = append(runs, byte(run.class), byte(run.more))
			run = s
		}
		if s.more&formed != 0 {
			form := canontest.Core(string(r))
			forms = append(forms, byte(len(form)))
			forms = append(forms, form...)
		}
	}
	return append(runs, forms...)
}

// describe returns the properties of a code point.
func describe(r rune) stretch {
	kind, form := kindOf(r), string(r)
	if canontest.Assigned(r) {
		form = canontest.Core(form)
	}
	s := stretch{first: r, class: kind | class(canontest.Width(string(r)))<<widthShift}
	if canontest.CJK(r) {
		s.class |= cjkBit
	}
	if unicode.Is(unicode.M, r) {
		s.class |= markBit
	}
	first, size := utf8.DecodeRuneInString(form)
	isJamo := size == len(form) && (0x1161 <= first && first <= 0x1175 || 0x11A8 <= first && first <= 0x11C2)
	for property, is := range map[more]bool{
		letter:   unicode.IsLetter(r),
		digit:    unicode.IsDigit(r),
		assigned: canontest.Assigned(r) || unicode.Is(unicode.Cs, r),
		formed:   (kind == mapped || kind == symbol || isJamo) && form != string(r),
		jamo:     isJamo,
	} {
		if is {
			s.more |= property
		}
	}
	return s
}

// kindOf returns the effect of a code point on the text around it.
func kindOf(r rune) class {
	switch r {
	case '\t', tsheg, tsheg + 1:
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
	case canontest.Ignorable(r):
		return ignorable
	case unicode.Is(unicode.S, r):
		return symbol
	case unicode.In(r, unicode.P, unicode.Cc, unicode.Cs, unicode.Zl, unicode.Zp):
		return punct
	case unicode.Is(unicode.Zs, r):
		return space
	case !canontest.Assigned(r):
		return plain
	case !canontest.Starts(r):
		return compound
	case canontest.Core(string(r)) != string(r):
		return mapped
	}
	return plain
}
