package feature

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/method"
)

// numbered returns a text of words with the numbers from..to-1.
func numbered(from, to int) string {
	var b strings.Builder
	for i := range to - from {
		fmt.Fprintf(&b, "w%d ", from+i)
	}
	return b.String()
}

// shinglerOf returns the extractor of a scheme.
func shinglerOf(s Scheme) *shingler {
	s.Method = "shingles"
	return s.must().NewExtractor().(*shingler)
}

// compareShingles extracts two texts and compares the second with the first.
func compareShingles(t *testing.T, e *shingler, threshold float64, a, b string) (f method.Finding, bands int) {
	t.Helper()
	j := e.scheme.must().NewJudge(method.Rules{Threshold: threshold})
	var x, y method.Sketch
	e.Extract(&x, []byte(a))
	e.Extract(&y, []byte(b))
	j.Load(&x)
	record := j.Record(nil)
	j.Load(&y)
	f, err := j.Compare(&method.Candidate{}, record)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x.Features {
		if x.Features[i].Key == y.Features[i].Key {
			bands++
		}
	}
	return f, bands
}

// TestShingleEstimate estimates many pairs of a known Jaccard similarity. Their mean is right, and
// they spread as those of 128 places do. At least 95% of the pairs share a band.
func TestShingleEstimate(t *testing.T) {
	pairs := 300
	if testing.Short() {
		pairs = 60
	}
	const words = 1000
	for _, common := range []int{250, 500, 700, 900} {
		jaccard := float64(common) / float64(2*words-common)
		bands, rows := BandsFor(jaccard)
		e := shinglerOf(Scheme{Shingle: 1, Bands: bands, Rows: rows})
		var sum, squares float64
		found := 0
		for i := range pairs {
			at := i * 10_000
			f, shared := compareShingles(t, e, .5, numbered(at, at+words), numbered(at+words-common, at+2*words-common))
			sum += f.Score
			squares += (f.Score - jaccard) * (f.Score - jaccard)
			if shared > 0 {
				found++
			}
			if contained := float64(common) / words; math.Abs(f.Contained-contained) > .25 {
				t.Errorf("contained %v, want about %v", f.Contained, contained)
			}
		}
		deviation := math.Sqrt(jaccard * (1 - jaccard) / places)
		if mean := sum / float64(pairs); math.Abs(mean-jaccard) > 5*deviation/math.Sqrt(float64(pairs)) {
			t.Errorf("Jaccard %.3f: mean of the estimates %.4f", jaccard, mean)
		}
		spread := math.Sqrt(squares / float64(pairs))
		t.Logf("Jaccard %.3f: mean %.4f, spread %.4f", jaccard, sum/float64(pairs), spread)
		if spread > 1.25*deviation || spread < .6*deviation {
			t.Errorf("Jaccard %.3f: the estimates spread by %.4f, want %.4f", jaccard, spread, deviation)
		}
		if found < pairs*95/100 {
			t.Errorf("Jaccard %.3f: %d of %d pairs share one of %d bands", jaccard, found, pairs, bands)
		}
	}
}

// TestShingleScore checks that the score discounts places that are equal by chance.
func TestShingleScore(t *testing.T) {
	j := Scheme{Method: "shingles"}.must().NewJudge(method.Rules{Threshold: .5})
	sketch := method.Sketch{Units: 10, Data: make([]byte, places)}
	j.Load(&sketch)
	record := j.Record(nil)
	for differ, want := range map[int]float64{0: 1, 64: (64./128 - 1./256) / (1 - 1./256), 127: (1./128 - 1./256) / (1 - 1./256), 128: 0} {
		for i := range sketch.Data {
			sketch.Data[i] = 0
			if i < differ {
				sketch.Data[i] = 1
			}
		}
		f, err := j.Compare(nil, record)
		if err != nil || math.Abs(f.Score-want) > 1e-12 || !f.Estimated || (f.Relation == method.Copy) != (want >= .5) {
			t.Errorf("%d places differ: %+v, %v, want %v", differ, f, err, want)
		}
	}
}

// TestOtherTexts checks that texts with nothing in common share no bands and score nearly zero.
func TestOtherTexts(t *testing.T) {
	e := shinglerOf(Scheme{})
	for i := range 100 {
		f, bands := compareShingles(t, e, .5, numbered(i*1000, i*1000+300), numbered(i*1000+500, i*1000+800))
		if bands > 0 || f.Score > .06 || f.Relation != method.Unrelated {
			t.Errorf("%d bands, %+v", bands, f)
		}
	}
}

// TestShortTexts checks that a text shorter than a shingle is one shingle, and an empty text none.
func TestShortTexts(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		score float64
	}{
		{"", "", 0},
		{"+ +", "one", 0},
		{"one two", "One, two!", 1},
		{"one two", "two one", 0},
		{"一二三四", "一二三四", 1},
		{"一二三四五", "一二三四五六", .5},
	} {
		f, _ := compareShingles(t, shinglerOf(Scheme{}), .7, c.a, c.b)
		if math.Abs(f.Score-c.score) > .15 || (f.Relation == method.Copy) != (c.score >= .7) {
			t.Errorf("%q and %q: %+v", c.a, c.b, f)
		}
	}
}

