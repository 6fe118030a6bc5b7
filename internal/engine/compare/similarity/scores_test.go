package similarity

import (
	"fmt"
	"hash/maphash"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// unitsOf collects the units of a text.
func unitsOf(s string) (units []string) {
	for u := range Units(s) {
		units = append(units, u)
	}
	return units
}

// sets returns the set of shingles of a text.
func sets(s string) map[[ShingleUnits]string]bool {
	units, all := unitsOf(s), map[[ShingleUnits]string]bool{}
	if n := len(units); n > 0 && n < ShingleUnits {
		var short [ShingleUnits]string
		copy(short[:], units)
		all[short] = true
	}
	for i := 0; i+ShingleUnits <= len(units); i++ {
		all[[ShingleUnits]string(units[i:])] = true
	}
	return all
}

func TestShinglesEqualSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts(t)
		x, y := sets(a), sets(b)
		both := 0
		for s := range x {
			if y[s] {
				both++
			}
		}
		j, c := Jaccard(New(a), New(b))
		share := func(n, of int) float64 {
			switch {
			case len(x) == 0 && len(y) == 0:
				return 1
			case of == 0:
				return 0
			}
			return float64(n) / float64(of)
		}
		if want := share(both, len(x)+len(y)-both); !near(j, want) {
			t.Errorf("Jaccard %v, want %v", j, want)
		}
		if want := share(both, min(len(x), len(y))); !near(c, want) {
			t.Errorf("containment %v, want %v", c, want)
		}
	})
}

func TestCosineEqualsVectors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts(t)
		others := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("abc 天地")), 0, 20, -1), 0, 4).Draw(t, "others")
		f := CountUnits(New(a), New(b))
		for _, o := range others {
			f.Add(o)
		}
		vector := func(s string) map[string]float64 {
			v := map[string]float64{}
			for _, u := range unitsOf(s) {
				df := 0
				for _, o := range others {
					for _, have := range unitsOf(o) {
						if have == u {
							df++
							break
						}
					}
				}
				v[u] += 1 + math.Log(float64(1+len(others))/float64(1+df))
			}
			return v
		}
		x, y := vector(a), vector(b)
		dot := func(p, q map[string]float64) (sum float64) {
			for u, w := range p {
				sum += w * q[u]
			}
			return sum
		}
		want := 1.0
		switch {
		case len(x) == 0 && len(y) == 0:
		case len(x) == 0 || len(y) == 0:
			want = 0
		default:
			want = dot(x, y) / math.Sqrt(dot(x, x)*dot(y, y))
		}
		if got := Cosine(New(a), New(b), f); math.Abs(got-want) > 1e-9 {
			t.Errorf("cosine %v, want %v", got, want)
		}
	})
}

// TestCosineAsScikitLearn checks values of TfidfVectorizer(token_pattern=r"\w+") of scikit-learn
// 1.9.1 with its defaults, fitted to the four texts.
func TestCosineAsScikitLearn(t *testing.T) {
	docs := []string{"the cat sat on the mat", "the cat sat on a mat", "a dog barked", "the dog sat"}
	f := CountUnits(New(docs[0]), New(docs[1]), New(docs[2]), New(docs[3]))
	for _, d := range docs {
		f.Add(d)
	}
	for _, c := range []struct {
		a, b int
		want float64
	}{
		{0, 1, 0.860138514},
		{0, 2, 0.000000000},
		{0, 3, 0.516273027},
		{1, 2, 0.228422013},
		{1, 3, 0.374185526},
		{2, 3, 0.346284925},
	} {
		if got := Cosine(New(docs[c.a]), New(docs[c.b]), f); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%q, %q: %v, want %v", docs[c.a], docs[c.b], got, c.want)
		}
	}
}

// TestSimHashByMajority checks that each bit is the one in more than half of the runs.
func TestSimHashByMajority(t *testing.T) {
	if SimHash("") != 0 || SimHash("...") != 0 {
		t.Error("a text without a unit has a fingerprint")
	}
	const text = "one two three four five six seven"
	runs := []uint64{SimHash("one two three four five"), SimHash("two three four five six"), SimHash("three four five six seven")}
	for bit := range 64 {
		votes := 0
		for _, r := range runs {
			votes += int(r >> bit & 1)
		}
		if got := SimHash(text) >> bit & 1; (got == 1) != (votes > 1) {
			t.Fatalf("bit %d is %d with %d of 3 votes", bit, got, votes)
		}
	}
	if d := Hamming(New("One, TWO: three four five"), New("one two three four five!")); d != 0 {
		t.Errorf("%d bits between texts of the same units", d)
	}
	if d := Hamming(New("天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往"), New("an unrelated text of entirely other words, in another language")); d < 12 {
		t.Errorf("%d bits between unrelated texts", d)
	}
}

