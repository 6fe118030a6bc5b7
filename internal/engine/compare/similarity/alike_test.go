package similarity

import (
	"hash/maphash"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestMeasures(t *testing.T) {
	for _, c := range []struct {
		a, b               string
		jaccard, cont, lcs float64
	}{
		{"", "", 1, 1, 1},
		{"a", "", 0, 0, 0},
		{"One two, three!", "one TWO three", 1, 1, 1},
		{"a b c d e f", "a b c d e g", 1. / 3, 0.5, 10. / 12},
		{"天地玄黄宇宙", "天地玄黄宇 洪", 1. / 3, 0.5, 10. / 12},
		{"a b c d e f g h", "a b c d e", 0.25, 1, 10. / 13},
	} {
		a, b := New(c.a), New(c.b)
		j, cont := Jaccard(a, b)
		if lcs := LCS(a, b); !near(j, c.jaccard) || !near(cont, c.cont) || !near(lcs, c.lcs) {
			t.Errorf("%q, %q: jaccard %v containment %v lcs %v, want %v %v %v", c.a, c.b, j, cont, lcs, c.jaccard, c.cont, c.lcs)
		}
	}
}

func TestContained(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{
		{"", "a b", 1},
		{"a b", "", 0},
		{"a b c d e f", "x a b c d e y", 0.5},
		{"a b c d e", "a b c d e f g h i j k", 1},
		{"a b c d e f g h i j k", "a b c d e", 1. / 7},
	} {
		if got := Contained(New(c.a), New(c.b)); !near(got, c.want) {
			t.Errorf("%q in %q: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestSpansEqualUnits(t *testing.T) {
	const text = "Ünits 中文, the_end"
	var got, want []string
	for start, end := range Spans(text) {
		got = append(got, Form(text[start:end]))
	}
	for unit := range Units(text) {
		want = append(want, unit)
	}
	if !slices.Equal(got, want) || !slices.Equal(want, []string{"ünits", "中", "文", "the_end"}) {
		t.Errorf("spans %q, units %q", got, want)
	}
}

// TestFormsOfOneText checks that texts with one canonical form are alike by every measure.
// Vietnamese and Korean are often decomposed, and Thai often has invisible spaces between words.
func TestFormsOfOneText(t *testing.T) {
	thai := "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาค"
	for _, c := range []struct{ a, b string }{
		{"Mọi người sinh ra đều được tự do", norm.NFD.String("Mọi người sinh ra đều được tự do")},
		{"모든 인간은 태어날 때부터", norm.NFD.String("모든 인간은 태어날 때부터")},
		{"ガラスのバケツ", "ｶﾞﾗｽのﾊﾞｹﾂ"},
		{"a wide Word of 12", "ａ　ｗｉｄｅ　Ｗｏｒｄ　ｏｆ　１２"},
		{"soft hyphens, and joined", "so\u00adft hy\u00adphens, and\u2060 joi\u200bned\ufe0f"},
		{thai, strings.ReplaceAll(thai, "มี", "\u200bมี\u200b")},
		{"a ≠ b", "a =\u0338 b"},
	} {
		a, b := New(c.a), New(c.b)
		edit, _ := EditWithin(a, b, MaxSteps)
		if jaccard, _ := Jaccard(a, b); jaccard != 1 || edit != 1 || LCS(a, b) != 1 || Hamming(a, b) != 0 {
			t.Errorf("%q, %q: jaccard %v, edit %v, LCS %v, Hamming %d", c.a, c.b, jaccard, edit, LCS(a, b), Hamming(a, b))
		}
	}
	if units := New(thai).Units(); units < 20 {
		t.Errorf("%q has %d units, want its letters", thai, units)
	}
}

// TestFormsAreBounded checks that no form is much longer than its text.
func TestFormsAreBounded(t *testing.T) {
	for _, unit := range []string{"\ufdfa", strings.Repeat("\ufdfa", 100), strings.Repeat("\ufdfa", 1000), "ΐ"} {
		if form := Form(unit); len(form) > 3*len(unit) {
			t.Errorf("%d bytes become %d", len(unit), len(form))
		}
	}
}

func TestCompositionMakesNoUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		composed, decomposed := New(norm.NFC.String(text)), New(norm.NFD.String(text))
		if !slices.Equal(composed.units, decomposed.units) {
			t.Fatalf("%q has %d units composed, %d decomposed", text, composed.Units(), decomposed.Units())
		}
	})
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

func TestLCSEqualsDynamicProgramming(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		a, b := randomText(rng), randomText(rng)
		if got, want := LCS(a, b), slowLCS(a.units, b.units); !near(got, want) {
			t.Fatalf("%v\n%v\nLCS %v, want %v", a.units, b.units, got, want)
		}
	}
}

func randomText(rng *rand.Rand) *Text {
	t := &Text{}
	units := 1 + rng.IntN(100) // few units make carries, many make words without a match
	for range rng.IntN(300) {
		t.units = append(t.units, uint64(rng.IntN(units)))
	}
	return t
}

// LCS is LCSWithin without a limit of steps.
func LCS(a, b *Text) float64 {
	share, _ := LCSWithin(a, b, math.MaxInt64)
	return share
}

func slowLCS(a, b []uint64) float64 {
	if len(a)+len(b) == 0 {
		return 1
	}
	best := make([][]int, len(a)+1)
	for i := range best {
		best[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for j := range b {
			best[i+1][j+1] = max(best[i][j+1], best[i+1][j])
			if a[i] == b[j] {
				best[i+1][j+1] = best[i][j] + 1
			}
		}
	}
	return 2 * float64(best[len(a)][len(b)]) / float64(len(a)+len(b))
}

// TestNewEqualsUnits checks that New hashes the units of any text.
func TestNewEqualsUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.OneOf(rapid.SampledFrom([]string{"Word", "two_words 3", "ÉTÉ", "aÉb", "İ", "ß", "茶馆", "a茶b", "\xff", "a\xe8", "e\u0301", "한국", ". ", "\n"}), rapid.String())
		text := strings.Join(rapid.SliceOf(part).Draw(t, "parts"), "")
		var want []uint64
		for unit := range Units(text) {
			want = append(want, maphash.String(seed, unit))
		}
		if got := New(text).units; !slices.Equal(got, want) {
			t.Fatalf("%q: %d units, want %d", text, len(got), len(want))
		}
	})
}
