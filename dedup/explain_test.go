package dedup_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
)

// TestWhySaysWhatCheckDecides compares Explain with Check, with four methods and both scores. Only
// a duplicate has a reason that calls an earlier document a copy.
func TestWhySaysWhatCheckDecides(t *testing.T) {
	schemes := []feature.Scheme{{}, {Method: "shingles"}, {Method: "simhash"}, {Method: "exact"}}
	rapid.Check(t, func(rt *rapid.T) {
		scheme := rapid.SampledFrom(schemes).Draw(rt, "scheme")
		rules := dedup.Rules{}
		if scheme.Method == "" {
			rules.Score = rapid.SampledFrom([]dedup.Score{dedup.ScoreText, dedup.ScoreSegments}).Draw(rt, "score")
		}
		cfg := dedup.Config{Scheme: scheme, Rules: rules, Table: &dedup.Memory{}, Now: fixedNow}
		if rapid.Bool().Draw(rt, "filter") {
			cfg.Filter = newFilter(rt, 5000)
		}
		d, err := dedup.New(cfg)
		if err != nil {
			rt.Fatal(err)
		}
		extractor, err := feature.NewExtractor(scheme)
		if err != nil {
			rt.Fatal(err)
		}
		for i := range rapid.IntRange(1, 12).Draw(rt, "documents") {
			var s feature.Sketch
			id := fmt.Sprint("doc", i)
			extractor.Extract(&s, []byte(post(rt)))
			want, err := d.Check(id, &s)
			if err != nil {
				rt.Fatal(err)
			}
			want = want.Clone()
			got, why, err := d.Explain(id, &s)
			if err != nil {
				rt.Fatal(err)
			}
			if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				rt.Fatalf("(-check +why)\n%s", diff)
			}
			if last := why[len(why)-1]; last.Rule != "10" || !strings.HasPrefix(last.Says, got.Verdict.String()+":") {
				rt.Fatalf("%v is told as %v", got.Verdict, last)
			}
			copies := slices.ContainsFunc(why, func(r method.Reason) bool {
				return strings.HasSuffix(r.Says, "a copy") || strings.HasSuffix(r.Says, "an exact copy")
			})
			if copies != (got.Verdict == dedup.Duplicate) {
				rt.Fatalf("%+v, because %v", got, why)
			}
			if _, err := d.Decide(dedup.Document{ID: id, Sketch: &s}); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// TestWhyOfLittleSeen explains a long text with a few short parts that were seen.
func TestWhyOfLittleSeen(t *testing.T) {
	d, err := dedup.New(dedup.Config{Filter: newFilter(t, 1000), Table: &dedup.Memory{}, Now: fixedNow})
	if err != nil {
		t.Fatal(err)
	}
	extractor, err := feature.NewExtractor(feature.Scheme{})
	if err != nil {
		t.Fatal(err)
	}
	var s feature.Sketch
	extractor.Extract(&s, []byte("Good morning, everyone. Kindest regards. Yours faithfully."))
	if _, err := d.Decide(dedup.Document{ID: "a", Sketch: &s}); err != nil {
		t.Fatal(err)
	}
	extractor.Extract(&s, []byte("Good morning, everyone. "+words(5, 200)+". Kindest regards. Yours faithfully."))
	_, why, err := d.Explain("b", &s)
	want := "3 of its 34 parts were seen, too little text for any earlier document to matter: none is compared"
	if err != nil || why[0] != (method.Reason{Rule: "4", Says: want}) {
		t.Errorf("%v, %v", why, err)
	}
}

func TestWhyNeedsATable(t *testing.T) {
	d, err := dedup.New(dedup.Config{Filter: newFilter(t, 1000)})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Explain("a", &feature.Sketch{}); err == nil || strings.Contains(err.Error(), "filter") {
		t.Errorf("without a table: %v", err)
	}
}