func TestConditions(t *testing.T) {
	for s, want := range map[string]Condition{
		"lcs>=0.8": {"lcs", 0.8}, " edit >= 1": {"edit", 1}, "contained>=.25": {"contained", 0.25},
	} {
		got, err := ParseCondition(s)
		if err != nil || got != want {
			t.Errorf("%q: %v %v", s, got, err)
		}
		if again, err := ParseCondition(got.String()); err != nil || again != got {
			t.Errorf("%v is read as %v %v", got, again, err)
		}
	}
	for _, s := range []string{"", "lcs", "lcs>0.8", "lcs>=0", "lcs>=1.1", "lcs>=NaN", "hamming>=0.5", ">=0.5", "lcs>=0.8,edit>=0.8"} {
		if c, err := ParseCondition(s); err == nil {
			t.Errorf("%q is read as %v", s, c)
		}
	}
	const later, earlier = "a b c d e f", "a b c d e f g h i j k"
	for _, c := range []struct {
		score string
		want  float64
	}{{"contained", 1}, {"containment", 1}, {"jaccard", 2. / 7}, {"lcs", 12. / 17}, {"edit", 1 - 10./21}} {
		if got, _, ok := (Condition{Score: c.score}).Measure([]byte(later), []byte(earlier)); !ok || !near(got, c.want) {
			t.Errorf("%s: %v, want %v", c.score, got, c.want)
		}
	}
	s := Of(New(later), New(earlier), nil)
	if s.LCS == nil || s.Edit == nil || !near(*s.Edit, 1-10./21) || s.Contained != 1 {
		t.Errorf("all scores %+v", s)
	}
}

func FuzzScores(f *testing.F) {
	f.Add("天地玄黄", "a b\xff c")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := New(a), New(b)
		s, back := Of(x, y, nil), Of(y, x, nil)
		for name, v := range map[string][2]float64{
			"jaccard": {s.Jaccard, back.Jaccard}, "containment": {s.Containment, back.Containment},
			"lcs": {*s.LCS, *back.LCS}, "edit": {*s.Edit, *back.Edit}, "cosine": {s.Cosine, back.Cosine},
		} {
			if !(v[0] >= 0 && v[0] <= 1) || math.Abs(v[0]-v[1]) > 1e-9 {
				t.Errorf("%s: %v one way, %v the other", name, v[0], v[1])
			}
		}
		if s.Hamming != back.Hamming || maphash.String(seed, a) == maphash.String(seed, b) && *s.LCS != 1 {
			t.Errorf("%+v, %+v", s, back)
		}
	})
}

// numbers returns lines of a table of numbers. Every step-th is changed by plus.
func numbers(lines, step, plus int) string {
	var b strings.Builder
	for i := range lines {
		n := i * 7919 % 100_003
		if step > 0 && i%step == 0 {
			n += plus * 100_003
		}
		fmt.Fprintf(&b, "%d\n", n)
	}
	return b.String()
}

func TestVerified(t *testing.T) {
	article := numbers(400, 0, 0)
	for _, c := range []struct {
		name           string
		later, earlier string
		value          float64
		holds          bool
	}{
		{"a copy", article, article, 1, true},
		{"one number in four", numbers(400, 4, 1), article, .75, false},
		{"one number in ten", numbers(400, 10, 1), article, .9, true},
		{"the first half", numbers(200, 0, 0), article, 1, true},
		{"the first half and as much more", numbers(200, 0, 0) + strings.ReplaceAll(article, "\n", "x\n")[:1200], article, 0, false},
		{"nothing in common", strings.ReplaceAll(article, "\n", "x\n"), article, 0, false},
		{"the halves the other way round", article[len(article)/2:] + article[:len(article)/2], article, 1, true},
	} {
		value, holds, ok := Verified.Measure([]byte(c.later), []byte(c.earlier))
		if !ok || holds != c.holds || holds && math.Abs(value-c.value) > .02 {
			t.Errorf("%s: %v %v %v, want %v %v", c.name, value, holds, ok, c.value, c.holds)
		}
	}
	if s := Verified.String(); s != "verified" {
		t.Errorf("it is named %q", s)
	}
	if _, err := ParseCondition(Verified.String()); err == nil {
		t.Error("the name is read as a condition of --confirm")
	}
}
