package canon

import (
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"

	"github.com/firstseen/firstseen/internal/testing/canontest"
)

// guard stands in for golang.org/x/text with a newer Unicode. It panics if asked about a character
// that Unicode 15.0 lacks, since the answer would differ.
type guard struct {
	transform.Transformer
	tables *tables
}

func (g guard) Append(out []byte, src ...byte) []byte {
	g.check(out)
	g.check(src)
	return norm.NFKC.Append(out, src...)
}

func (g guard) Transform(dst, src []byte, atEOF bool) (int, int, error) {
	g.check(src)
	return g.Transformer.Transform(dst, src, atEOF)
}

func (g guard) check(text []byte) {
	for _, r := range string(text) {
		if !g.tables.has(r, assigned) {
			panic(fmt.Sprintf("asked about %U", r))
		}
	}
}

func guardFolder(f *folder) {
	g := guard{cases.Fold(), f.tables}
	f.nfkc, f.caser = g, g
}

// TestNewerUnicodeChangesNothing puts unassigned characters next to combining ones: all of the
// planes of text, some of the others.
func TestNewerUnicodeChangesNothing(t *testing.T) {
	e := NewScanner()
	guardFolder(e.folder)
	n := 0
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if e.tables.has(r, assigned) || r >= 0x32400 && r%101 != 0 || 0xD800 <= r && r < 0xE000 {
			continue
		}
		n++
		x := string(r)
		text := "a" + x + "\u0323\u0301" + x + "\u1161" + x + "İ" + x + "a\u0301ＡB"
		want := "a" + x + "\u0323\u0301" + x + "\u1161" + x + "i\u0307" + x + "áab"
		if e.tables.of(r).kind() == ignorable {
			want = "ạ\u0301\u1161i\u0307áab"
		}
		if got := string(e.folder.core([]byte(text))); got != want {
			t.Fatalf("%U: form %q, want %q", r, got, want)
		}
		if got := read(e, text); len(got) != 1 || got[0].Form != want {
			t.Fatalf("%U: %+v", r, got)
		}
	}
	if n < 10_000 {
		t.Errorf("only %d unassigned characters", n)
	}
}

// TestUnassignedStandAlone compares unassigned characters with the oracle, which asks x/text:
// before all that combines, and before more marks than x/text takes at once.
func TestUnassignedStandAlone(t *testing.T) {
	canontest.NeedUnicode(t)
	f := newFolder(unicodeTables())
	guardFolder(f)
	check := func(text string) {
		t.Helper()
		if got, want := string(f.core([]byte(text))), canontest.FixedPoint(text); got != want {
			t.Fatalf("%q: form %q, oracle %q", text, got, want)
		}
	}
	var marks []string
	for r := rune(0); r < tableEnd; r++ {
		if f.tables.of(r).kind() == compound {
			marks = append(marks, string(r))
		}
	}
	for i, m := range marks {
		other := marks[i*7919%len(marks)]
		check("\u0378" + m)
		check("e\u0378" + m + other + "\U0003134b" + other)
		check("\u0378" + strings.Repeat(m+other, 20))
	}
}

// TestNoOtherTables checks that the package never uses the toolchain's Unicode tables.
func TestNoOtherTables(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			if slices.Contains([]string{`"unicode"`, `"golang.org/x/text/width"`, `"strings"`}, i.Path.Value) {
				t.Errorf("%s imports %s", name, i.Path.Value)
			}
		}
	}
}

// TestHangulEqualsOracle puts vowels and final consonants after every character that has its own
// form or makes syllables, alone and in rows.
func TestHangulEqualsOracle(t *testing.T) {
	canontest.NeedUnicode(t)
	e := NewScanner()
	check := func(text string) {
		t.Helper()
		got := read(e, text)
		if want := canontest.Spaced(canontest.FixedPoint(text)); len(got) != 1 || got[0].Form != want {
			t.Fatalf("%q: %+v, oracle %q", text, got, want)
		}
	}
	var follow []string
	for r := rune(0); r < tableEnd; r++ {
		if e.tables.has(r, jamo) {
			follow = append(follow, string(r))
		}
	}
	if len(follow) < 21+27 {
		t.Fatalf("only %d vowels and finals", len(follow))
	}
	for r, i := rune(0), 0; r < tableEnd; r++ {
		if c := e.tables.of(r); c.separates() || c.blank() || c.isPlain() && !(0x1100 <= r && r < 0x1200 || 0xAC00 <= r && r < 0xD800) || c.isMark() {
			continue
		}
		one, two, three := follow[i%len(follow)], follow[(i/len(follow)+i*31)%len(follow)], follow[i*7919%len(follow)]
		check("x" + string(r) + one)
		check("x" + string(r) + one + two)
		check("x" + string(r) + one + two + three + one + strings.Repeat(two, i%40))
		i++
	}
}

// counter counts the calls to golang.org/x/text.
type counter struct{ calls int }

func (c *counter) Append(out []byte, src ...byte) []byte {
	c.calls++
	return norm.NFKC.Append(out, src...)
}

// TestCharactersHaveTheirTable limits calls to golang.org/x/text, which is hundreds of times slower
// than a table. Only a mark on a letter may need them, and only the first time.
func TestCharactersHaveTheirTable(t *testing.T) {
	e := NewScanner()
	var c counter
	e.folder.nfkc = &c
	for r := rune(0); r < tableEnd; r++ {
		if !e.tables.has(r, assigned) || 0xD800 <= r && r < 0xE000 {
			continue
		}
		x, most := string(r), 0
		if e.tables.of(r).kind() == compound && !e.tables.has(r, jamo) {
			most = maxRounds
		}
		c.calls = 0
		pass(e, []byte(strings.Repeat("wort"+x+"wort, ", 20)))
		if c.calls > most {
			t.Fatalf("%U %q within words: asked %d times", r, r, c.calls)
		}
		if most > 0 {
			continue
		}
		if pass(e, []byte("wort "+strings.Repeat(x, 40))); c.calls > 0 {
			t.Fatalf("%U %q in a row: asked %d times", r, r, c.calls)
		}
	}
	for _, x := range []string{"İ", "\u095b", "ΐ", "㌖", "ﷺ", "ㅠ", "한"} {
		c.calls = 0
		if pass(e, []byte("word "+strings.Repeat(x, 20)+" word")); c.calls > 0 {
			t.Errorf("%s: asked %d times", x, c.calls)
		}
	}
}
