package similarity

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// texts draws two texts with much or little in common. Few characters make many matches.
func texts(t *rapid.T) (a, b string) {
	alphabet := rapid.SampledFrom([]string{"ab ", "abcdefgh .,", "天地玄黄宇宙，。", "ab天地 X", ""}).Draw(t, "alphabet")
	gen := rapid.StringOfN(rapid.RuneFrom([]rune(alphabet+"z")), 0, 200, -1)
	a = gen.Draw(t, "a")
	if rapid.Bool().Draw(t, "copy") {
		runes := []rune(a)
		for range rapid.IntRange(0, 5).Draw(t, "edits") {
			at := rapid.IntRange(0, len(runes)).Draw(t, "at")
			runes = slices.Insert(runes, at, 'q')
			at = rapid.IntRange(0, len(runes)-1).Draw(t, "gone")
			runes = slices.Delete(runes, at, at+1)
		}
		return a, string(runes)
	}
	return a, gen.Draw(t, "b")
}

// matrix computes the distance by its definition, as the cheapest way to every pair of prefixes.
func matrix[T comparable](x, y []T, replace int) int {
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := replace
			if x[i] == y[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(y)]
}

func TestEditEqualsTheMatrix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts(t)
		x, y := characters(a), characters(b)
		want := matrix(x, y, 1)
		if got, ok := diagonals(x, y, true, math.MaxInt64); !ok || got != want {
			t.Fatalf("by diagonals %d, want %d", got, want)
		}
		if len(x) > len(y) {
			x, y = y, x
		}
		if got := levenshtein(x, y); got != want {
			t.Fatalf("by bits %d, want %d", got, want)
		}
		share := 1.0
		if len(y) > 0 {
			share = 1 - float64(want)/float64(len(y))
		}
		if got := Edit(New(a), New(b)); !near(got, share) {
			t.Fatalf("ratio %v, want %v", got, share)
		}
	})
}

func TestLCSByDiagonals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts(t)
		x, y := New(a), New(b)
		n := len(x.units) + len(y.units)
		want := 1.0
		if n > 0 {
			want = float64(n-matrix(x.units, y.units, 2)) / float64(n)
		}
		if got := LCS(x, y); !near(got, want) {
			t.Fatalf("LCS %v, want %v", got, want)
		}
		differences, ok := diagonals(x.units, y.units, false, math.MaxInt64)
		if !ok || n > 0 && !near(float64(n-differences)/float64(n), want) {
			t.Fatalf("%d differences of %d, want %v", differences, n, want)
		}
	})
}

// TestPublishedDistances checks pairs from papers.
func TestPublishedDistances(t *testing.T) {
	for _, c := range []struct {
		a, b     string
		distance int
		from     string
	}{
		{"annual", "annealing", 4, "Hyyrö and Navarro, Bit-parallel witnesses, 2005"},
		{"survey", "surgery", 2, "Navarro, A guided tour to approximate string matching, 2001"},
		{"kitten", "sitting", 3, ""},
		{"saturday", "sunday", 3, ""},
		{"", "", 0, ""},
		{"", "天地", 2, ""},
		{strings.Repeat("a", 64), strings.Repeat("a", 63) + "b", 1, ""},
		{strings.Repeat("ab", 64), strings.Repeat("ba", 64), 2, ""},
	} {
		x, y := []rune(c.a), []rune(c.b)
		if len(x) > len(y) {
			x, y = y, x
		}
		if got := levenshtein(x, y); got != c.distance {
			t.Errorf("%s, %s: %d, want %d", c.a, c.b, got, c.distance)
		}
	}
	// Myers, An O(ND) difference algorithm, 1986: an edit script of five.
	if got, ok := diagonals([]rune("abcabba"), []rune("cbabac"), false, 1000); !ok || got != 5 {
		t.Errorf("abcabba, cbabac: %d %v", got, ok)
	}
}

func TestCharacters(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "Hello,  World!": "hello world", "天地 玄黄，AI 模型": "天地玄黄ai模型", " a\tB\n": "a b", "中a b文": "中a b文",
	} {
		if got := string(characters(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestStepsEnd checks that no measure takes more steps than allowed, and that copies take few.
func TestStepsEnd(t *testing.T) {
	var a, b strings.Builder
	for i := range 20000 {
		a.WriteString(string(rune('一' + i*7919%5000)))
		b.WriteString(string(rune('一' + i*104729%4999)))
	}
	x, y := New(a.String()), New(b.String())
	if _, ok := LCSWithin(x, y, 10000); ok {
		t.Error("LCS was measured in 10,000 steps")
	}
	if _, ok := EditWithin(x, y, 10000); ok {
		t.Error("the distance was measured in 10,000 steps")
	}
	z := New("甲" + a.String()[:30000] + "乙" + a.String()[30000:] + "丙")
	if lcs, ok := LCSWithin(x, z, 100000); !ok || lcs < 0.9999 {
		t.Errorf("of a copy: LCS %v %v", lcs, ok)
	}
	if edit, ok := EditWithin(x, z, 100000); !ok || !near(edit, 1-3./20003) {
		t.Errorf("of a copy: edit %v %v", edit, ok)
	}
}

// Edit returns the edit-distance ratio, 0 to 1, without a limit of steps.
func Edit(a, b *Text) float64 {
	share, _ := EditWithin(a, b, math.MaxInt64)
	return share
}
