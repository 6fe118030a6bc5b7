package feature

import (
	"fmt"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
	"golang.org/x/text/unicode/norm"
)

// TestTablesFrozen fails when a toolchain or a library brings other Unicode
// tables. Features then differ: the scheme's name must, too. unicode.Version is
// part of it; if that alone has changed, write down the new number here. If not,
// the rules have changed, and their version has to.
func TestTablesFrozen(t *testing.T) {
	if unicode.Version != norm.Version {
		t.Errorf("unicode has version %s, x/text %s", unicode.Version, norm.Version)
	}
	tables := unicodeTables()
	h := xxh3.New()
	for r := range rune(utf8.MaxRune + 1) {
		c := tables.of(r)
		fmt.Fprintf(h, "%x", byte(c))
		if c.kind() == mapped {
			h.Write(tables.forms[tables.form[r]])
		}
	}
	fmt.Fprint(h, gear)
	if got, want := h.Sum64(), uint64(0xead7b4f26cea6f71); got != want {
		t.Errorf("tables of Unicode %s have the digest %#x, want %#x", unicode.Version, got, want)
	}
}

// TestTablesEqualOracle asks the oracle about every rune that the scanner has
// opinions of.
func TestTablesEqualOracle(t *testing.T) {
	tables := unicodeTables()
	for r := range rune(utf8.MaxRune + 1) {
		if r >= 0x32400 && r < 0xE0000 || r >= 0xF0000 && r < 0x10FFF0 {
			continue // unassigned, private use
		}
		if 0xD800 <= r && r < 0xE000 {
			continue
		}
		c := tables.of(r)
		if c.isCJK() != oracleCJK(r) || c.kind() == ignorable != oracleIgnorable(r) {
			t.Fatalf("%U: class %08b, oracle: CJK %v, ignorable %v", r, c, oracleCJK(r), oracleIgnorable(r))
		}
		if c.isPlain() && c.width() != oracleWidth(string(r)) {
			t.Fatalf("%U: width %d, oracle %d", r, c.width(), oracleWidth(string(r)))
		}
		if c.isMark() != unicode.Is(unicode.M, r) && c.kind() != ignorable {
			t.Fatalf("%U: mark %v", r, c.isMark())
		}
		if wordlike := r >= 0x3400 && r <= 0x9FFF || r >= 0xAC00 && r <= 0xF8FF || r >= 0x20000; wordlike && r%16 != 0 {
			continue // uniform blocks: some will do
		}
		checkForm(t, tables, r)
	}
}

// checkForm compares kinds and forms of one rune with the oracle.
func checkForm(t *testing.T, tables *tables, r rune) {
	t.Helper()
	form := oracleCore(string(r))
	want := compound
	switch {
	case oracleIgnorable(r):
		want = ignorable
	case unicode.Is(unicode.Zs, r) || r == '\t':
		want = space
	case unicode.In(r, unicode.P, unicode.S, unicode.Cc, unicode.Zl, unicode.Zp):
		if !tables.of(r).separates() || (tables.of(r).kind() == symbol) != (unicode.Is(unicode.S, r) && r != utf8.RuneError) {
			t.Fatalf("%U: class %08b of a separator", r, tables.of(r))
		}
		return
	case oracleStarts(r) && form == string(r):
		want = plain
	case oracleStarts(r):
		want = mapped
	}
	c := tables.of(r)
	if c.kind() != want {
		t.Fatalf("%U: kind %d, oracle %d", r, c.kind(), want)
	}
	if want == mapped && string(tables.forms[tables.form[r]]) != form {
		t.Fatalf("%U: form %q, oracle %q", r, tables.forms[tables.form[r]], form)
	}
	if len(form) > maxGrowth*utf8.RuneLen(r) {
		t.Fatalf("%U: form of %d bytes", r, len(form))
	}
}

// TestHanIsPlain holds the shortcut for Han to the tables.
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

// TestEquivalentsAreOfOneKind shows that a precomposed separator and its parts
// are treated alike: canonical equivalence changes no segment.
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
