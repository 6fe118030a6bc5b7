package gen

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/feature"
)

func newGenerator(t testing.TB, docs uint64, duplicates float64) *Generator {
	t.Helper()
	g, err := New(Config{Docs: docs, Seed: 7, Duplicates: duplicates})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

type line struct{ ID, Text string }

func parse(t testing.TB, raw []byte) (l line) {
	t.Helper()
	if err := json.Unmarshal(raw, &l); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return l
}

// TestReaderGivesTheLines checks that the bytes do not depend on the size of reads.
func TestReaderGivesTheLines(t *testing.T) {
	g := newGenerator(t, 3000, 0.5)
	var want []byte
	for n := range uint64(3000) {
		want = g.AppendLine(want, n)
	}
	for _, size := range []int{1000, 1 << 20} {
		var got bytes.Buffer
		if _, err := io.CopyBuffer(&got, struct{ io.Reader }{g.NewReader()}, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("read %d bytes at a time, the stream is not that of the lines", size)
		}
	}
}

// TestTimes checks that Start adds a time to each document and changes nothing else.
func TestTimes(t *testing.T) {
	plain := newGenerator(t, 3000, 0.5)
	cfg := plain.cfg
	cfg.Start = 1_600_000_000
	g, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	delayed := 0
	for n := range uint64(3000) {
		var doc struct {
			line
			At int64
		}
		if err := json.Unmarshal(g.AppendLine(nil, n), &doc); err != nil {
			t.Fatal(err)
		}
		late := cfg.Start + int64(n) - doc.At
		if doc.line != parse(t, plain.AppendLine(nil, n)) || doc.At != g.Time(n) || late < 0 || late >= MostDelay {
			t.Fatalf("document %d: %+v, %d s late", n, doc, late)
		}
		if late > 0 {
			delayed++
		}
	}
	if delayed < 300 || delayed > 450 {
		t.Errorf("%d of 3000 come late", delayed)
	}
}

func TestDocumentsAreReproducible(t *testing.T) {
	a, b := newGenerator(t, 100, 0.5), newGenerator(t, 100, 0.5)
	for _, n := range []uint64{6001, 0, 77777, 12} {
		if x, y := a.AppendLine(nil, n), b.AppendLine(nil, n); !bytes.Equal(x, y) {
			t.Errorf("document %d:\n%s\nand\n%s", n, x, y)
		}
	}
}

func features(e *feature.Extractor, text string) (set feature.Set) {
	e.Extract(&set, []byte(text))
	return set
}

// TestMeanDocument checks the mean document described in the package comment.
func TestMeanDocument(t *testing.T) {
	const docs = 5000
	g := newGenerator(t, docs, 0)
	e, _ := feature.NewExtractor(feature.Scheme{})
	size, chosen, longest := 0, 0, 0
	for n := range uint64(docs) {
		l := parse(t, g.AppendLine(nil, n))
		size, longest = size+len(l.Text), max(longest, len(l.Text))
		set := features(e, l.Text)
		chosen += len(set.Features)
	}
	if mean := size / docs; mean < 2800 || mean > 3700 {
		t.Errorf("a mean document has %d bytes, want about 3000", mean)
	}
	if mean := float64(chosen) / docs; mean < 46 || mean > 50 {
		t.Errorf("a mean document has %.1f segments, want about 48", mean)
	}
	if longest < 40_000 || longest > 80_000 {
		t.Errorf("the longest document has %d bytes, want about 50,000", longest)
	}
}

// TestUniqueIsUnique checks that documents share few segments, such as those of sites and leads.
func TestUniqueIsUnique(t *testing.T) {
	docs := uint64(4000)
	if testing.Short() {
		docs = 1000
	}
	g := newGenerator(t, docs, 0)
	e, _ := feature.NewExtractor(feature.Scheme{})
	holders := map[uint64]map[uint64]bool{}
	sizes := map[uint64]int{}
	for n := range docs {
		set := features(e, parse(t, g.AppendLine(nil, n)).Text)
		sizes[n] = set.Parts()
		for _, f := range set.Features[:set.Parts()] {
			if holders[f.Key] == nil {
				holders[f.Key] = map[uint64]bool{}
			}
			holders[f.Key][n] = true
		}
	}
	shared := map[uint64]int{}
	for _, those := range holders {
		if len(those) > 1 {
			for n := range those {
				shared[n]++
			}
		}
	}
	for n, count := range shared {
		if count > 1+(sizes[n]/6) {
			t.Errorf("document %d shares %d of %d segments", n, count, sizes[n])
		}
	}
}

// TestTruth checks the part of its source that a copy shares, also among the chosen segments.
func TestTruth(t *testing.T) {
	const docs = 60_000
	g := newGenerator(t, docs, 0.5)
	e, _ := feature.NewExtractor(feature.Scheme{})
	text := func(n uint64) string { return parse(t, g.AppendLine(nil, n)).Text }
	seen, most := map[Kind]int{}, 300
	if testing.Short() {
		most = 100
	}
	for n := uint64(0); n < docs; n++ {
		truth := g.Truth(n)
		seen[truth.Kind]++
		if truth.Kind == Unique || seen[truth.Kind] > most {
			continue
		}
		set := features(e, text(n))
		if truth.Kind == Exact {
			if source := features(e, text(truth.Sources[0])); set.Whole != source.Whole {
				t.Fatalf("document %d is no copy of %d", n, truth.Sources[0])
			}
			continue
		}
		for _, s := range truth.Sources {
			if s >= n || g.Truth(s).Kind != Unique {
				t.Fatalf("document %d has the source %d, %v", n, s, g.Truth(s).Kind)
			}
			source := features(e, text(s))
			share := shared(&set, &source)
			// The three shortest of 50 segments are not chosen.
			if share < truth.Overlap-0.06 || share > truth.Overlap+0.15 {
				t.Errorf("document %d, %v of %d: %.3f of its segments, planted %.2f", n, truth.Kind, s, share, truth.Overlap)
			}
		}
	}
	for kind := range Kind(Kinds) {
		if seen[kind] < 100 {
			t.Errorf("%d documents are %v", seen[kind], kind)
		}
	}
}

func shared(a, b *feature.Set) float64 {
	n := 0
	for _, f := range a.Features[:a.Parts()] {
		for _, o := range b.Features[:b.Parts()] {
			if o.Key == f.Key {
				n++
			}
		}
	}
	return float64(n) / float64(a.Parts())
}

// TestScrambleIsOneToOne checks that no two clause numbers have the same words.
func TestScrambleIsOneToOne(t *testing.T) {
	seen := map[uint64]bool{}
	for x := range uint64(1 << 18) {
		y := scramble(x<<9, 3)
		if y > spelledMask || seen[y] {
			t.Fatalf("%d is met twice or out of range", y)
		}
		seen[y] = true
	}
	g := newGenerator(t, 1, 0)
	for _, l := range []*language{&g.tables.english, &g.tables.chinese} {
		words := map[uint64]bool{}
		for _, w := range l.words {
			words[w&(1<<48-1)] = true
		}
		if diff := cmp.Diff(len(l.words), len(words)); diff != "" {
			t.Errorf("different words in the first six bytes: %s", diff)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for _, bench := range []struct {
		name       string
		duplicates float64
	}{{"duplicates=0.1", 0.1}, {"duplicates=0.5", 0.5}} {
		b.Run(bench.name, func(b *testing.B) {
			r := newGenerator(b, MaxDocs, bench.duplicates).NewReader()
			p := make([]byte, 1<<20)
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				if _, err := io.ReadFull(r, p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
