package main

import (
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
		{0.3, 290e6, "| 30% | once in 290,000,000 |"},
		{0.4, 23_000, "| 40% | once in 23,000 |"},
		{0.45, 690, "| 45% | once in 690 |"},
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
