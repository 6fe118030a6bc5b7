package dedup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
)

// A meeting is a document that shares the key of a whole text with kept documents before it. No two
// such texts are known under a secret, so the tests make the keys.
type meeting struct {
	name    string
	earlier []*feature.Sketch
	set     *feature.Sketch
	of      string // the witness; empty if the document is kept
}

// segmentsOf returns features with these keys, the widest first.
func segmentsOf(whole uint64, keys ...uint64) *feature.Sketch {
	set := &feature.Sketch{Whole: whole}
	for i, key := range keys {
		set.Features = append(set.Features, feature.Feature{Key: key, Order: 3 * key, Width: uint32(90 - i), Units: 9})
		set.Units += 9
	}
	return set
}

func truncated(set *feature.Sketch) *feature.Sketch {
	set.Truncated = true
	return set
}

// holders returns n documents that hold the key as one of their segments.
func holders(n int, key uint64) (sets []*feature.Sketch) {
	for i := range uint64(n) {
		sets = append(sets, segmentsOf(900+i, 910+i, 920+i, key, 930+i))
	}
	return sets
}

func meetings() []meeting {
	article := func() *feature.Sketch { return segmentsOf(500, 1, 2, 3, 4, 5) }
	forged := func(n int) *feature.Sketch { return segmentsOf(500, []uint64{71, 72, 73, 74, 75, 76}[:n]...) }
	other := segmentsOf(600, 61, 62, 500, 63, 64) // one of its segments has the key
	words := func(set *feature.Sketch, text string) *feature.Sketch {
		var of feature.Sketch
		extractor, err := feature.NewExtractor(feature.Scheme{})
		if err != nil {
			panic(err)
		}
		extractor.Extract(&of, []byte(text))
		set.Data = of.Data
		return set
	}
	const (
		few  = "A short text has runs of letters, and no sketch."
		more = "A short text has seven runs of letters, and no sketch."
	)
	many := strings.Repeat("Of a text of four hundred and twenty letters there is a sketch, ", 9) + "by which it is told apart from others."
	again := strings.Replace(many, "others", "ethers", 1)
	return []meeting{
		{"the same text", []*feature.Sketch{article()}, article(), "doc0"},
		{"a segment has the key of the text", []*feature.Sketch{other}, article(), ""},
		{"a short text, a segment has its key", []*feature.Sketch{segmentsOf(600, 61, 500), segmentsOf(601, 500)}, forged(4), ""},
		{"the same words, cut otherwise", []*feature.Sketch{words(forged(1), many)}, words(article(), many), "doc0"},
		{"the same words, not cut at all", []*feature.Sketch{words(forged(0), few)}, words(article(), few), "doc0"},
		{"the same words, and more segments than are chosen", []*feature.Sketch{truncated(forged(4))}, article(), "doc0"},
		{"a forged text of as many segments, and another number of letters", []*feature.Sketch{words(forged(5), few)}, words(article(), more), ""},
		{"a forged text of as many words", []*feature.Sketch{words(forged(5), many)}, words(article(), again), ""},
		{"a segment, a forged text, and then the same text", []*feature.Sketch{other, words(forged(1), few), words(article(), many)}, words(article(), many), "doc2"},
		{"seven others have the key", append(holders(7, 500), article()), article(), "doc7"},
		{"eight others have the key, so the table does not know", append(holders(8, 500), forged(5)), article(), ""},
		{"the empty text", []*feature.Sketch{forged(0)}, forged(0), "doc0"},
	}
}

// TestExactCopyAgreesInAll checks that a document sharing the key of its whole text alone is no
// copy, in either table, with any filter.
func TestExactCopyAgreesInAll(t *testing.T) {
	for i, m := range meetings() {
		for _, file := range []string{"", fmt.Sprint("table", i, ".db")} {
			for _, keys := range filterSizes {
				t.Run(fmt.Sprintf("%s/%s/%d", m.name, file, keys), func(t *testing.T) { m.check(t, newTable(t, file), keys) })
			}
		}
	}
}

func (m *meeting) check(t *testing.T, table dedup.Store, filterKeys uint64) {
	d, err := dedup.New(dedup.Config{Rules: dedup.Rules{Threshold: 0.6}, Table: table, Filter: newFilter(t, filterKeys)})
	if err != nil {
		t.Fatal(err)
	}
	for i, set := range m.earlier {
		if r, err := d.Decide(dedup.Document{ID: fmt.Sprint("doc", i), Sketch: set}); err != nil || !r.Kept && i+1 < len(m.earlier) {
			t.Fatalf("document %d: %+v, %v", i, r, err)
		}
		checkpoint(t, table)
	}
	r, err := d.Decide(dedup.Document{ID: "judged", Sketch: m.set})
	if err != nil {
		t.Fatal(err)
	}
	if r.Exact != (m.of != "") || r.Of.ID != m.of || r.Kept != (m.of == "") {
		t.Errorf("exact copy of %q wanted, got %+v", m.of, r)
	}
}

// checkpoint flushes a table to its file, if any.
func checkpoint(t *testing.T, table dedup.Store) {
	t.Helper()
	if disk, ok := table.(*docmap.Table); ok {
		if err := disk.Checkpoint(nil); err != nil {
			t.Fatal(err)
		}
	}
}
