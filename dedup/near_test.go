package dedup_test

import (
	"testing"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// TestNearIsExact: what is looked up by what is near is looked up by its whole text too,
// also where the method has found nothing in it.
func TestNearIsExact(t *testing.T) {
	scheme := feature.Scheme{Method: "simhash"}
	extractor, err := feature.NewExtractor(scheme)
	if err != nil {
		t.Fatal(err)
	}
	d, err := dedup.New(dedup.Config{Scheme: scheme, Table: &dedup.Memory{}, Filter: newFilter(t, 100), Now: fixedNow})
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"+ + +", "Two documents of these words, one after the other.", "+ + +", "two documents of these words one after the other"} {
		var sketch feature.Sketch
		extractor.Extract(&sketch, []byte(text))
		r, err := d.Decide("x", &sketch)
		if err != nil || r.Exact != (i >= 2) || i >= 2 && r.Of.Num != uint32(i-1) {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
}
