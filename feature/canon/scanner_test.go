package canon

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/internal/testing/canontest"
	"github.com/firstseen/firstseen/internal/testing/effort"
)

// pass scans text and counts its pieces.
func pass(s *Scanner, text []byte) (pieces int) {
	s.Reset(text)
	for step := s.Next(); step != End; step = s.Next() {
		if step == Piece {
			pieces++
		}
	}
	return pieces
}

// read returns all pieces of text.
func read(s *Scanner, text string) []canontest.Piece {
	pieces, _ := readAll(s, text, func(int) bool { return true })
	return pieces
}

// readAll returns the pieces of text, some with their ranges, and the canonical text, with spaces
// next to CJK and without.
func readAll(s *Scanner, text string, asked func(i int) bool) (pieces []canontest.Piece, whole string) {
	var parts []string
	var tight string
	for s.Reset([]byte(text)); ; {
		switch s.Next() {
		case Piece:
			p := canontest.Piece{Form: string(s.Form()), Width: s.Width(), Units: s.Units()}
			if asked(len(pieces)) {
				start, end := s.Range()
				p.Start, p.End = s.Trim([]byte(text), start, end)
			}
			pieces = append(pieces, p)
		case Part:
			parts = append(parts, string(s.Text()))
			tight += string(s.Whole())
		case End:
			if len(s.Text()) > 0 {
				parts = append(parts, string(s.Text()))
			}
			return pieces, strings.Join(parts, " ") + "\n" + tight + string(s.Whole())
		}
	}
}

// diffOracle compares s with the oracle, and asks for the range of every n-th piece alone.
func diffOracle(s *Scanner, text string, n int) string {
	asked := func(i int) bool { return i%n == n-1 }
	pieces, whole := readAll(s, text, asked)
	want, wantWhole, tight := canontest.Read(text)
	for i := range want {
		if !asked(i) {
			want[i].Start, want[i].End = 0, 0
		}
	}
	return cmp.Diff(want, pieces) + cmp.Diff(wantWhole+"\n"+tight, whole)
}

func TestScannerEqualsOracle(t *testing.T) {
	canontest.NeedUnicode(t)
	s := NewScanner()
	rapid.Check(t, func(t *rapid.T) {
		text := canontest.Text().Draw(t, "text")
		n := rapid.IntRange(1, 3).Draw(t, "asked")
		if diff := diffOracle(s, text, n); diff != "" {
			t.Fatalf("%q (-oracle +scanner):\n%s", text, diff)
		}
		if s.Next() != End {
			t.Fatal("something after the end")
		}
	})
}

// TestLongTextsEqualOracle scans texts of about the lengths at which segments are cut and the
// canonical text is flushed.
func TestLongTextsEqualOracle(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	canontest.NeedUnicode(t)
	s := NewScanner()
	sizes := []int{maxRun + 1, maxRun, maxRun - 1, 2*flushAt + 7}
	for i, unit := range []string{"a", "中", "ab cd ", "e\u0301", "1.", "=", "=\u0338", "\u0301", "a\u200b", "ﷺ", "😀 ", "word, "} {
		for _, size := range sizes {
			n := size / len(unit)
			text := "start. " + strings.Repeat(unit, n) + "中文.5 \u0301x"
			if diff := diffOracle(s, text, i%3+1); diff != "" {
				t.Errorf("%d times %q (-oracle +scanner):\n%s", n, unit, diff)
			}
		}
	}
}

// TestWidestPiece checks that a segment of maximum width is one piece, and one column more cuts it.
func TestWidestPiece(t *testing.T) {
	s := NewScanner()
	for _, text := range []string{strings.Repeat("a", MaxWidth), strings.Repeat("中", MaxWidth/2), strings.Repeat("e\u0301", MaxWidth)} {
		pieces := read(s, text)
		if len(pieces) != 1 || pieces[0].Width != MaxWidth {
			t.Errorf("%.10q is %d pieces, the first %d wide", text, len(pieces), pieces[0].Width)
		}
		if n := len(read(s, text+"a")); n < 2 {
			t.Errorf("%.10q and a column more is %d piece", text, n)
		}
	}
}

// TestCachedForms checks clusters that share their first eight bytes and their place in the cache.
func TestCachedForms(t *testing.T) {
	s := NewScanner()
	for a := rune(0x300); a < 0x340; a++ {
		for b := rune(0x300); b < 0x340; b++ {
			cluster := []byte("x\u0331\u0331\u0331\u0331" + string([]rune{a, b}))
			got := string(s.formOf(cluster))
			if want := string(s.folder.core(cluster)); got != want {
				t.Fatalf("%+q has the form %+q, want %+q", cluster, got, want)
			}
		}
	}
}

