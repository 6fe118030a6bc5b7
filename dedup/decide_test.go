package dedup_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/dedup/oracle"
	"github.com/firstseen/firstseen/feature"
)

// randomSet draws a document over few segments, so that documents share them.
// Widths follow from the key, as they do for real segments.
func randomSet(rng *rand.Rand, segments, most int) *feature.Set {
	set := &feature.Set{Whole: rng.Uint64()}
	chosen := map[uint64]bool{}
	for range 1 + rng.IntN(most) {
		chosen[1+uint64(rng.IntN(segments))] = true
	}
	for id := range chosen {
		key := id * 0x9e3779b97f4a7c15
		set.Features = append(set.Features, feature.Feature{Key: key, Order: key, Width: 16 + uint32(id%40), Units: 1 + uint32(id%17)})
	}
	slices.SortFunc(set.Features, func(a, b feature.Feature) int {
		return cmp.Or(cmp.Compare(b.Width, a.Width), cmp.Compare(a.Key, b.Key))
	})
	if len(set.Features) > most/2 {
		set.Features = set.Features[:most/2]
		set.Truncated = true
	}
	for _, f := range set.Features {
		set.Units += uint64(f.Units)
	}
	set.Units += uint64(rng.IntN(30))
	return set
}

// TestVerdictsEqualOracle holds the deduper against the oracle on every field,
// with a filter so small that it lies all the time, with a good one, and with
// none.
func TestVerdictsEqualOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rules := dedup.Rules{
			Threshold:     rapid.SampledFrom([]float64{0.1, 0.3, 0.5, 0.8, 1}).Draw(t, "threshold"),
			Score:         rapid.SampledFrom([]dedup.Score{dedup.ScoreText, dedup.ScoreSegments}).Draw(t, "score"),
			RemoveMosaics: rapid.Bool().Draw(t, "remove mosaics"),
		}
		cfg := dedup.Config{Rules: rules, Table: &dedup.Memory{}}
		if keys := rapid.SampledFrom([]uint64{0, 10, 100_000}).Draw(t, "filter keys"); keys > 0 {
			f, err := bloomstore.New(bloomstore.ForItems(keys), "test")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			cfg.Filter = f
		}
		d, err := dedup.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		o := oracle.New(rules)
		segments, most := 10+rng.IntN(400), 2+rng.IntN(60)
		var earlier []*feature.Set
		for i := range 150 {
			set := randomSet(rng, segments, most)
			if i > 0 && rng.IntN(8) == 0 {
				set = earlier[rng.IntN(i)]
			}
			earlier = append(earlier, set)
			id := fmt.Sprint("doc", rng.IntN(120))
			want := o.Decide(id, set)
			got, err := d.Decide(id, set)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("document %d (-oracle +deduper):\n%s", i, diff)
			}
		}
	})
}
