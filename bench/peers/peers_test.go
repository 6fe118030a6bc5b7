package peers

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/bench/eval"
	"github.com/firstseen/firstseen/bench/texts"
)

// TestRules checks that a copy is removed with the earliest as witness, and another text never. An
// edited copy is removed if the method is made for it.
func TestRules(t *testing.T) {
	maker := texts.New(1)
	var sentences []string
	for range 4 {
		sentences = append(sentences, maker.Unique()...)
	}
	original := strings.Join(sentences, " ")
	edited := strings.Join(sentences[1:], " ") // one of dozens of sentences missing
	other := strings.Join(maker.Unique(), " ")
	for _, c := range []struct {
		rule   Rule
		edited bool
	}{
		{NewExact(), false},
		{NewSimHash(15), true},
		{NewMinHash(0.5, false), true},
		{NewMinHash(0.5, true), true},
	} {
		t.Run(c.rule.Name(), func(t *testing.T) {
			expect(t, c.rule, other, -1)
			expect(t, c.rule, original, -1)
			size := c.rule.Size()
			expect(t, c.rule, original, 1)
			want := -1
			if c.edited {
				want = 1
			}
			expect(t, c.rule, edited, want)
			if grew := c.rule.Size() > size; grew == c.edited {
				t.Errorf("size %d after %d", c.rule.Size(), size)
			}
		})
	}
}

// expect decides a text and compares its witness with want, -1 for none.
func expect(t *testing.T, rule Rule, text string, want int) {
	t.Helper()
	witness, removed, err := rule.Decide(Doc{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	if !removed {
		witness = -1
	}
	if witness != want {
		t.Errorf("witness %d, want %d", witness, want)
	}
}

// TestBands checks the choices of datasketch for 128 permutations.
func TestBands(t *testing.T) {
	for threshold, want := range map[float64][2]int{0.5: {25, 5}, 0.7: {14, 9}, 0.8: {9, 13}} {
		if bands, rows := bandsFor(threshold); bands != want[0] || rows != want[1] {
			t.Errorf("for %v: %d bands of %d, want %v", threshold, bands, rows, want)
		}
	}
}

// TestSignatureEstimatesJaccard checks that the share of equal minima is that of common shingles.
func TestSignatureEstimatesJaccard(t *testing.T) {
	m := NewMinHash(0.5, false)
	sum := 0.0
	const trials = 20
	for trial := range uint64(trials) {
		var a, b []uint64
		for i := range uint64(900) {
			h := mix(trial<<32 | i)
			if i < 600 {
				a = append(a, h)
			}
			if i >= 300 {
				b = append(b, h)
			}
		}
		sum += float64(equal(m.signature(a), m.signature(b))) / permutations
	}
	if got := sum / trials; math.Abs(got-1./3) > 0.03 {
		t.Errorf("%.3f of the minima are equal, want 0.333", got)
	}
}

// TestBlocksCoverFingerprint checks that every bit is in one block.
func TestBlocksCoverFingerprint(t *testing.T) {
	for distance := range 16 {
		s := NewSimHash(distance)
		var all uint64
		for i := range s.blocks {
			block := s.block(^uint64(0), i)
			if all&block != 0 {
				t.Errorf("distance %d: block %d overlaps", distance, i)
			}
			all |= block
		}
		if all != ^uint64(0) {
			t.Errorf("distance %d: blocks cover %x", distance, all)
		}
	}
}

func TestRemovals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "peer.tsv")
	if err := os.WriteFile(path, []byte("b\ta\nd\tz\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := ReadRemovals(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id      string
		removed bool
		fails   bool
	}{{"a", false, false}, {"b", true, false}, {"c", false, false}, {"d", false, true}} {
		witness, removed, err := r.Decide(eval.Doc{ID: c.id})
		if witness != 0 || removed != c.removed || (err != nil) != c.fails {
			t.Errorf("%s: %d, %v, %v", c.id, witness, removed, err)
		}
	}
}
