package main

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/bench/gen"
)

// TestTakenForCopy compares the manual's rates with those of the sketches.
func TestTakenForCopy(t *testing.T) {
	manual, err := os.ReadFile("../docs/manual.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		share, once float64
		text        string
	}{
		{0.4, 9.1e6, "| 40% | once in 9,100,000 |"},
		{0.45, 85_000, "| 45% | once in 85,000 |"},
		{0.5, 1800, "| 50% | once in 1,800 |"},
	} {
		if !strings.Contains(string(manual), row.text) {
			t.Errorf("the manual does not say %q", row.text)
		}
		if once := 1 / takenForCopy(row.share/(2-row.share)); math.Abs(once/row.once-1) > 0.02 {
			t.Errorf("%.0f%% in common: once in %.0f, and the manual says %.0f", 100*row.share, once, row.once)
		}
	}
}

// TestQuotationsTaken accepts one quotation of twenty thousand called a copy, and refuses ten.
func TestQuotationsTaken(t *testing.T) {
	for n, want := range map[int64]bool{0: true, 1: true, 4: true, 10: false} {
		r := newMillionReport(millionConfig{})
		r.Verdicts.Chance = 0.7 / 20_000
		r.Verdicts.Kinds[gen.Near30] = kindCount{Documents: 20_000, Right: n, Related: 20_000 - n}
		r.Verdicts.evaluate(r)
		if got := r.failed() == nil; got != want {
			t.Errorf("%d of 20,000: %v", n, r.failed())
		}
	}
	if k := atMost(20_000, 0); k != 0 {
		t.Errorf("%d come that never do", k)
	}
}

// TestNewPassages accepts the manual's rate of near copies with a fifth of new text that are
// related. It refuses a higher rate, and near copies that are unique.
func TestNewPassages(t *testing.T) {
	manual, err := os.ReadFile("../docs/manual.md")
	if err != nil {
		t.Fatal(err)
	}
	if said := fmt.Sprintf("once in %.0f,000 it is `related` and kept", 1e-3/newPassage); !strings.Contains(string(manual), said) {
		t.Errorf("the manual does not say %q", said)
	}
	for _, c := range []struct {
		related, unique int64
		want            bool
	}{{0, 0, true}, {3, 0, true}, {12, 0, true}, {13, 0, false}, {0, 1, false}} {
		r := newMillionReport(millionConfig{})
		r.Verdicts.Kinds[gen.Near80] = kindCount{Documents: 125_296, Right: 125_296 - c.related - c.unique, Related: c.related, Unique: c.unique}
		r.Verdicts.evaluate(r)
		if got := r.failed() == nil; got != c.want {
			t.Errorf("%d related and %d unique: %v", c.related, c.unique, r.failed())
		}
	}
}
