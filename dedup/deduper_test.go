package dedup_test

import (
	"strings"
	"testing"
	"time"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
)

const sentence = "A sentence that is long enough to be a segment of its own."

// wantError checks that See and Check report the error.
func wantError(t *testing.T, d *dedup.Deduper, want string) {
	t.Helper()
	for _, text := range []string{sentence, "Another one, which no filter and no table have ever seen before."} {
		if r, err := d.See("id", []byte(text)); err == nil || !strings.Contains(err.Error(), want) || r.Verdict != dedup.Unique || r.Kept {
			t.Errorf("See(%.12q): %+v, %v; want an error that says %q", text, r, err, want)
		}
		if _, err := d.Check("id", segmentsOf(1, 2, 3)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check: %v; want an error that says %q", err, want)
		}
	}
}

// TestDeduperAfterTableClose checks that a closed table is reported even if it is not needed.
func TestDeduperAfterTableClose(t *testing.T) {
	table := newTable(t, "table.db").(*docmap.Table)
	d, err := dedup.New(dedup.Config{Table: table, Filter: newFilter(t, 1000)})
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	wantError(t, d, "the table was closed")
}

// TestDeduperAfterFilterClose closes a filter, as happens when it grows and is replaced.
func TestDeduperAfterFilterClose(t *testing.T) {
	table, small := newTable(t, "table.db"), newFilter(t, 1000)
	d, err := dedup.New(dedup.Config{Table: table, Filter: small})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.See("first", []byte(sentence)); err != nil {
		t.Fatal(err)
	}
	if err := small.Close(); err != nil {
		t.Fatal(err)
	}
	wantError(t, d, "UseFilter")
	d.UseFilter(nil) // a table alone will do
	if r, err := d.See("second", []byte(sentence)); err != nil || r.Of.ID != "first" {
		t.Errorf("without a filter: %+v, %v", r, err)
	}
}

// TestDeduperWithoutTable decides by a filter alone, then by nothing.
func TestDeduperWithoutTable(t *testing.T) {
	var none *docmap.Table
	d, err := dedup.New(dedup.Config{Filter: newFilter(t, 1000), Table: none})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []dedup.Verdict{dedup.Unique, dedup.Duplicate} {
		if r, err := d.See("id", []byte(sentence)); err != nil || r.Verdict != want {
			t.Errorf("%+v, %v; want %v", r, err, want)
		}
	}
	d.UseFilter(nil)
	wantError(t, d, "neither a filter nor a table")
	if _, err := dedup.New(dedup.Config{Table: none}); err == nil {
		t.Error("a Deduper with nothing at all")
	}
}

func TestNewRefuses(t *testing.T) {
	for want, cfg := range map[string]dedup.Config{
		"neither a filter nor a table": {},
		"threshold -0.1":               {Table: &dedup.Memory{}, Rules: dedup.Rules{Threshold: -0.1}},
		"threshold 1.0001":             {Table: &dedup.Memory{}, Rules: dedup.Rules{Threshold: 1.0001}},
		"threshold NaN":                {Table: &dedup.Memory{}, Rules: dedup.Rules{Threshold: nan()}},
		"-1 segments":                  {Table: &dedup.Memory{}, Scheme: feature.Scheme{Segments: -1}},
	} {
		if d, err := dedup.New(cfg); err == nil || !strings.Contains(err.Error(), want) || d != nil {
			t.Errorf("%v, want an error that says %q", err, want)
		}
	}
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}

