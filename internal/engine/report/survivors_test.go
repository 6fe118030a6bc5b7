package report_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/testing/effort"
)

// judged draws a finished run. Removed documents name an earlier kept one, or none.
func judged(t *rapid.T) (docs []judgedDoc) {
	var kept []int
	for i := range rapid.IntRange(1, 40).Draw(t, "documents") {
		d := judgedDoc{Kept: true, Of: -1, Group: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "group"), Rank: rapid.SampledFrom([]int64{0, 1, report.LastRank}).Draw(t, "rank")}
		if len(kept) > 0 && rapid.IntRange(0, 2).Draw(t, "removed") > 0 {
			d.Kept = false
			if rapid.IntRange(0, 9).Draw(t, "mosaic") > 0 {
				d.Of = kept[rapid.IntRange(0, len(kept)-1).Draw(t, "of")]
			}
		} else {
			kept = append(kept, i)
		}
		docs = append(docs, d)
	}
	return docs
}

// number returns the component of a document.
func number(docs []judgedDoc, i int) (uint32, bool) {
	if docs[i].Kept {
		return uint32(i), true
	}
	return uint32(docs[i].Of), docs[i].Of >= 0
}

// TestOracle checks that documents have the oracle's fates, with one survivor of all or per group.
func TestOracle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		docs, within := judged(rt), rapid.Bool().Draw(rt, "within")
		groupOf := func(i int) string {
			if within {
				return docs[i].Group
			}
			return ""
		}
		plan := report.NewSurvivors()
		for i := range docs {
			if n, ok := number(docs, i); ok {
				plan.Offer(n, report.Member{Group: groupOf(i), Rank: docs[i].Rank, Survivor: report.Survivor{ID: fmt.Sprint(i)}})
			}
		}
		for i, want := range survivors(docs, within) {
			n, ok := number(docs, i)
			if !ok {
				if want.Kept || want.Survivor != -1 {
					rt.Fatalf("document %d has no component, and the rules say %+v", i, want)
				}
				continue
			}
			kept, got := plan.Ask(n)
			if kept != want.Kept || got.OfBatch != want.OfGroup || got.Copies != want.Count || (got.Instead == nil) != (want.Kept || want.Survivor == int(n)) {
				rt.Fatalf("document %d: %+v, and the rules say %+v", i, got, want)
			}
			if got.Instead != nil && got.Instead.ID != fmt.Sprint(want.Survivor) {
				rt.Fatalf("document %d: %s stands for it, and by the rules %d", i, got.Instead.ID, want.Survivor)
			}
		}
	})
}

// TestUnasked checks that a document never offered is kept.
func TestUnasked(t *testing.T) {
	if kept, f := report.NewSurvivors().Ask(7); !kept || f.Instead != nil {
		t.Errorf("a document without a component: %+v", f)
	}
}

// TestManyGroups checks that the work grows linearly with the groups of a component.
func TestManyGroups(t *testing.T) {
	effort.Linear(t, "groups", 1<<12, func(n int) func() {
		return func() {
			plan := report.NewSurvivors()
			for i := range n {
				plan.Offer(0, report.Member{Group: fmt.Sprint(i)})
			}
		}
	})
}