// TestOrderAndRepetition checks that the signature depends on nothing but the set of shingles.
func TestOrderAndRepetition(t *testing.T) {
	e := shinglerOf(Scheme{Shingle: 1})
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,6}|[的是茶馆]`), 1, 60).Draw(t, "words")
		var a, b method.Sketch
		e.Extract(&a, []byte(strings.Join(words, " ")))
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
		more := append(append([]string{}, words...), words[:rng.IntN(len(words))]...)
		rng.Shuffle(len(more), func(i, j int) { more[i], more[j] = more[j], more[i] })
		e.Extract(&b, []byte(strings.ToUpper(strings.Join(more, ", "))))
		if string(a.Data) != string(b.Data) || len(a.Data) != places || int(b.Units) != len(more) {
			t.Fatalf("%v: %x, %v: %x", words, a.Data, more, b.Data)
		}
	})
}

// TestBandsFor checks that bands fit the places and are as long as possible. The higher the
// threshold, the fewer and longer they are.
func TestBandsFor(t *testing.T) {
	if b, r := BandsFor(defaultSimilarity); b != 42 || r != 3 {
		t.Errorf("%d bands of %d", b, r)
	}
	last := 0
	for i := 1; i <= 100; i++ {
		threshold := float64(i) / 100
		b, r := BandsFor(threshold)
		missed := math.Pow(1-math.Pow(threshold, float64(r)), float64(b))
		if b*r > places || r < last || r > 1 && missed > .0100001 {
			t.Errorf("%v: %d bands of %d, %v missed", threshold, b, r, missed)
		}
		last = r
		if err := (Scheme{Method: "shingles", Bands: b, Rows: r}).Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestShingleNames(t *testing.T) {
	key := []byte("0123456789abcdef")
	for _, s := range []Scheme{{}, {Shingle: 2}, {Bands: 10, Rows: 12, Key: key}} {
		s.Method = "shingles"
		got, ok := Named(s.Name(), s.Key)
		if !ok || got.Name() != s.Name() || got.Features() != s.Features() {
			t.Errorf("%s is %+v, %v", s.Name(), got, ok)
		}
	}
	if name := (Scheme{Method: "shingles"}).Name(); name != "shingles1-u15b-xxh3-w5-b42-r3" {
		t.Error(name)
	}
	for _, name := range []string{"", "shingles1-u15b-xxh3", "shingles1-u15b-xxh3-w0-b42-r3", "shingles1-u15b-xxh3-w5-b65-r2", "shingles1-u15b-xxh3-w05-b42-r3"} {
		if s, ok := Named(name, nil); ok {
			t.Errorf("%s is %+v", name, s)
		}
	}
	for _, s := range []Scheme{{Shingle: -1}, {Shingle: MaxShingle + 1}, {Bands: 129, Rows: 1}, {Bands: 1}, {Rows: 1}, {Bands: 64, Rows: 3}, {Bands: -1, Rows: -1}, {Key: key[:8]}} {
		s.Method = "shingles"
		if s.Validate() == nil {
			t.Errorf("%+v is valid", s)
		}
	}
}

// TestDamagedShingles checks that a record of a wrong length is refused.
func TestDamagedShingles(t *testing.T) {
	for _, text := range []string{"", numbered(0, 500)} {
		s := Scheme{Method: "shingles"}.must()
		j := s.NewJudge(method.Rules{Threshold: .5})
		var sketch method.Sketch
		s.NewExtractor().Extract(&sketch, []byte(text))
		j.Load(&sketch)
		record := j.Record(nil)
		if same, _, err := j.Same(record); !same || err != nil {
			t.Error(same, err)
		}
		for n := range record {
			if _, _, err := j.Same(record[:n]); err == nil {
				t.Errorf("%d of %d bytes", n, len(record))
			}
		}
		if f, err := j.Compare(nil, append(record, 0)); err == nil {
			t.Errorf("a byte more is %+v", f)
		}
	}
}

func TestShinglesNoAllocation(t *testing.T) {
	s := Scheme{Method: "shingles"}.must()
	e, j := s.NewExtractor(), s.NewJudge(method.Rules{Threshold: .5})
	text := []byte(strings.Repeat("Some words that are read again. 一二三四五六七。", 300))
	var sketch method.Sketch
	e.Extract(&sketch, text)
	j.Load(&sketch)
	record := j.Record(nil)
	allocs := testing.AllocsPerRun(20, func() {
		e.Extract(&sketch, text)
		j.Load(&sketch)
		if _, err := j.Compare(nil, record); err != nil {
			panic(err)
		}
		record = j.Record(record[:0])
	})
	if allocs > 0 {
		t.Errorf("%v allocations a text", allocs)
	}
}