// TestUnits checks the words of a text, which exclude lone symbols, and the word counts of pieces.
func TestUnits(t *testing.T) {
	s := NewScanner()
	words := func(text []byte) (units []string) {
		for unit, rest := s.NextUnit(text); unit != nil; unit, rest = s.NextUnit(rest) {
			units = append(units, string(unit))
		}
		return units
	}
	for text, want := range map[string]string{
		"":                               "",
		"Two words":                      "two|words",
		"用Linux的 3 台":                    "用|linux|的|3|台",
		"a = b ≠ c":                      "a|b|c",
		"か\u0301x y\u0301z":              "か\u0301|x|ýz",
		"price: $5, 20℃ = 68°F; → 3,000": "price|5|20|°c|68|f|3,000",
	} {
		_, whole := readAll(s, text, func(int) bool { return false })
		whole, _, _ = strings.Cut(whole, "\n")
		if got := strings.Join(words([]byte(whole)), "|"); got != want {
			t.Errorf("%q: units %q, want %q", text, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		for _, p := range read(s, canontest.Text().Draw(t, "text")) {
			units := words([]byte(p.Form))
			symbols := strings.ContainsFunc(p.Form, func(r rune) bool { return s.tables.of(r).kind() == symbol })
			if len(units) != p.Units && !symbols {
				t.Fatalf("%q: words %q, counted %d", p.Form, units, p.Units)
			}
		}
	})
}

// TestBufferGrows reads texts whose form fills the buffer made for them. The pieces are those of a
// scanner whose buffer is the largest.
func TestBufferGrows(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	large := NewScanner()
	large.Reset(make([]byte, flushAt+maxRun))
	locator, noRange := NewLocator(), func(int) bool { return false }
	for _, unit := range []string{"\ufdfa", "\ufdfa.", "=\ufdfa", "a\ufdfa ", "=", "中。"} {
		for n := 1; n <= 1<<17/len(unit); n = n*5/4 + 1 {
			text := strings.Repeat(unit, n)
			got, whole := readAll(NewScanner(), text, noRange)
			want, wholeToo := readAll(large, text, noRange)
			if !cmp.Equal(got, want) || whole != wholeToo {
				t.Fatalf("%q %d times: other pieces", unit, n)
			}
			if n := len(locator.AppendUnits(nil, []byte(text), 0, min(len(text), 8<<10)/len(unit)*len(unit))); n == 0 && unit != "=" {
				t.Fatalf("%q: no words", unit)
			}
		}
	}
}

// TestSentencesOfAnyScript compares the cost of short sentences with that of English ones. To look for
// the end of a batch at each sentence cost 150 times as much.
func TestSentencesOfAnyScript(t *testing.T) {
	s := NewScanner()
	cost := func(sentence string) time.Duration {
		text := bytes.Repeat([]byte(sentence), 1<<19/len(sentence))
		return min(effort.Of(func() { pass(s, text) }), effort.Of(func() { pass(s, text) }))
	}
	english := max(cost("and so. "), time.Millisecond)
	for _, sentence := range []string{"ну вот. ", "αβγ δε. ", "السلام. ", "ｱｲｳ。", "नमस्ते। "} {
		if got := cost(sentence); got > 40*english {
			t.Errorf("%q takes %v, English %v", sentence, got, english)
		}
	}
}

func TestScannerAllocatesNothing(t *testing.T) {
	s := NewScanner()
	for _, f := range append(canontest.Fragments, strings.Repeat(strings.Join(canontest.Fragments, " "), 50)) {
		text := []byte(f)
		pass(s, text)
		if n := testing.AllocsPerRun(5, func() { pass(s, text) }); n != 0 {
			t.Errorf("%.20q: %v allocations", f, n)
		}
	}
}

func TestAppendEqualsOracle(t *testing.T) {
	canontest.NeedUnicode(t)
	rapid.Check(t, func(t *rapid.T) {
		text := canontest.Text().Draw(t, "text")
		got := string(Append(nil, []byte(text)))
		if want := canontest.Canonical(text); got != want {
			t.Fatalf("Append(%q) = %q, oracle %q", text, got, want)
		}
		if again := string(Append(nil, []byte(got))); again != got {
			t.Fatalf("Append(%q) = %q, and of that %q", text, got, again)
		}
	})
}

func FuzzAppend(f *testing.F) {
	canontest.NeedUnicode(f)
	for i, s := range canontest.Fragments {
		f.Add([]byte(s + canontest.Fragments[(i*5+1)%len(canontest.Fragments)] + " " + s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		once := Append(nil, text)
		if want := canontest.Canonical(string(text)); string(once) != want {
			t.Errorf("Append(%q) = %q, oracle %q", text, once, want)
		}
		if twice := Append(nil, once); string(twice) != string(once) {
			t.Errorf("Append(%q) = %q, and of that %q", text, once, twice)
		}
	})
}
