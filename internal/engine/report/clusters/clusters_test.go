package clusters

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// instead is the fate of a document whose later copy is preferred.
var instead = report.Fate{Instead: new(report.Survivor)}

// drawReport draws the documents of a run and returns those that are not unique. Ids may repeat.
func drawReport(rt *rapid.T) (report []lines.Line) {
	ids := rapid.SampledFrom([]int{3, 10, 1000}).Draw(rt, "ids")
	type doc struct {
		id   string
		kept bool
	}
	earlier := []doc{{"before", true}} // of an earlier run
	for range rapid.IntRange(0, 40).Draw(rt, "documents") {
		d := doc{fmt.Sprint("d", rapid.IntRange(0, ids).Draw(rt, "id")), true}
		kept := slices.DeleteFunc(slices.Clone(earlier), func(d doc) bool { return !d.kept })
		of := rapid.SampledFrom(kept).Draw(rt, "of").id
		l := lines.Line{ID: d.id, Of: &of, Verdict: rapid.SampledFrom([]string{"unique", "duplicate", "duplicate", "related", "mosaic"}).Draw(rt, "verdict")}
		l.Kept = l.Verdict == "unique" || l.Verdict == "related" || rapid.Bool().Draw(rt, "kept") // duplicates, too, with --remove-within
		if l.Verdict == "mosaic" || l.Verdict == "unique" {
			l.Of = nil
		}
		if l.Kept && rapid.Bool().Draw(rt, "preferred") { // a later copy
			l.Kept, l.Fate = false, instead
		}
		if d.kept = l.Kept || l.Instead != nil; l.Verdict != "unique" || l.Instead != nil {
			report = append(report, l)
		}
		earlier = append(earlier, d)
	}
	return report
}

// oracle returns the rows by the rule: ids are joined until nothing changes.
func oracle(report []lines.Line, links Links) (rows []Row) {
	linked := func(l *lines.Line) bool { return l.Of != nil && (links == All || l.Verdict == "duplicate") }
	cluster, order := map[string]string{}, map[string]int{}
	named, lined := map[string]bool{}, map[string]bool{}
	met := func(id string) {
		if _, known := order[id]; !known {
			order[id], cluster[id] = len(order), id
		}
	}
	for i := range report {
		if l := &report[i]; linked(l) {
			met(*l.Of)
			named[*l.Of] = true
		}
		met(report[i].ID)
		l := &report[i]
		sourced := l.Verdict != "duplicate" && (l.Kept || l.Instead != nil)
		lined[l.ID] = lined[l.ID] || sourced && !named[l.ID] && (l.Of == nil || *l.Of != l.ID)
	}
	for changed := true; changed; {
		changed = false
		for i := range report {
			l := &report[i]
			if !linked(l) || cluster[l.ID] == cluster[*l.Of] {
				continue
			}
			a, b := cluster[l.ID], cluster[*l.Of]
			if order[a] > order[b] {
				a, b = b, a
			}
			for id := range cluster {
				if cluster[id] == b {
					cluster[id], changed = a, true
				}
			}
		}
	}
	first := map[string]bool{}
	for i := range report {
		l := &report[i]
		if linked(l) && !lined[*l.Of] && !first[*l.Of] {
			first[*l.Of] = true
			rows = append(rows, Row{ID: *l.Of, Cluster: cluster[*l.Of], Verdict: "unique"})
		}
		rows = append(rows, Row{ID: l.ID, Cluster: cluster[l.ID], Verdict: l.Verdict})
	}
	sizes := map[string]int{}
	for _, r := range rows {
		sizes[r.Cluster]++
	}
	for i := range rows {
		rows[i].Size = sizes[rows[i].Cluster]
	}
	return slices.DeleteFunc(rows, func(r Row) bool { return r.Size < 2 })
}

func rowsOf(t interface{ Fatal(...any) }, report []lines.Line, links Links) (rows []Row) {
	err := Write(func(yield func(*lines.Line, error) bool) {
		for i := range report {
			if !yield(&report[i], nil) {
				return
			}
		}
	}, links, func(r *Row) error {
		rows = append(rows, *r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestClustersEqualOracle checks that the rows are the connected components, even with shared ids.
func TestClustersEqualOracle(t *testing.T) {
	sizes := map[int]bool{}
	rapid.Check(t, func(rt *rapid.T) {
		report := drawReport(rt)
		for _, links := range []Links{All, Duplicates} {
			got := rowsOf(rt, report, links)
			if diff := cmp.Diff(oracle(report, links), got, cmpopts.EquateEmpty()); diff != "" {
				rt.Fatalf("links %d (-oracle +rows):\n%s", links, diff)
			}
			for _, r := range got {
				sizes[r.Size] = true
			}
		}
	})
	if len(sizes) < 5 {
		t.Errorf("clusters of sizes %v only were drawn", sizes)
	}
}

// TestCopiesOfTheirID checks that a copy with the id of its source, which --remove-within keeps,
// and the source are a cluster.
func TestCopiesOfTheirID(t *testing.T) {
	of := "page"
	for _, kept := range []bool{true, false} {
		want := []Row{{"page", "page", 2, "unique"}, {"page", "page", 2, "duplicate"}}
		got := rowsOf(t, []lines.Line{{ID: of, Of: &of, Verdict: "duplicate", Kept: kept}}, All)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("kept %v: %s", kept, diff)
		}
	}
}

// TestSourceOfTheIDOfALaterLine checks that a later document with a line does not hide a source of
// its id without one.
func TestSourceOfTheIDOfALaterLine(t *testing.T) {
	of := "page"
	want := []Row{{of, of, 3, "unique"}, {"copy", of, 3, "duplicate"}, {of, of, 3, "mosaic"}}
	got := rowsOf(t, []lines.Line{{ID: "copy", Of: &of, Verdict: "duplicate"}, {ID: of, Verdict: "mosaic", Kept: true}}, All)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestTwoReadings checks that a report that changes between its two readings is refused.
func TestTwoReadings(t *testing.T) {
	reading, of := 0, "a"
	err := Write(func(yield func(*lines.Line, error) bool) {
		reading++
		yield(&lines.Line{ID: fmt.Sprint(reading), Of: &of, Verdict: "duplicate"}, nil)
	}, All, func(*Row) error { return nil })
	if err != ErrTwice {
		t.Errorf("%v", err)
	}
}

// TestMemory checks the promised memory per document of a report.
func TestMemory(t *testing.T) {
	const n = 400_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	w := &writer{forest: newForest()}
	for i := range n {
		of := fmt.Sprint("source ", i/4*4)
		w.learn(&lines.Line{ID: fmt.Sprint("document ", i), Of: &of, Verdict: "duplicate"})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	documents := len(w.forest.hash)
	each := float64(after.HeapAlloc-before.HeapAlloc) / float64(documents)
	t.Logf("%d documents, %.1f bytes each", documents, each)
	if each > 45 {
		t.Errorf("%.1f bytes a document", each)
	}
}

// TestSmallReports tries all reports of three lines with four ids: clusters join in every way.
func TestSmallReports(t *testing.T) {
	const ids = 4
	name := func(n int) string { return string(rune('a' + n%ids)) }
	for n := range ids * ids * ids * ids * ids * ids {
		report, rest := make([]lines.Line, 3), n
		for i := range report {
			of := name(rest / ids)
			report[i] = lines.Line{ID: name(rest), Of: &of, Verdict: "related", Kept: true}
			rest /= ids * ids
		}
		if diff := cmp.Diff(oracle(report, All), rowsOf(t, report, All), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("report %d (-oracle +rows):\n%s", n, diff)
		}
	}
}
