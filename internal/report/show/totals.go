package show

import "github.com/firstseen/firstseen/internal/report/lines"

// Total counts the documents of a verdict. Bytes are those of their texts; they are known after
// ReadTexts.
type Total struct {
	Verdict      string `json:"verdict"`
	Documents    int64  `json:"documents"`
	Kept         int64  `json:"kept"`
	Removed      int64  `json:"removed"`
	Bytes        int64  `json:"bytes,omitempty"`
	RemovedBytes int64  `json:"removed_bytes,omitempty"`
}

// verdictNames are the verdicts in the order of totals. Duplicates are counted in two lines.
var verdictNames = []string{"unique", "exact duplicate", "duplicate", "related", "mosaic"}

func verdictOf(l *lines.Line) string {
	switch {
	case l == nil:
		return "unique"
	case l.Exact && l.Verdict == "duplicate":
		return "exact duplicate"
	}
	return l.Verdict
}

func (t *Total) count(kept bool, bytes int64) {
	t.Documents++
	t.Bytes += bytes
	if kept {
		t.Kept++
	} else {
		t.Removed++
		t.RemovedBytes += bytes
	}
}

func (c *Collector) total(l *lines.Line) *Total {
	if c.totals == nil {
		c.totals = map[string]*Total{}
	}
	verdict := verdictOf(l)
	if c.totals[verdict] == nil {
		c.totals[verdict] = &Total{Verdict: verdict}
	}
	return c.totals[verdict]
}

// allTotals returns the totals of the verdicts met.
func (c *Collector) allTotals() []Total {
	totals := []Total{}
	for _, verdict := range verdictNames {
		if t := c.totals[verdict]; t != nil {
			totals = append(totals, *t)
		}
	}
	return totals
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
