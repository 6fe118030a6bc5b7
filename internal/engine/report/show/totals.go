package show

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/firstseen/firstseen/internal/engine/report/commonest"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// Total counts the documents of a verdict. Bytes counts their texts, and is known after ReadTexts.
type Total struct {
	Verdict      string `json:"verdict"`
	Documents    int64  `json:"documents"`
	Kept         int64  `json:"kept"`
	Removed      int64  `json:"removed"`
	Bytes        int64  `json:"bytes,omitempty"`
	RemovedBytes int64  `json:"removed_bytes,omitempty"`
}

// verdictNames lists the verdicts in the order of totals. Exact duplicates are counted separately.
var verdictNames = []string{"unique", "exact duplicate", "duplicate", "related", "mosaic", "consumed"}

func verdictOf(l *lines.Line) string {
	switch {
	case l == nil:
		return "unique"
	case l.Exact && l.Verdict == "duplicate":
		return "exact duplicate"
	}
	return l.Verdict
}

// totals holds the totals by verdict.
type totals map[string]Total

// count counts a document by its line, or nil.
func (all totals) count(l *lines.Line, bytes int64) {
	t := all[verdictOf(l)]
	t.Verdict = verdictOf(l)
	t.Documents++
	t.Bytes += bytes
	if l == nil || l.Kept {
		t.Kept++
	} else {
		t.Removed++
		t.RemovedBytes += bytes
	}
	all[t.Verdict] = t
}

// list returns the totals of the verdicts that occurred.
func (all totals) list() []Total {
	list := []Total{}
	for _, verdict := range verdictNames {
		if t, met := all[verdict]; met {
			list = append(list, t)
		}
	}
	return list
}

// Sum returns the total of all verdicts.
func (d *Digest) Sum() Total {
	sum := Total{Verdict: "all"}
	for _, t := range d.Totals {
		sum.Documents += t.Documents
		sum.Kept += t.Kept
		sum.Removed += t.Removed
		sum.Bytes += t.Bytes
		sum.RemovedBytes += t.RemovedBytes
	}
	return sum
}

// top counts values. The note of a counter numbers the value's first arrival, to order equals.
type top struct {
	commonest.Counters[string, int]
	next int
}

// maxCounters is the most values counted at once. Up to this number, counts are exact.
const maxCounters = 1 << 16

func (t *top) add(value string) {
	t.Most = maxCounters
	t.Add(value, t.next)
	t.next++
}

// Count counts the occurrences of a value.
type Count struct {
	Value string `json:"value"`
	Count int64  `json:"count"`
	// Over is the most by which Count is too high. It is 0 for up to 65,536 values.
	Over int64 `json:"over,omitempty"`
}

// most returns the n most frequent values, the earliest of equals first.
func (t *top) most(n int) []Count {
	all := slices.SortedFunc(slices.Values(t.All()), func(a, b *commonest.Counter[string, int]) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Note, b.Note))
	})
	found := []Count{}
	for _, c := range all[:min(n, len(all))] {
		found = append(found, Count{c.Key, int64(c.Count), int64(c.Over)})
	}
	return found
}

// steps lists the thresholds of a digest.
var steps = [...]float64{.5, .6, .7, .8, .9}

// perStep is the most pairs shown of a step.
const perStep = 3

// Step is a threshold that a run could have, and what it would remove.
type Step struct {
	Threshold float64 `json:"threshold"`
	Removed   int64   `json:"removed"` // duplicates that reach it
	// AtLeast is set if no pair of the report is below the threshold. The run may then have had a
	// higher one, and this one would remove more.
	AtLeast bool `json:"at_least,omitempty"`
	// Weakest are the pairs with the least scores from this threshold to the next.
	Weakest []Example `json:"weakest"`
}

func stepKind(i int) string { return fmt.Sprint("step ", i) }

// step counts a duplicate for the thresholds that its score reaches.
func (c *Collector) step(l *lines.Line) {
	score := scoreOf(l)
	for i, threshold := range steps {
		if score < threshold {
			return
		}
		c.reached[i]++
		if !l.Exact && (i == len(steps)-1 || score < steps[i+1]) {
			c.keep(stepKind(i), l, score, perStep)
		}
	}
}

// thresholds returns the steps, or nil if all copies are exact.
func (c *Collector) thresholds() (all []Step) {
	if c.d.lowest > 1 {
		return nil
	}
	for i, threshold := range steps {
		step := Step{Threshold: threshold, Removed: c.reached[i], AtLeast: threshold < c.d.lowest, Weakest: []Example{}}
		for _, r := range c.examples[stepKind(i)] {
			step.Weakest = append(step.Weakest, r.Example)
		}
		all = append(all, step)
	}
	return all
}

// scoreOf returns the share that decided: of the filter, if that alone decided.
func scoreOf(l *lines.Line) float64 {
	if l.Of == nil && l.Verdict == "duplicate" {
		return float64(l.Seen)
	}
	return float64(l.Score)
}
