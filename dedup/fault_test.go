package dedup_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// A faulty is a store that counts calls and fails at the n-th call or record of one method.
type faulty struct {
	dedup.Memory
	method string
	at     int
	calls  map[string]int
}

var errFault = errors.New("the disk is gone")

func (f *faulty) count(method string, n int) error {
	if f.calls == nil {
		f.calls = map[string]int{}
	}
	before := f.calls[method]
	f.calls[method] += n
	if method == f.method && before < f.at && f.at <= before+n {
		return errFault
	}
	return nil
}

func (f *faulty) Add(ids []string, data [][]byte, keys [][]uint64, times []uint32, marks []bool) (uint32, error) {
	if err := f.count("Add", 1); err != nil {
		return 0, err
	}
	return f.Memory.Add(ids, data, keys, times, marks)
}

func (f *faulty) Lookup(keys []uint64, holders []uint32, n []uint8) error {
	if err := f.count("Lookup", 1); err != nil {
		return err
	}
	return f.Memory.Lookup(keys, holders, n)
}

func (f *faulty) Records(nums []uint32, ids, data [][]byte) error {
	if err := f.count("Records", len(nums)); err != nil {
		return err
	}
	return f.Memory.Records(nums, ids, data)
}

// stream returns documents for every verdict. They are two unique ones, an exact copy, a near copy
// that shares with both, a mosaic of both, and a post with another number than one before.
func stream() []*feature.Sketch {
	a, b := segmentsOf(1, 11, 12, 13, 14, 15, 16), segmentsOf(2, 21, 22, 23, 24, 25, 26)
	near := segmentsOf(3, 11, 12, 13, 14, 15, 21)
	mosaic := segmentsOf(4, 11, 12, 13, 21, 22, 23)
	third, fourth := extracted("The bridge is closed until further notice from the 3rd of May."), extracted("The bridge is closed until further notice from the 4th of May.")
	return []*feature.Sketch{a, b, a, near, mosaic, third, fourth}
}

// TestTableErrorsAreTold fails each call to the table. The error names the document, and no copy.
func TestTableErrorsAreTold(t *testing.T) {
	count := &faulty{}
	verdicts, err := judgeStream(count)
	if want := "unique unique duplicate duplicate mosaic unique related"; err != nil || verdicts != want {
		t.Fatalf("%s, %v; want %s", verdicts, err, want)
	}
	for _, method := range []string{"Add", "Lookup", "Records"} {
		for at := 1; at <= count.calls[method]; at++ {
			_, err := judgeStream(&faulty{method: method, at: at})
			if !errors.Is(err, errFault) || !strings.Contains(err.Error(), `document "id`) {
				t.Errorf("%s number %d failed: %v", method, at, err)
			}
		}
	}
}

func judgeStream(table dedup.Store) (string, error) {
	d, err := dedup.New(dedup.Config{Table: table, Rules: dedup.Rules{Threshold: 0.6}})
	if err != nil {
		return "", err
	}
	var verdicts []string
	for i, set := range stream() {
		r, err := d.Decide(dedup.Document{ID: "id" + string(rune('0'+i)), Sketch: set})
		if err != nil {
			if r.Verdict == dedup.Duplicate {
				return "", errors.New("a duplicate by a table that failed")
			}
			return "", err
		}
		verdicts = append(verdicts, r.Verdict.String())
	}
	return strings.Join(verdicts, " "), nil
}

// TestTableIsAskedOnlyWhereItMatters counts look-ups and reads. A document costs no look-up if the
// filter has seen too little of it. Only possible witnesses and sources are read.
func TestTableIsAskedOnlyWhereItMatters(t *testing.T) {
	table := &faulty{}
	d, err := dedup.New(dedup.Config{Table: table, Filter: newFilter(t, 1_000_000), Rules: dedup.Rules{Threshold: 0.5}})
	if err != nil {
		t.Fatal(err)
	}
	// A segment has 9 units and weighs 7: a fifth of eight segments, 72, is 14.4.
	for i, c := range []struct {
		set           *feature.Sketch
		lookups, docs int
		counts        dedup.Counts
		what          string
	}{
		{segmentsOf(1, 11, 12, 13, 14, 15, 16, 17, 18), 0, 0, dedup.Counts{Fresh: 9}, "nothing was seen"},
		{segmentsOf(2, 81, 82, 83, 84, 85, 86, 17, 18), 0, 0, dedup.Counts{Fresh: 16}, "14 of 72 are seen"},
		{segmentsOf(5, 11, 12, 71, 72, 73, 74, 75), 1, 1, dedup.Counts{Fresh: 22, Lookups: 1, Confirmed: 2}, "14 of 63 are seen, more than a fifth, and one document has them"},
		{segmentsOf(4, 11, 12, 13, 14), 1, 4, dedup.Counts{Fresh: 22, Lookups: 2, Confirmed: 6}, "28 of 36: a duplicate; two documents with a fifth are compared, and asked for their ids"},
		{segmentsOf(6, 81, 82, 73, 61, 62, 63, 64, 65), 1, 0, dedup.Counts{Fresh: 28, Lookups: 3, Confirmed: 9}, "21 of 72 are seen, but one document has 14: too little to be compared"},
		{segmentsOf(1, 11, 12, 13, 14, 15, 16, 17, 18), 1, 1, dedup.Counts{Fresh: 28, Lookups: 4, Confirmed: 10}, "an exact copy: one key, one document"},
		{withRunKeys(segmentsOf(7, 41, 42), 501, 502, 503, 504), 0, 0, dedup.Counts{Fresh: 35, Lookups: 4, Confirmed: 10}, "run keys, of which nothing was seen"},
		{withRunKeys(segmentsOf(8, 43, 44), 501, 506), 1, 1, dedup.Counts{Fresh: 39, Lookups: 5, Confirmed: 11}, "one run key is seen"},
		{withRunKeys(segmentsOf(9, 45, 46), 502, 506), 1, 2, dedup.Counts{Fresh: 42, Lookups: 6, Confirmed: 13}, "two are seen, of one document each"},
	} {
		table.calls = nil
		r, err := d.Decide(dedup.Document{ID: "id", Sketch: c.set})
		if err != nil {
			t.Fatal(err)
		}
		if table.calls["Lookup"] != c.lookups || table.calls["Records"] != c.docs || d.Counts() != c.counts {
			t.Errorf("document %d (%s): %v, %d look-ups, %d documents read, %+v", i, c.what, r.Verdict, table.calls["Lookup"], table.calls["Records"], d.Counts())
		}
	}
}

func withRunKeys(set *feature.Sketch, keys ...uint64) *feature.Sketch {
	for _, key := range keys {
		set.Features = append(set.Features, feature.Feature{Key: key, Order: key})
	}
	set.Leads = len(keys)
	return set
}

// TestRefutedKeysAreCounted checks that keys the filter has falsely seen count as refuted.
func TestRefutedKeysAreCounted(t *testing.T) {
	d, err := dedup.New(dedup.Config{Table: &dedup.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Decide(dedup.Document{ID: "id", Sketch: segmentsOf(1, 11, 12, 13)}); err != nil {
		t.Fatal(err)
	}
	// Without a filter every key counts as seen: one whole text, three segments.
	if got, want := d.Counts(), (dedup.Counts{Lookups: 2, Refuted: 4}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// extracted returns the sketch of a text by the default scheme.
func extracted(text string) *feature.Sketch {
	var s feature.Sketch
	extractor, err := feature.NewExtractor(feature.Scheme{})
	if err != nil {
		panic(err)
	}
	extractor.Extract(&s, []byte(text))
	return &s
}
