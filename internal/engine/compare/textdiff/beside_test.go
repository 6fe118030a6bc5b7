package textdiff

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/internal/testing/effort"
)

func TestWrite(t *testing.T) {
	for _, c := range []struct {
		name, left, right, want string
		style                   Style
	}{
		{
			"a word changed", "One two three.\nFour five six.", "One two three.\nFour eight six.", `
One two three.       │ One two three.
Four ⟦five⟧ six.     │ Four ⟦eight⟧ six.
`, Style{Width: 44},
		},
		{
			"a line more", "Alpha beta.\nGamma delta epsilon.\nZeta eta.", "Alpha beta.\nZeta eta.", `
Alpha beta.          │ Alpha beta.
⟦Gamma delta         │
epsilon⟧.            │
Zeta eta.            │ Zeta eta.
`, Style{Width: 44},
		},
		{
			"wide characters", "天地玄黄宇宙洪荒。日月盈昃。", "天地玄黄宇宙洪荒。日月相昃。", `
天地玄黄宇宙  │ 天地玄黄宇宙
洪荒。        │ 洪荒。
日月⟦盈⟧昃。  │ 日月⟦相⟧昃。
`, Style{Width: 29},
		},
		{
			"colours", "one two x", "one two y", "\none two \x1b[31mx\x1b[0m   │ one two \x1b[31my\x1b[0m\n", Style{Width: 25, Color: true},
		},
		{
			"folded", "a\nb\nc\nd\ne\nf g", "a\nb\nc\nd\ne\nf h", `
a         │ a
… 3 rows  │ … 3 rows
e         │ e
f ⟦g⟧     │ f ⟦h⟧
`, Style{Width: 22},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			if err := Write(&b, c.left, c.right, c.style); err != nil {
				t.Fatal(err)
			}
			if "\n"+b.String() != c.want {
				t.Errorf("got\n%s\nwant%s", b.String(), c.want)
			}
		})
	}
}

// TestLongTexts checks that the work grows linearly with texts of many parts, and with a line of
// marks without width.
func TestLongTexts(t *testing.T) {
	for what, texts := range map[string]func(n int) (left, right string){
		"short lines": func(n int) (left, right string) {
			var b strings.Builder
			for i := 0; b.Len() < n; i++ {
				fmt.Fprintf(&b, "%d\n", i)
			}
			return b.String(), strings.ReplaceAll(b.String(), "7\n", "x\n")
		},
		"marks": func(n int) (left, right string) { return "a" + strings.Repeat("\u0301", n/2), "b" },
	} {
		effort.Linear(t, what, 4<<10, func(n int) func() {
			left, right := texts(n)
			return func() { _ = Write(io.Discard, left, right, Style{Width: 80}) }
		})
	}
}

// TestMovedPassage checks that a passage in another place is marked as moved.
func TestMovedPassage(t *testing.T) {
	const first, second = "one two three four five six seven eight nine ten.", "eleven twelve thirteen fourteen fifteen."
	a, b := newSide(first+" "+second), newSide(second+" "+first)
	a.mark(b)
	if want := append(slices.Repeat([]state{aligned}, 10), slices.Repeat([]state{elsewhere}, 5)...); !slices.Equal(a.states, want) {
		t.Errorf("states %v", a.states)
	}
}

// TestAlign checks that aligned words are equal and in order, and that a copy is aligned wholly.
func TestAlign(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		a := make([]string, rng.IntN(60))
		for i := range a {
			a[i] = string(rune('a' + rng.IntN(12)))
		}
		b := slices.Clone(a)
		for range rng.IntN(4) {
			if len(b) > 0 {
				b = slices.Delete(b, 0, 1+rng.IntN(len(b)))
				b = append(b, "x", "y")
			}
		}
		last := -1
		for i, j := range align(a, b) {
			if j >= 0 && (a[i] != b[j] || j <= last) {
				t.Fatalf("%v\n%v\n%d is aligned with %d after %d", a, b, i, j, last)
			}
			last = max(last, j)
		}
	}
	for i, j := range align(strings.Fields("a b a b"), strings.Fields("a b a b")) {
		if i != j {
			t.Errorf("%d of a copy is aligned with %d", i, j)
		}
	}
}

func TestColumns(t *testing.T) {
	for r, want := range map[rune]int{'a': 1, '中': 2, 'Ａ': 2, '。': 2, '\u0301': 0, '\u200d': 0, 'é': 1, '渡': 2, 'ｗ': 2, 'ア': 2, 'ｱ': 1} {
		if got := Columns.RuneWidth(r); got != want {
			t.Errorf("%q: %d columns", r, got)
		}
	}
}
