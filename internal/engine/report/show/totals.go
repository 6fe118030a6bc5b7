package show

import (
	"cmp"
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
