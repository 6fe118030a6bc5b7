package dedup_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// wholeTextKeys returns the SplitMix64 hashes of the fingerprint and of the next three numbers.
func wholeTextKeys(whole uint64) (keys []uint64) {
	for i := range uint64(4) {
		z := whole + i + 0x9e3779b97f4a7c15
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		keys = append(keys, z^z>>31)
	}
	return keys
}

// chance returns the upper tail of the binomial distribution, by its definition.
func chance(n, hits int, rate float64) float64 {
	sum := 0.0
	for i := hits; i <= n; i++ {
		ways, _ := new(big.Float).SetInt(new(big.Int).Binomial(int64(n), int64(i))).Float64()
		sum += ways * math.Pow(rate, float64(i)) * math.Pow(1-rate, float64(n-i))
	}
	return sum
}

// byFilter decides as docs/design.md, "Without a table", and names the condition that held.
func byFilter(f *bloomstore.Filter, threshold float64, set *feature.Sketch) (r dedup.Result, why string) {
	n := len(set.Features)
	r = dedup.Result{Kept: true, Segments: n}
	seen := func(key uint64) bool {
		var b [1]bool
		f.Test([]uint64{key}, b[:])
		return b[0]
	}
	whole, chosen := set.Units, uint64(0)
	for _, feat := range set.Features {
		chosen += uint64(feat.Units)
		if seen(feat.Key) {
			r.Of.Shared++
			r.Of.Weight += uint64(feat.Units)
		}
	}
	if set.Truncated {
		whole = chosen
	}
	if whole > 0 {
		r.Seen = float64(r.Of.Weight) / float64(whole)
	}
	text := true
	for _, key := range wholeTextKeys(set.Whole) {
		text = text && seen(key)
	}
	r.Exact = text && math.Pow(f.Rate(), 4) < 1e-9
	share, unlikely := r.Seen >= threshold, chance(n, r.Of.Shared, f.Rate()) < 1e-9
	if r.Exact || share && unlikely {
		r.Verdict, r.Kept = dedup.Duplicate, false
	}
	switch {
	case r.Exact:
		return r, "exact"
	case share && unlikely:
		return r, "share"
	case text:
		return r, "a whole text that a full filter may have made up"
	case share:
		return r, "a share that chance may have produced"
	}
	return r, "unique"
}

// TestFilterOnlyEqualsRules compares decisions without a table with the rules, on every field. The
// filters range from empty to one that has seen nearly everything.
func TestFilterOnlyEqualsRules(t *testing.T) {
	reasons := map[string]int{}
	checkUntil(t, func() bool { return len(reasons) == 5 }, func(rt *rapid.T) {
		w := newWorld(rapid.Uint64().Draw(rt, "seed"))
		filter := newFilter(rt, rapid.SampledFrom([]uint64{1, 300, 1000, 3000, 100_000}).Draw(rt, "filter keys"))
		rules := dedup.Rules{Threshold: drawThreshold(w.rng)}
		d, err := dedup.New(dedup.Config{Filter: filter, Rules: rules})
		if err != nil {
			rt.Fatal(err)
		}
		for i := range 120 {
			set := w.document()
			want, why := byFilter(filter, rules.Threshold, set)
			reasons[why]++
			items := filter.Items()
			got, err := d.Decide(dedup.Document{ID: "id", Sketch: set})
			if err != nil {
				rt.Fatal(err)
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				rt.Fatalf("document %d, %s (-rules +deduper):\n%s", i, why, diff)
			}
			if want.Kept {
				items += uint64(len(set.Features)) + 4
			}
			if filter.Items() != items {
				rt.Fatalf("document %d: %d keys in the filter, want %d", i, filter.Items(), items)
			}
		}
	})
	t.Log(reasons)
	if len(reasons) != 5 {
		t.Errorf("the documents drawn show too little: %v", reasons)
	}
}

// TestFilterOnlyExactUntilFull checks that a copy of any length is exact until the rate of false
// positives produces one in a billion by chance.
func TestFilterOnlyExactUntilFull(t *testing.T) {
	filter := newFilter(t, 100_000)
	d, err := dedup.New(dedup.Config{Filter: filter})
	if err != nil {
		t.Fatal(err)
	}
	text := &feature.Sketch{Whole: 500}
	if r, err := d.Decide(dedup.Document{ID: "", Sketch: text}); err != nil || !r.Kept {
		t.Fatalf("%+v, %v", r, err)
	}
	fillTo(filter, 0.0055)
	if r, err := d.Decide(dedup.Document{ID: "", Sketch: text}); err != nil || !r.Exact || r.Kept || r.Verdict != dedup.Duplicate {
		t.Errorf("at a rate of %v: %+v, %v", filter.Rate(), r, err)
	}
	fillTo(filter, 0.0057)
	if r, err := d.Decide(dedup.Document{ID: "", Sketch: text}); err != nil || r.Exact || !r.Kept {
		t.Errorf("at a rate of %v: %+v, %v", filter.Rate(), r, err)
	}
}

// fillTo adds keys up to this rate of false positives.
func fillTo(f *bloomstore.Filter, rate float64) {
	rng := rand.New(rand.NewPCG(3, 4))
	for f.Rate() < rate {
		f.Add([]uint64{rng.Uint64()})
	}
}

// TestFilterOnlySegmentIsNoWholeText checks that the keys for a whole text are those of no segment.
func TestFilterOnlySegmentIsNoWholeText(t *testing.T) {
	d, err := dedup.New(dedup.Config{Filter: newFilter(t, 100_000)})
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []*feature.Sketch{segmentsOf(600, 500, 501, 502, 503), segmentsOf(500, 71, 72)} {
		r, err := d.Decide(dedup.Document{ID: "", Sketch: set})
		if err != nil || !r.Kept || r.Exact {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if r, err := d.Decide(dedup.Document{ID: "", Sketch: segmentsOf(500, 71, 72)}); err != nil || r.Kept || !r.Exact {
		t.Fatalf("the same text: %+v, %v", r, err)
	}
}

// TestFilterOnlyAsksForAllFourKeys checks neighbouring fingerprints, with three keys in common.
func TestFilterOnlyAsksForAllFourKeys(t *testing.T) {
	for _, near := range []uint64{499, 501} {
		d, err := dedup.New(dedup.Config{Filter: newFilter(t, 100_000)})
		if err != nil {
			t.Fatal(err)
		}
		for _, whole := range []uint64{500, near} {
			if r, err := d.Decide(dedup.Document{ID: "", Sketch: &feature.Sketch{Whole: whole}}); err != nil || !r.Kept || r.Exact {
				t.Errorf("%d: %+v, %v", whole, r, err)
			}
		}
	}
}
