package dedup_test

import (
	"testing"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestNearIsExact checks that exact copies are found by their whole text, even if the method
// extracts nothing from it.
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
		r, err := d.Decide(dedup.Document{ID: "x", Sketch: &sketch})
		if err != nil || r.Exact != (i >= 2) || i >= 2 && r.Of.Num != uint32(i-1) {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
}

// TestThin checks that a method's memory is rebuilt once most is gone, and still finds the rest.
func TestThin(t *testing.T) {
	scheme := feature.Scheme{Method: "simhash"}
	table := &fading{}
	d, err := dedup.New(dedup.Config{Scheme: scheme, Table: table, Now: fixedNow})
	if err != nil {
		t.Fatal(err)
	}
	text := func(i int) []byte { return []byte(indextest.Sentences(i)) }
	for i := range 40 {
		if r, err := d.See("x", text(i)); err != nil || !r.Kept {
			t.Fatalf("document %d: %+v, %v", i, r, err)
		}
	}
	table.gone = 30
	for _, documents := range []uint64{20, 10} { // the second rebuilds the memory
		if err := d.Thin(documents); err != nil {
			t.Fatal(err)
		}
		if r, err := d.See("x", text(35)); err != nil || r.Kept || r.Of.Num != 36 {
			t.Errorf("after %d: %+v, %v", documents, r, err)
		}
	}
	if want := uint32(10); table.asked != want {
		t.Errorf("%d documents were read, want %d", table.asked, want)
	}
}

// fading is a store that has lost its first documents.
type fading struct {
	dedup.Memory
	gone, asked uint32
}

func (f *fading) Live(num uint32) bool { return num > f.gone }

func (f *fading) Records(nums []uint32, ids, data [][]byte) error {
	if len(nums) > 1 {
		f.asked += uint32(len(nums))
	}
	return f.Memory.Records(nums, ids, data)
}