// TestDefaultThresholds checks the thresholds in the manual at their limits.
func TestDefaultThresholds(t *testing.T) {
	// Ten segments of 15 units, each weighing 13. Eight of them weigh 0.65 of 160, and have 0.8 of 150.
	some := func(shared int, units uint64) *feature.Sketch {
		set := &feature.Sketch{Whole: uint64(1000 + shared)}
		for i := range 10 {
			key := uint64(i + 1)
			if i >= shared {
				key = uint64(100*shared + i)
			}
			set.Features = append(set.Features, feature.Feature{Key: key, Order: 3 * key, Width: uint32(90 - i), Units: 15})
		}
		set.Units = units
		return set
	}
	table := dedup.Config{Table: &dedup.Memory{}}
	bySegments := dedup.Config{Table: &dedup.Memory{}, Rules: dedup.Rules{Score: dedup.ScoreSegments}}
	filter := dedup.Config{Filter: newFilter(t, 100_000)}
	for _, c := range []struct {
		cfg    dedup.Config
		shared int
		units  uint64
		want   dedup.Verdict
	}{
		{table, 10, 160, dedup.Unique}, // the first is shared by the others
		{table, 8, 161, dedup.Unique},
		{table, 8, 160, dedup.Duplicate},
		{bySegments, 10, 160, dedup.Unique},
		{bySegments, 4, 160, dedup.Unique},
		{bySegments, 5, 160, dedup.Duplicate},
		{filter, 10, 150, dedup.Unique},
		{filter, 8, 151, dedup.Unique},
		{filter, 8, 150, dedup.Duplicate},
	} {
		d, err := dedup.New(c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := d.Decide(dedup.Document{ID: "", Sketch: some(c.shared, c.units)}); err != nil || r.Verdict != c.want {
			t.Errorf("%d shared of %d: %+v, %v; want %v", c.shared, c.units, r, err, c.want)
		}
	}
}

// TestTimeOfDocuments checks the times stored with documents.
func TestTimeOfDocuments(t *testing.T) {
	table := &dedup.Memory{}
	at := time.Unix(1700000000, 0)
	d, err := dedup.New(dedup.Config{Table: table, Now: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.See("id", []byte(sentence)); err != nil {
		t.Fatal(err)
	}
	var id, data [1][]byte
	if err := table.Records([]uint32{1}, id[:], data[:]); err != nil || string(id[0]) != "id" {
		t.Fatalf("%q, %v", id, err)
	}
	if rec, err := dedup.ParseRecord(data[0]); err != nil || rec.Time != at.Unix() {
		t.Errorf("%+v, %v", rec, err)
	}
}

func TestVerdictNames(t *testing.T) {
	names := []string{dedup.Unique.String(), dedup.Duplicate.String(), dedup.Mosaic.String(), dedup.Related.String(), dedup.Verdict(9).String()}
	if got := strings.Join(names, " "); got != "unique duplicate mosaic related verdict(9)" {
		t.Error(got)
	}
}

// TestSameID checks that a document with the ID of its witness is a page fetched again. One with
// another ID, or without a witness, is not.
func TestSameID(t *testing.T) {
	d, err := dedup.New(dedup.Config{Table: &dedup.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		id   string
		set  *feature.Sketch
		want bool
	}{
		{"a", segmentsOf(1, 11, 12, 13), false},
		{"b", segmentsOf(2, 21, 22, 23), false},
		{"a", segmentsOf(1, 11, 12, 13), true},
		{"b", segmentsOf(1, 11, 12, 13), false},
		{"", segmentsOf(3, 31, 32, 33), false},
		{"b", segmentsOf(4, 21, 22, 23), true},
	} {
		if r, err := d.Decide(dedup.Document{ID: c.id, Sketch: c.set}); err != nil || r.SameID != c.want {
			t.Errorf("document %d: %+v, %v", i, r, err)
		}
	}
}

// TestEarlierNeedsMore checks that New refuses earlier stores that could not be asked.
func TestEarlierNeedsMore(t *testing.T) {
	earlier := []dedup.SharedStore{&dedup.Memory{}}
	for name, cfg := range map[string]dedup.Config{
		"no table":          {Filter: newFilter(t, 1000), Earlier: earlier, EarlierFilters: []*bloomstore.Filter{newFilter(t, 1000)}},
		"a table for one":   {Table: struct{ dedup.Store }{&dedup.Memory{}}, Earlier: earlier},
		"no earlier filter": {Table: &dedup.Memory{}, Filter: newFilter(t, 1000), Earlier: earlier},
	} {
		if _, err := dedup.New(cfg); err == nil || !strings.Contains(err.Error(), "earlier stores need") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := dedup.New(dedup.Config{Table: &dedup.Memory{}, Earlier: earlier}); err != nil {
		t.Error(err)
	}
}
