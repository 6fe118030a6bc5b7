package dedup_test

import (
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
)

// These tests need no oracle. They make changes whose effect on a verdict needs no computation.

// admit adds a document to a table as if it had been kept.
func admit(t *rapid.T, table dedup.Store, set *feature.Sketch) {
	m, err := feature.Scheme{}.New()
	if err != nil {
		t.Fatal(err)
	}
	j := m.NewJudge(method.Rules{Threshold: 0.5})
	j.Load(set)
	doc := dedup.Record{Sketch: j.Record(nil)}
	var keys []uint64
	for _, f := range set.Features {
		keys = append(keys, f.Key)
	}
	if _, err := table.Add([]string{"earlier"}, [][]byte{doc.Append(nil)}, [][]uint64{append(keys, set.Whole)}, nil, nil); err != nil {
		t.Fatal(err)
	}
}

// judge returns the result on a document after others.
func judge(t *rapid.T, rules dedup.Rules, earlier []*feature.Sketch, set *feature.Sketch) dedup.Result {
	table := &dedup.Memory{}
	for _, e := range earlier {
		admit(t, table, e)
	}
	d, err := dedup.New(dedup.Config{Rules: rules, Table: table})
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Check("judged", set)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A scene is a history and documents to judge after it.
type scene struct {
	*world
	rules   dedup.Rules
	history []*feature.Sketch
	judged  []*feature.Sketch
}

// drawScene draws a scene of segments, or one of texts.
func drawScene(t *rapid.T, texts bool) *scene {
	seed := rapid.Uint64().Draw(t, "seed")
	w := newWorld(seed)
	s := &scene{world: w, rules: dedup.Rules{Threshold: drawThreshold(w.rng), RemoveMosaics: true}}
	from := drawer(w)
	if texts {
		from = newTextWorld(seed, nil)
	}
	for range 1 + w.rng.IntN(25) {
		s.history = append(s.history, from.document())
	}
	for range 6 {
		s.judged = append(s.judged, from.document())
	}
	return s
}

// checkUntil checks a property until the draws have shown enough. With -short a check has 20 draws,
// which may all miss rare cases.
func checkUntil(t *testing.T, enough func() bool, property func(t *rapid.T)) {
	for range 25 {
		rapid.Check(t, property)
		if t.Failed() || enough() {
			return
		}
	}
}

// all returns a function that reports whether each wanted event was counted.
func all(events map[string]int, wanted []string) func() bool {
	return func() bool {
		return !slices.ContainsFunc(wanted, func(e string) bool { return events[e] == 0 })
	}
}

// checkScenes calls f for many documents, and requires that some had the verdict about. Only texts
// can be Related.
func checkScenes(t *testing.T, about dedup.Verdict, f func(t *rapid.T, s *scene, set *feature.Sketch, before dedup.Result)) {
	met := 0
	checkUntil(t, func() bool { return met >= 3 }, func(rt *rapid.T) {
		s := drawScene(rt, about == dedup.Related)
		for _, set := range s.judged {
			before := judge(rt, s.rules, s.history, set)
			if before.Verdict == about {
				met++
			}
			f(rt, s, set, before)
		}
	})
	if met < 3 {
		t.Errorf("only %d documents were %v: the scenes drawn show too little", met, about)
	}
}

func TestKeptIsWhatTheVerdictSays(t *testing.T) {
	checkScenes(t, dedup.Related, func(t *rapid.T, s *scene, set *feature.Sketch, before dedup.Result) {
		if before.Kept != (before.Verdict == dedup.Unique || before.Verdict == dedup.Related) {
			t.Fatalf("where mosaics are removed: %+v", before)
		}
		keeping := s.rules
		keeping.RemoveMosaics = false
		after := judge(t, keeping, s.history, set)
		if after.Kept != (after.Verdict != dedup.Duplicate) {
			t.Fatalf("where mosaics are kept: %+v", after)
		}
		after.Kept = before.Kept
		if diff := gocmp.Diff(before, after, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("more than kept depends on it:\n%s", diff)
		}
	})
}

// TestUnrelatedDocumentChangesNothing adds a document that shares nothing.
func TestUnrelatedDocumentChangesNothing(t *testing.T) {
	checkScenes(t, dedup.Mosaic, func(t *rapid.T, s *scene, set *feature.Sketch, before dedup.Result) {
		other := s.set([]int{5001, 5002, 5003, 5004, 5005, 5006})
		after := judge(t, s.rules, append(s.history, other), set)
		if diff := gocmp.Diff(before, after, cmpopts.EquateEmpty()); diff != "" && !sharesKey(other, set) {
			t.Fatalf("(-before +after):\n%s", diff)
		}
	})
}

func sharesKey(a, b *feature.Sketch) bool {
	return slices.ContainsFunc(keysOf(a), func(k uint64) bool { return slices.Contains(keysOf(b), k) })
}

func keysOf(set *feature.Sketch) []uint64 {
	keys := []uint64{set.Whole}
	for _, f := range set.Features {
		keys = append(keys, f.Key)
	}
	return keys
}

// TestThirdDocumentSharingOneSegment adds a document. It must not undo what another alone decides.
func TestThirdDocumentSharingOneSegment(t *testing.T) {
	checkScenes(t, dedup.Related, func(t *rapid.T, s *scene, set *feature.Sketch, before dedup.Result) {
		if len(set.Features) == 0 {
			return
		}
		shared := set.Features[s.rng.IntN(len(set.Features))]
		if s.holders(shared.Key) >= dedup.MaxHolders-1 {
			return // it would become common
		}
		third := &feature.Sketch{Whole: 77, Features: []feature.Feature{shared, s.segment(7001), s.segment(7002)}, Units: 99}
		choose(third, len(third.Features))
		after := judge(t, s.rules, append(s.history, third), set)
		byThird := after.Of.Num == uint32(len(s.history)+1)
		switch {
		case before.Verdict == dedup.Related && after.Verdict == dedup.Mosaic,
			before.Verdict == dedup.Related && !after.Kept && !byThird,
			before.Verdict == dedup.Duplicate && after.Verdict != dedup.Duplicate,
			after.Verdict == dedup.Duplicate && before.Verdict != dedup.Duplicate && !byThird,
			before.Verdict == dedup.Mosaic && after.Verdict == dedup.Unique,
			after.Seen < before.Seen:
			t.Fatalf("before %+v\nafter %+v", before, after)
		}
	})
}

func (s *scene) holders(key uint64) (n int) {
	for _, e := range s.history {
		if slices.Contains(keysOf(e), key) {
			n++
		}
	}
	return n
}

func noMoreOfACopy(t *rapid.T, before, after dedup.Result) {
	switch {
	case after.Verdict == dedup.Duplicate && before.Verdict != dedup.Duplicate,
		after.Verdict == dedup.Mosaic && before.Verdict == dedup.Unique:
		t.Fatalf("before %+v\nafter %+v", before, after)
	}
}

// TestLessEvidenceIsNoMoreCopy replaces a segment by a new one, which must make no copy.
func TestLessEvidenceIsNoMoreCopy(t *testing.T) {
	checkScenes(t, dedup.Mosaic, func(t *rapid.T, s *scene, set *feature.Sketch, before dedup.Result) {
		if before.Exact || len(set.Features) == 0 {
			return
		}
		less := *set
		less.Features = slices.Clone(set.Features)
		less.Features[s.rng.IntN(len(set.Features))].Key++ // keeps its place in the order
		after := judge(t, s.rules, s.history, &less)
		noMoreOfACopy(t, before, after)
	})
}

// TestShortTextOfItsOwn adds new text too short for a segment, which must make no copy.
func TestShortTextOfItsOwn(t *testing.T) {
	checkScenes(t, dedup.Duplicate, func(t *rapid.T, s *scene, set *feature.Sketch, before dedup.Result) {
		longer := *set
		longer.Units += uint64(1 + s.rng.IntN(20))
		longer.Whole++
		after := judge(t, s.rules, s.history, &longer)
		noMoreOfACopy(t, before, after)
	})
}

// TestHigherThresholdFindsNoMore raises the threshold.
func TestHigherThresholdFindsNoMore(t *testing.T) {
	checkScenes(t, dedup.Related, func(t *rapid.T, s *scene, set *feature.Sketch, before dedup.Result) {
		higher := s.rules
		higher.Threshold = min(1, s.rules.Threshold+s.rng.Float64()/2)
		after := judge(t, higher, s.history, set)
		switch {
		case after.Verdict == dedup.Duplicate && before.Verdict != dedup.Duplicate,
			after.Verdict == dedup.Related && before.Verdict != dedup.Related && before.Verdict != dedup.Duplicate,
			after.Verdict != dedup.Unique && before.Verdict == dedup.Unique:
			t.Fatalf("at %v %+v\nat %v %+v", s.rules.Threshold, before, higher.Threshold, after)
		}
	})
}

// TestOrderOfEarlierDocuments reverses the history. Only equally good witnesses may change.
func TestOrderOfEarlierDocuments(t *testing.T) {
	checkScenes(t, dedup.Mosaic, func(t *rapid.T, s *scene, set *feature.Sketch, before dedup.Result) {
		if before.Exact || s.holders(set.Whole) > 0 {
			return // only the first copies of a text are known
		}
		after := judge(t, s.rules, reversed(s.history), set)
		if after.Verdict != before.Verdict || after.Score != before.Score || after.Seen != before.Seen {
			t.Fatalf("before %+v\nafter %+v", before, after)
		}
	})
}

func reversed(sets []*feature.Sketch) []*feature.Sketch {
	sets = slices.Clone(sets)
	slices.Reverse(sets)
	return sets
}

// TestCheckRemembersNothing checks that Check stores nothing, and that Decide agrees with it.
func TestCheckRemembersNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawScene(rt, rapid.Bool().Draw(rt, "texts"))
		d, err := dedup.New(dedup.Config{Rules: s.rules, Table: &dedup.Memory{}, Filter: newFilter(rt, 100)})
		if err != nil {
			rt.Fatal(err)
		}
		decide := func(id string, set *feature.Sketch) (dedup.Result, error) {
			return d.Decide(dedup.Document{ID: id, Sketch: set})
		}
		for i, set := range append(s.history, s.judged...) {
			var got [3]string
			for j, f := range []func(string, *feature.Sketch) (dedup.Result, error){d.Check, d.Check, decide} {
				r, err := f("id", set)
				if err != nil {
					rt.Fatal(err)
				}
				got[j] = fmt.Sprintf("%+v", r)
			}
			if got[0] != got[1] || got[0] != got[2] {
				rt.Fatalf("document %d: %s", i, got)
			}
		}
	})
}
