package canon

import (
	"fmt"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
	"golang.org/x/text/unicode/norm"

	"github.com/firstseen/firstseen/internal/testing/canontest"
)

// TestTablesFrozen fails if the tables or the gear hash change without a new version of the rules.
func TestTablesFrozen(t *testing.T) {
	h := xxh3.New()
	h.WriteString(frozen)
	fmt.Fprint(h, gear)
	if got, want := h.Sum64(), uint64(0xdbd0e94fdb7ba164); got != want {
		t.Errorf("the tables of %s have the digest %#x, want %#x", Version, got, want)
	}
}

// TestTablesEqualOracle compares every rune with the oracle.
func TestTablesEqualOracle(t *testing.T) {
	canontest.NeedUnicode(t)
	tables := unicodeTables()
	for r := range rune(utf8.MaxRune + 1) {
		if 0xD800 <= r && r < 0xE000 {
			continue
		}
		c := tables.of(r)
		if c.isCJK() != canontest.CJK(r) || c.kind() == ignorable != canontest.Ignorable(r) {
			t.Fatalf("%U: class %08b, oracle: CJK %v, ignorable %v", r, c, canontest.CJK(r), canontest.Ignorable(r))
		}
		if c.width() != canontest.Width(string(r)) {
			t.Fatalf("%U: width %d, oracle %d", r, c.width(), canontest.Width(string(r)))
		}
		if tables.has(r, assigned) != canontest.Assigned(r) {
			t.Fatalf("%U: assigned %v", r, tables.has(r, assigned))
		}
		if tables.has(r, letter) != unicode.IsLetter(r) || tables.has(r, digit) != unicode.IsDigit(r) || isSpace(r) != (unicode.IsSpace(r) || r == tsheg) {
			t.Fatalf("%U: letter %v, digit %v, space %v", r, tables.has(r, letter), tables.has(r, digit), isSpace(r))
		}
		if c.isMark() != unicode.Is(unicode.M, r) && c.kind() != ignorable {
			t.Fatalf("%U: mark %v", r, c.isMark())
		}
		if r >= 0x32400 && r%16 != 0 {
			continue // some of the unassigned and private planes suffice
		}
		checkForm(t, tables, r)
	}
}

// checkForm compares the kind and form of a rune with the oracle.
func checkForm(t *testing.T, tables *tables, r rune) {
	t.Helper()
	form := canontest.Core(string(r))
	want := compound
	switch {
	case canontest.Ignorable(r):
		want = ignorable
	case unicode.Is(unicode.Zs, r) || r == '\t' || r == tsheg || r == tsheg+1:
		want = space
	case unicode.In(r, unicode.P, unicode.S, unicode.Cc, unicode.Zl, unicode.Zp):
		if !tables.of(r).separates() || (tables.of(r).kind() == symbol) != (unicode.Is(unicode.S, r) && r != utf8.RuneError) {
			t.Fatalf("%U: class %08b of a separator", r, tables.of(r))
		}
		if got := tables.formOf(r, nil); tables.of(r).kind() == symbol && string(got) != form && (got != nil || form != string(r)) {
			t.Fatalf("%U: form %q of a symbol, oracle %q", r, got, form)
		}
		return
	case canontest.Starts(r) && form == string(r):
		want = plain
	case canontest.Starts(r):
		want = mapped
	}
	c := tables.of(r)
	if c.kind() != want {
		t.Fatalf("%U: kind %d, oracle %d", r, c.kind(), want)
	}
	if want == mapped && string(tables.formOf(r, nil)) != form {
		t.Fatalf("%U: form %q, oracle %q", r, tables.formOf(r, nil), form)
	}
	if len(form) > maxGrowth*utf8.RuneLen(r) {
		t.Fatalf("%U: form of %d bytes", r, len(form))
	}
}

// TestHanIsPlain compares the shortcut for Han with the tables.
func TestHanIsPlain(t *testing.T) {
	for r := rune(0x800); r <= 0xFFFF; r++ {
		if 0xD800 <= r && r < 0xE000 {
			continue
		}
		b := []byte(string(r))
		x := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | 'x'<<24
		if got, want := isHan(x), 0x4E00 <= r && r <= 0x9FFF; got != want {
			t.Fatalf("isHan(%U) = %v", r, got)
		}
		if isHan(x) && unicodeTables().of(r) != plainCJK {
			t.Fatalf("%U is of class %08b", r, unicodeTables().of(r))
		}
		c := unicodeTables().of(r)
		if isHanByte(b[0]) && (c.isMark() || c.blank() || unicode.IsDigit(r) || unicode.IsLetter(r) && !c.isCJK()) {
			t.Fatalf("%U begins with %#x and is of class %08b", r, b[0], c)
		}
	}
}

// TestEquivalentsAreOfOneKind checks that a precomposed separator and its parts are of one kind, so
// canonical equivalence changes no segment.
func TestEquivalentsAreOfOneKind(t *testing.T) {
	tables := unicodeTables()
	for r := rune(0); r < tableEnd; r++ {
		first, _ := utf8.DecodeRuneInString(norm.NFD.String(string(r)))
		a, b := tables.of(r), tables.of(first)
		if a.separates() != b.separates() || (a.kind() == symbol) != (b.kind() == symbol) {
			t.Errorf("%U is of class %08b, its decomposition begins with %U of class %08b", r, a, first, b)
		}
	}
}

func BenchmarkTables(b *testing.B) {
	for range b.N {
		newTables(frozen)
	}
}
