package main

import (
	"encoding/json"
	"math"

	"github.com/firstseen/firstseen/bench/gen"
	"github.com/firstseen/firstseen/feature/canon"
	runs "github.com/firstseen/firstseen/feature/letters"
)

// tail returns the probability of k or more of n events of probability p.
func tail(n, k int, p float64) (sum float64) {
	if p <= 0 || p >= 1 {
		return min(1, max(p, 0))
	}
	all, _ := math.Lgamma(float64(n + 1))
	for i := k; i <= n; i++ {
		come, _ := math.Lgamma(float64(i + 1))
		stay, _ := math.Lgamma(float64(n - i + 1))
		term := math.Exp(all - come - stay + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
		if sum += term; term < sum*1e-12 {
			break
		}
	}
	return min(sum, 1)
}

// atMost returns the number of n events of probability p that one run in ten thousand exceeds.
func atMost(n int, p float64) (k int) {
	for tail(n, k+1, p) > 1e-4 {
		k++
	}
	return k
}

// takenForCopy returns the probability that sketches call two texts of one length copies, given
// their Jaccard similarity. Each of 128 bins has equal numbers with that probability, or by chance
// once in 15. The minimum of equal ones at the default threshold follows from rule 8 of docs/design.md.
func takenForCopy(jaccard float64) float64 {
	const (
		bins, values = 128, 15
		threshold    = 0.65
	)
	least := threshold / (2 - threshold)
	equal := (least*(values-1)*bins + bins) / values
	return tail(bins, int(math.Ceil(equal)), jaccard+(1-jaccard)/values)
}

// quotationsTaken returns the mean rate at which sketches may call a quotation of the run a copy.
// With menus, and clauses of several lengths, some share much more than 30% of their runs of letters.
func (w *watcher) quotationsTaken() (float64, error) {
	const looked = 200_000 // documents, including some quotations
	var sum, n float64
	for i := uint64(0); i < w.cfg.gen.Docs; i += w.cfg.gen.Docs/looked + 1 {
		t := w.gen.Truth(i)
		if t.Kind != gen.Near30 {
			continue
		}
		text, err := w.textOf(i)
		if err != nil {
			return 0, err
		}
		source, err := w.textOf(t.Sources[0])
		if err != nil {
			return 0, err
		}
		sum, n = sum+takenForCopy(jaccard(runsOf(text), runsOf(source))), n+1
	}
	return sum / max(n, 1), nil
}

// runsOf returns the distinct runs of letters of a text.
func runsOf(text string) map[string]bool {
	s := canon.NewScanner()
	s.CountUnits()
	s.Reset([]byte(text))
	var all []byte
	for step := canon.Part; step != canon.End; {
		if step = s.Next(); step != canon.Piece {
			all = s.AppendLetters(all)
			s.ForgetSegments()
		}
	}
	found := map[string]bool{}
	for i := runs.Run; i <= len(all); i++ {
		found[string(all[i-runs.Run:i])] = true
	}
	return found
}

func jaccard(a, b map[string]bool) float64 {
	both := 0
	for run := range a {
		if b[run] {
			both++
		}
	}
	return float64(both) / float64(max(1, len(a)+len(b)-both))
}

func (w *watcher) textOf(n uint64) (string, error) {
	var doc struct{ Text string }
	err := json.Unmarshal(w.gen.AppendLine(nil, n), &doc)
	return doc.Text, err
}
