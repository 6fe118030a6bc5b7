package canon

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/canon/vector"
	"github.com/firstseen/firstseen/internal/testing/canontest"
)

func all(int) bool { return true }

// plainScanner returns a scanner that copies byte by byte.
func plainScanner() *Scanner {
	s := NewScanner()
	s.copied = copied{}
	return s
}

// together draws texts of up to some 10 KB, mostly copied in batches, with everything that may
// interrupt a batch.
func together() *rapid.Generator[string] {
	part := rapid.OneOf(
		rapid.StringMatching(`([a-zA-Z]{1,9} ){1,12}`),
		rapid.StringMatching(`([a-z0-9]{1,5}[ .,'=;_+\n]){1,30}`),
		rapid.StringMatching(`([一-龥 ]{1,40}[，。、！a ]){1,10}`),
		rapid.StringMatching(`[0-9]{1,4}([.,][0-9]{1,4}){0,3}`),
		rapid.SampledFrom([]string{
			". ", "\n\n", "; ", " ", "\t", "    ", "= ", "=", "don't ", "é", "e\u0301", "\u0301", " \u0301", "=\u0338", ",\u0338", "’s",
			"的", " 过滤器 ", "。", "用linux 的", "don’t", "“", "—", "　", "1，000", "中 \u0301", "中  b", "b  中", "\u00ad", "'\u00ad", "\x80", "\x00", "⩵", "ﬁ", "，",
			strings.Repeat(" ", 70), strings.Repeat("long words without an end ", 20), strings.Repeat("=", 100), strings.Repeat("x", 450), strings.Repeat("some words. ", 360),
		}),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 1, 60).Draw(t, "parts"), "")
	})
}

// TestCopiedEqualsOracle compares pieces with the oracle, copied in batches or not.
func TestCopiedEqualsOracle(t *testing.T) {
	canontest.NeedUnicode(t)
	scanners := []*Scanner{NewScanner(), plainScanner()}
	rapid.Check(t, func(t *rapid.T) {
		text, n := together().Draw(t, "text"), rapid.IntRange(1, 3).Draw(t, "asked")
		for i, s := range scanners {
			if diff := diffOracle(s, text, n); diff != "" {
				t.Fatalf("scanner %d of %q (-oracle +scanner):\n%s", i, text, diff)
			}
		}
	})
}

// TestCopiedUnits checks that words are the same, copied in batches or not.
func TestCopiedUnits(t *testing.T) {
	copying, plain := NewScanner(), plainScanner()
	copying.CountUnits()
	plain.CountUnits()
	rapid.Check(t, func(t *rapid.T) {
		text, n := together().Draw(t, "text"), rapid.IntRange(1, 90).Draw(t, "together")
		got, _ := unitsOf(copying, text, n)
		want, _ := unitsOf(plain, text, n)
		if !slices.Equal(got, want) {
			t.Fatalf("%q: %x, want %x", text, got, want)
		}
	})
}

// TestBatchEnds checks that no batch ends before a byte that matters to the last one. A piece of
// the maximum width stays whole.
func TestBatchEnds(t *testing.T) {
	copying, plain := NewScanner(), plainScanner()
	words := strings.Repeat("some words, and more. ", window/10)
	for i, text := range []string{"=\u0338", "x=\u0338", "3.5", "12,345,678", "don't", "a' b", ".\u0338", "e\u0301", " 的", "　的", "1，0", "n’t", "中 \u0301", "中\u0301", strings.Repeat("x", MaxWidth), strings.Repeat("y", MaxWidth+1)} {
		for n := range 22 + 600 {
			if testing.Short() && (n+i)%4 != 0 {
				continue // the text begins at each place, but not each text
			}
			if n >= 22 { // the words repeat; a batch ends some hundred bytes after a window
				n += window - 40
			}
			text := words[:n] + text + ". " + words[:2*vector.Block]
			got, whole := readAll(copying, text, all)
			want, wantWhole := readAll(plain, text, all)
			if !slices.Equal(got, want) || whole != wantWhole {
				t.Fatalf("%d bytes and %q (-plain +copied):\n%s", n, text[n:], cmp.Diff(want, got))
			}
		}
	}
}

// TestCopiedParts scans texts longer than a part. Symbols grow, and batches end anywhere.
func TestCopiedParts(t *testing.T) {
	copying, plain := NewScanner(), plainScanner()
	sizes := 10
	if testing.Short() {
		sizes = 2
	}
	for _, sentence := range []string{"Some words, and 1,000 more. ", "x=y;", "=", "a'b", "1.", "没有标点", "一二 三，", "no end ", "=\u0338", "word = 的 "} {
		for size := 3 * flushAt; size < 3*flushAt+sizes; size++ {
			text := strings.Repeat(sentence, size/len(sentence)+1)[size%len(sentence):]
			got, whole := readAll(copying, text, all)
			want, wantWhole := readAll(plain, text, all)
			if !slices.Equal(got, want) || whole != wantWhole {
				t.Fatalf("%d bytes of %q differ: %d pieces, want %d", size, sentence, len(got), len(want))
			}
		}
	}
}
