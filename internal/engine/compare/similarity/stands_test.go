package similarity

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// covered counts the letters of x in the stretches of at least n letters that y has too, each without
// trim letters at both ends.
func covered(x, y []byte, n, trim int) (letters int) {
	in := make([]bool, len(x))
	for i := range x {
		for end := i + n; end <= len(x) && bytes.Contains(y, x[i:end]); end++ {
			for at := i + trim; at < end-trim; at++ {
				in[at] = true
			}
		}
	}
	for _, is := range in {
		if is {
			letters++
		}
	}
	return letters
}

// TestCountEqualsOracle compares the count of letters with a search for every stretch. It may miss one of
// n letters, and the ends of longer ones.
func TestCountEqualsOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(leastRun, maxRun).Draw(t, "n")
		piece := rapid.StringMatching(`[ab]{0,40}|[a-z]{0,60}`)
		parts := rapid.SliceOfN(piece, 1, 6).Draw(t, "parts")
		join := func(name string) []byte {
			return []byte(strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(parts), piece), 0, 8).Draw(t, name), ""))
		}
		f := &finder{later: join("later"), earlier: join("earlier")}
		least := covered(f.later, f.earlier, n+stride-1, stride-1)
		most := covered(f.later, f.earlier, n, 0)
		if got := f.count(n); got < least || got > most {
			t.Fatalf("%q in %q, runs of %d: %d letters, want %d to %d", f.later, f.earlier, n, got, least, most)
		}
	})
}

// TestCount has stretches that overlap, and long runs that differ in the middle alone.
func TestCount(t *testing.T) {
	overlapping := &finder{later: []byte("abcdefghijklmnopqr"), earlier: []byte("abcdefghijkl.ghijklmnopqr")}
	if got := overlapping.count(leastRun); got != 18 {
		t.Errorf("%d letters of 18", got)
	}
	rng := rand.New(rand.NewPCG(4, 1))
	middles := func() (runs []byte) {
		for range 500 {
			runs = append(runs, "aaaaaaaa"+strings.ReplaceAll(lettersOf(rng, 8, 'c', 'z'), " ", "")+"bbbbbbbb"...)
		}
		return runs
	}
	apart := &finder{later: middles(), earlier: middles()}
	if got := apart.count(maxRun); got != 0 {
		t.Errorf("%d letters of runs with other middles", got)
	}
}

func TestRunGrows(t *testing.T) {
	for letters, want := range map[int]int{0: 8, 4095: 8, 4096: 9, 8191: 9, 8192: 10, 1 << 20: 17, 1 << 30: maxRun, 1 << 40: maxRun} {
		if got := runIn(letters); got != want {
			t.Errorf("in %d letters, runs of %d, want %d", letters, got, want)
		}
	}
}

// lettersOf returns n random letters between two, with a space behind each tenth.
func lettersOf(rng *rand.Rand, n int, from, to byte) string {
	var b strings.Builder
	for i := range n {
		b.WriteByte(from + byte(rng.IntN(int(to-from)+1)))
		if i%10 == 9 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// TestVerifiedAtItsEdge has texts of which exactly a fifth is new, or one letter more.
func TestVerifiedAtItsEdge(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	old, add := lettersOf(rng, 800, 'a', 'm'), lettersOf(rng, 201, 'n', 'z')
	for _, c := range []struct {
		name, later, earlier string
		want                 float64
	}{
		{"a fifth is new", old + add[:220], old, .8},
		{"a letter more", old + add, old, 800. / 1001},
		{"new at the start", add[:220] + old, old, .8},
		{"new in the middle", old[:440] + add[:220] + old[440:], old, .8},
		{"part of a longer text", old, lettersOf(rng, 900, 'n', 'z') + old + add, 1},
		{"the halves the other way round", old[440:] + old[:440], old, 1},
		{"other lines and case", strings.ToUpper(strings.ReplaceAll(old, " ", "\n")), old, 1},
		{"twice the text", old + old, old, 1},
		{"no letters", "- + *", old, 0},
		{"fewer letters than a run", "abcdefg", "abcdefg", 0},
		{"traditional characters", strings.Repeat("這個國家的歷史與語言", 3), strings.Repeat("这个国家的历史与语言", 3), 1},
		{"without marks", "Tieng Viet khong co dau thanh", "Tiếng Việt không có dấu thanh", 1},
	} {
		value, holds, ok := Verified.Measure([]byte(c.later), []byte(c.earlier))
		if !ok || !near(value, c.want) || holds != (c.want >= .8) {
			t.Errorf("%s: %v %v %v, want %v", c.name, value, holds, ok, c.want)
		}
	}
}

// TestStandsInALongText checks texts of one segment, longer than the buffers of the scanner.
func TestStandsInALongText(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	text := strings.ReplaceAll(lettersOf(rng, 300_000, 'a', 'z'), " ", "")
	if got := Stands([]byte(text[100_000:]), []byte(text)); got != 1 {
		t.Errorf("%v of a part", got)
	}
	if got := Stands([]byte(text), []byte(text[100_000:])); got < .66 || got > .67 {
		t.Errorf("%v of the whole in two thirds of it", got)
	}
}

func FuzzStands(f *testing.F) {
	f.Add("天地玄黄", "a b\xff c")
	f.Fuzz(func(t *testing.T, a, b string) {
		if s := Stands([]byte(a), []byte(b)); !(s >= 0 && s <= 1) {
			t.Fatalf("%v", s)
		}
		if s := Stands([]byte(a), []byte(a)); s != 0 && s != 1 {
			t.Fatalf("%v of a text in itself", s)
		}
	})
}

func BenchmarkStands(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 1))
	words := strings.Fields(lettersOf(rng, 30_000, 'a', 'z'))
	earlier := strings.Join(words, " ")
	for i := 0; i < len(words); i += 20 {
		words[i] = "changed"
	}
	later := strings.Join(words, " ")
	b.SetBytes(int64(len(later)))
	for b.Loop() {
		Stands([]byte(later), []byte(earlier))
	}
}
