package dedup

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/bloomstore"
)

func TestBinomialTail(t *testing.T) {
	for _, c := range []struct {
		n, hits int
		rate    float64
	}{{0, 0, 0.5}, {1, 1, 0.25}, {5, 2, 0.1}, {50, 40, 0.9}, {50, 3, 5.745e-4}, {12, 12, 0.01}, {4, 1, 0}, {4, 4, 1}} {
		want := 0.0
		for i := c.hits; i <= c.n; i++ {
			ways := 1.0
			for j := range i {
				ways *= float64(c.n-j) / float64(j+1)
			}
			want += ways * math.Pow(c.rate, float64(i)) * math.Pow(1-c.rate, float64(c.n-i))
		}
		if got := binomialTail(c.n, c.hits, c.rate); math.Abs(got-want) > 1e-9*want {
			t.Errorf("binomialTail(%d, %d, %v) = %v, want %v", c.n, c.hits, c.rate, got, want)
		}
	}
}

// filterOnly returns a deduper with a filter for this many keys and no table.
func filterOnly(t *testing.T, keys uint64) *Deduper {
	t.Helper()
	f, err := bloomstore.New(bloomstore.ForItems(keys), "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	d, err := New(Config{Filter: f})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var texts = []string{
	"你好", "hello", "One sentence of several words.",
	"短文也要认得出来，哪怕只有两句话。",
	"Menu\nHome\nNews\nContact\n\nA page of short lines, and one that is longer than they are.",
	strings.Repeat("0。1。2。3。4。5。6。7。8。9。", 30),
}

// TestFilterOnlyFindsExactCopies checks copies of any length, even if too short for segments.
func TestFilterOnlyFindsExactCopies(t *testing.T) {
	d := filterOnly(t, 100_000)
	for pass, want := range []Verdict{Unique, Duplicate} {
		for _, text := range texts {
			r, err := d.See("id", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != want || r.Kept != (want == Unique) || r.Exact != (want == Duplicate) || r.Of.Num != 0 {
				t.Errorf("pass %d, %.20q: %+v", pass, text, r)
			}
		}
	}
}

// TestFullFilterRemovesNothingUnseen uses a filter that errs for half of all keys.
func TestFullFilterRemovesNothingUnseen(t *testing.T) {
	d := filterOnly(t, 1000)
	rng := rand.New(rand.NewPCG(1, 2))
	keys := make([]uint64, 3000)
	for i := range keys {
		keys[i] = rng.Uint64()
	}
	for d.cfg.Filter.Rate() < 0.5 {
		d.cfg.Filter.Add(keys)
		for i := range keys {
			keys[i] = rng.Uint64()
		}
	}
	for _, text := range texts {
		if r, err := d.See("id", []byte(text)); err != nil || !r.Kept {
			t.Errorf("%.20q: %+v, %v", text, r, err)
		}
	}
}
