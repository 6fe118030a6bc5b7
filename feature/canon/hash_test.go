package canon

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/internal/testing/canontest"
)

// appendUnits computes AppendUnits word by word, from the segments of a text.
func appendUnits(s *Scanner, segments []string) (hashes []uint64) {
	for _, form := range segments {
		for unit, rest := s.NextUnit([]byte(form)); unit != nil; unit, rest = s.NextUnit(rest) {
			hashes = append(hashes, HashUnit(unit))
		}
	}
	return hashes
}

// unitsOf returns a text's hashes from the scanner, at every n-th piece, and from its segments.
func unitsOf(s *Scanner, text string, n int) (got, want []uint64) {
	i := 0
	ended := func() {
		for _, p := range s.spans {
			want = append(want, appendUnits(s, []string{string(s.buf[p.start:p.end])})...)
		}
		got = s.AppendUnits(got)
		s.ForgetSegments()
	}
	for s.Reset([]byte(text)); ; {
		step := s.Next()
		if i++; step != Piece || i%n == 0 {
			ended()
		}
		if step == End {
			return got, want
		}
	}
}

// TestAppendUnitsEqualsOracle compares both. Bytes after a segment in the buffer must not matter.
func TestAppendUnitsEqualsOracle(t *testing.T) {
	s := NewScanner()
	s.CountUnits()
	word := rapid.StringMatching(`[a-z0-9']{1,40}`)
	rapid.Check(t, func(t *rapid.T) {
		text := canontest.Text().Draw(t, "text")
		for _, w := range rapid.SliceOfN(word, 0, 60).Draw(t, "words") {
			text += rapid.SampledFrom([]string{" ", " ", " ", "的", "过滤器", "⩵", "=", "; ", "é", "e\u0301", "\u0301 "}).Draw(t, "joint") + w
		}
		got, want := unitsOf(s, text, rapid.IntRange(1, 9).Draw(t, "together"))
		if !slices.Equal(got, want) {
			t.Fatalf("%q: %x, want %x", text, got, want)
		}
		units := 0
		for _, p := range read(s, text) {
			units += p.Units
		}
		if len(got) > units+2 { // a piece cut within a word counts it twice, never less
			t.Fatalf("%q: %d words, its pieces have %d", text, len(got), units)
		}
	})
}

// TestUnitsOfLongTexts checks that words of an overlong segment are whole and occur once. The end
// of a part loses none.
func TestUnitsOfLongTexts(t *testing.T) {
	s := NewScanner()
	s.CountUnits()
	for _, sentence := range []string{"some words without an end ", "没有标点", "naïve ", "one, two; three. ", "短。句子，", "x = y; "} {
		for _, size := range []int{2 * MaxWidth, 3 * flushAt} {
			text := strings.Repeat(sentence, size/len(sentence))
			got, _ := unitsOf(s, text, 64)
			var want []uint64
			for range size / len(sentence) {
				for _, form := range strings.FieldsFunc(strings.NewReplacer("。", " ", "，", " ").Replace(sentence), func(r rune) bool { return strings.ContainsRune(" ,;.=", r) }) {
					want = append(want, appendUnits(s, []string{form})...)
				}
			}
			if size > maxRun && !strings.ContainsAny(sentence, ",.;。") {
				continue // cut anywhere after 64 KiB
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d bytes of %q: %d words, want %d", size, sentence, len(got), len(want))
			}
		}
	}
}

// TestHashUnit checks values that another program computed from the description. They may never
// change, since stored sketches depend on them.
func TestHashUnit(t *testing.T) {
	for unit, want := range map[string]uint64{
		"a": 0x1e0a4c1616d14d4a, "的": 0x51d16061fa558c7f, "exactly8": 0xd7c105cc55cbae73, "internationalization": 0x5e7a07fddbaa957d,
	} {
		if got := HashUnit([]byte(unit)); got != want {
			t.Errorf("%q: %#x, want %#x", unit, got, want)
		}
	}
}

// TestHashUnitTellsApart checks that words differing little, as numbers do, have different hashes.
// The 32 bits at either end differ too, but for about n²/2^33 pairs that are equal by chance.
func TestHashUnitTellsApart(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	const n = 300_000
	for _, form := range []string{"%d", "%06d", "%08d", "a%dx%[1]d", "word%d", "%d of many words", "%x"} {
		var whole []uint64
		var high, low []uint32
		for i := range n {
			h := HashUnit(fmt.Appendf(nil, form, i*7919%1_000_003))
			whole, high, low = append(whole, h), append(high, uint32(h>>32)), append(low, uint32(h))
		}
		if a, b, c := distinct(whole), distinct(high), distinct(low); a < n || b < n-40 || c < n-40 {
			t.Errorf("%q: of %d words %d, %d and %d differ", form, n, a, b, c)
		}
	}
	lengths := map[uint64]bool{}
	for n := range 40 {
		lengths[HashUnit([]byte(strings.Repeat("b", n+1)))] = true
	}
	if len(lengths) < 24 { // beyond 16 bytes only the length counts
		t.Errorf("%d different hashes of 40 words", len(lengths))
	}
}

func distinct[N cmp.Ordered](numbers []N) int {
	slices.Sort(numbers)
	return len(slices.Compact(numbers))
}
