package dedup_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/testing/oracle"
)

// newFilter returns a filter for this many keys, or nil for 0.
func newFilter(t interface {
	Fatal(...any)
	Cleanup(func())
}, keys uint64,
) *bloomstore.Filter {
	if keys == 0 {
		return nil
	}
	f, err := bloomstore.New(bloomstore.ForItems(keys), "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// filterSizes make the filters that must not affect a decision: none, one that always errs, one
// that often does, a good one.
var filterSizes = []uint64{0, 1, 40, 100_000}

// newTable returns a table in memory, or one in a file of that name.
func newTable(t *testing.T, name string) dedup.Store {
	t.Helper()
	if name == "" {
		return &dedup.Memory{}
	}
	table, err := docmap.Open(filepath.Join(t.TempDir(), name), docmap.Options{Scheme: "test", MemtableKeys: 200})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { table.Close() })
	return table
}

// event names an aspect of a decision beside its verdict.
func event(r *dedup.Result) string {
	switch {
	case r.Exact:
		return "exact"
	case r.Verdict == dedup.Related && r.Differ != "":
		return "related by words: " + r.Differ
	case r.Verdict == dedup.Related && len(r.Also) > 0:
		return "related beside others"
	case r.Verdict == dedup.Mosaic && !r.Kept:
		return "mosaic removed"
	}
	return r.Verdict.String()
}

var allEvents = []string{
	"unique", "exact", "duplicate", "mosaic", "mosaic removed", "related beside others",
	"related by words: numbers", "related by words: negation", "related by words: word", "related by words: length",
}

// TestVerdictsEqualOracle compares every field, with any filter, and requires every kind of
// verdict.
func TestVerdictsEqualOracle(t *testing.T) {
	events := map[string]int{}
	wanted := slices.Concat(allEvents, allWays)
	checkUntil(t, all(events, wanted), func(rt *rapid.T) {
		rules := dedup.Rules{
			Score:         rapid.SampledFrom([]dedup.Score{dedup.ScoreText, dedup.ScoreText, dedup.ScoreSegments}).Draw(rt, "score"),
			RemoveMosaics: rapid.Bool().Draw(rt, "remove mosaics"),
		}
		w, scheme := drawWorld(rt, &rules)
		cfg := dedup.Config{Scheme: scheme, Rules: rules, Table: &dedup.Memory{}}
		cfg.Filter = newFilter(rt, rapid.SampledFrom(filterSizes).Draw(rt, "filter keys"))
		d, err := dedup.New(cfg)
		if err != nil {
			rt.Fatal(err)
		}
		o := oracle.New(rules)
		watched := &watch{threshold: rules.Threshold, holders: map[uint64]int{}}
		for i := range 120 {
			set := w.document()
			id := fmt.Sprint("doc", i*i%40)
			want := o.Decide(id, set)
			got, err := d.Decide(dedup.Document{ID: id, Sketch: set})
			if err != nil {
				rt.Fatal(err)
			}
			if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				rt.Fatalf("document %d (-oracle +deduper):\n%s", i, diff)
			}
			events[event(&got)]++
			for _, way := range watched.see(set, &got) {
				events[way]++
			}
		}
	})
	t.Log(events)
	for _, e := range wanted {
		if events[e] == 0 {
			t.Errorf("no decision was %q: the documents drawn show too little", e)
		}
	}
}

// drawWorld draws a world of either kind and a threshold for it.
func drawWorld(t *rapid.T, rules *dedup.Rules) (drawer, feature.Scheme) {
	seed := rapid.Uint64().Draw(t, "seed")
	if rapid.Bool().Draw(t, "texts") {
		w := newTextWorld(seed, rapid.SampledFrom(secrets).Draw(t, "secret"))
		if rules.Threshold = 0.65; w.rng.IntN(2) == 0 {
			rules.Threshold = drawThreshold(w.rng)
		}
		return w, w.scheme
	}
	w := newWorld(seed)
	rules.Threshold = drawThreshold(w.rng)
	return w, feature.Scheme{}
}

// TestFileTableGivesSameVerdicts uses a table in a file, over checkpoints, runs and merges.
func TestFileTableGivesSameVerdicts(t *testing.T) {
	for seed := range 6 {
		table := newTable(t, fmt.Sprint("table", seed, ".db")).(*docmap.Table)
		rules := dedup.Rules{Threshold: 0.3 + 0.1*float64(seed)}
		d, err := dedup.New(dedup.Config{Rules: rules, Table: table, Filter: newFilter(t, filterSizes[seed%len(filterSizes)])})
		if err != nil {
			t.Fatal(err)
		}
		o := oracle.New(rules)
		w := newWorld(uint64(seed))
		for i := range 120 {
			set := w.document()
			want := o.Decide("id", set)
			got, err := d.Decide(dedup.Document{ID: "id", Sketch: set})
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d, document %d (-oracle +deduper):\n%s", seed, i, diff)
			}
			if table.Full() {
				if err := table.Checkpoint(nil); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
