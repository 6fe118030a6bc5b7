package naive_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/bench/naive"
	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/terms"
	"github.com/firstseen/firstseen/internal/testing/canontest"
)

const minDocs = 2

// collection is a collection of texts, counted both ways.
type collection struct {
	plain naive.Collection
	table *terms.Table
}

func collect(texts []string) *collection {
	c := &collection{}
	var counter terms.Counter
	reader := terms.NewReader(nil)
	for _, text := range texts {
		c.plain.Add(text)
		var found []uint64
		reader.Terms([]byte(text), func(more []uint64) { found = append(found, more...) })
		counter.Add(found)
	}
	c.table = counter.Table(minDocs)
	return c
}

// both is a method and its plain rule.
type both struct {
	scheme feature.Scheme
	rules  dedup.Rules
	plain  naive.Rule
}

func methods(c *collection, key []byte) []both {
	bands, rows := feature.BandsFor(.4)
	return []both{
		{feature.Scheme{Method: "exact", Key: key}, dedup.Rules{}, &naive.Exact{}},
		{feature.Scheme{Method: "shingles", Key: key}, dedup.Rules{}, &naive.Shingles{Words: 5, Bands: 42, Rows: 3, Threshold: .6}},
		{feature.Scheme{Method: "shingles", Shingle: 2, Bands: bands, Rows: rows, Key: key}, dedup.Rules{Threshold: .4}, &naive.Shingles{Words: 2, Bands: bands, Rows: rows, Threshold: .4}},
		{feature.Scheme{Method: "imatch", Terms: c.table, Key: key}, dedup.Rules{}, &naive.IMatch{Collection: &c.plain, MinDocs: minDocs, Least: 30, Most: 70}},
		{feature.Scheme{Method: "imatch", Terms: c.table, LeastRare: 5, MostRare: 100, Key: key}, dedup.Rules{}, &naive.IMatch{Collection: &c.plain, MinDocs: minDocs, Least: 5, Most: 100}},
		{feature.Scheme{Method: "simhash", Key: key}, dedup.Rules{}, &naive.SimHash{Distance: 3}},
		{feature.Scheme{Method: "simhash", Terms: c.table, Distance: 7, Key: key}, dedup.Rules{}, &naive.SimHash{Distance: 7, Collection: &c.plain, MinDocs: minDocs}},
	}
}

// checkVerdicts compares the verdicts on texts with those of the plain rule.
func checkVerdicts(t interface {
	Fatalf(string, ...any)
	Errorf(string, ...any)
}, m both, texts []string, filter *bloomstore.Filter,
) (removed int) {
	var store dedup.Memory
	d, err := dedup.New(dedup.Config{Scheme: m.scheme, Rules: m.rules, Filter: filter, Table: &store})
	if err != nil {
		t.Fatalf("%s: %v", m.scheme.Name(), err)
	}
	for i, text := range texts {
		want := m.plain.Decide(text)
		got, err := d.See(fmt.Sprint(i), []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", m.scheme.Name(), err)
		}
		of := ""
		if want.Of >= 0 {
			of = fmt.Sprint(want.Of)
			removed++
		}
		if got.Kept == want.Removed || got.Exact != want.Exact || got.Of.ID != of || got.Score != want.Score || got.Distance != want.Distance {
			t.Fatalf("%s: document %d is %+v, want %+v\n%.200q", m.scheme.Name(), i, got, want, text)
		}
	}
	return removed
}

// tiny returns a filter that always errs.
func tiny(t interface{ Fatalf(string, ...any) }) *bloomstore.Filter {
	f, err := bloomstore.New(bloomstore.Shape{Bits: 512, Hashes: 2}, "tiny")
	if err != nil {
		t.Fatalf("%v", err)
	}
	return f
}

// TestDrawnTexts compares with the plain rules on copied and changed texts of few words. It uses no
// filter or one that errs, and a key or none.
func TestDrawnTexts(t *testing.T) {
	canontest.NeedUnicode(t)
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"red", "Blue", "ferry", "7", "茶", "馆", "茶馆", "，", ". ", "é", "東京", "한국", "=", "-", "harbour"})
		var texts []string
		for range rapid.IntRange(1, 25).Draw(t, "documents") {
			if len(texts) > 0 && rapid.Bool().Draw(t, "a copy") {
				from := texts[rapid.IntRange(0, len(texts)-1).Draw(t, "of")]
				if rapid.Bool().Draw(t, "without commas") { // between Han characters the text stays the same
					from = strings.ReplaceAll(from, "，", "")
				}
				texts = append(texts, from+strings.Repeat(" "+word.Draw(t, "more"), rapid.IntRange(0, 2).Draw(t, "times")))
				continue
			}
			var b strings.Builder
			for range rapid.IntRange(0, 60).Draw(t, "words") {
				b.WriteString(word.Draw(t, "word"))
				b.WriteString(rapid.SampledFrom([]string{" ", "", "\n"}).Draw(t, "space"))
			}
			texts = append(texts, b.String())
		}
		var key []byte
		if rapid.Bool().Draw(t, "keyed") {
			key = []byte("0123456789abcdef")
		}
		c := collect(texts)
		m := rapid.SampledFrom(methods(c, key)).Draw(t, "method")
		var filter *bloomstore.Filter
		if rapid.Bool().Draw(t, "filter") {
			filter = tiny(t)
			defer filter.Close()
		}
		checkVerdicts(t, m, texts, filter)
	})
}

// TestGuide compares on real English and Chinese text, from which each method removes some copies.
func TestGuide(t *testing.T) {
	canontest.NeedUnicode(t)
	texts := guide(t)
	if testing.Short() {
		texts = slices.Concat(texts[20:36], texts[56:72]) // the same pages for two architectures
	}
	c := collect(texts)
	for _, m := range methods(c, nil) {
		if removed := checkVerdicts(t, m, texts, nil); 4*removed < len(texts) || removed == len(texts) {
			t.Errorf("%s removes %d of %d", m.scheme.Name(), removed, len(texts))
		}
	}
}

// TestCrowds keeps far more documents than a key names, with a third of their words in common.
// shingles compares the first eight of each band, and simhash all.
func TestCrowds(t *testing.T) {
	canontest.NeedUnicode(t)
	var texts []string
	for i := range 60 {
		var b strings.Builder
		for j := range 30 {
			if fmt.Fprintf(&b, "common%d ", j); j%10 == 9 {
				for k := range 20 {
					fmt.Fprintf(&b, "own%d ", (1+i%20)*1000+20*j+k*(1+i/40))
				}
			}
		}
		texts = append(texts, b.String())
	}
	c := collect(texts)
	bands, rows := feature.BandsFor(.5)
	for _, m := range []both{
		{feature.Scheme{Method: "shingles", Shingle: 1, Bands: bands, Rows: rows}, dedup.Rules{Threshold: .5}, &naive.Shingles{Words: 1, Bands: bands, Rows: rows, Threshold: .5}},
		{feature.Scheme{Method: "shingles", Shingle: 1, Bands: 128, Rows: 1}, dedup.Rules{Threshold: .9}, &naive.Shingles{Words: 1, Bands: 128, Rows: 1, Threshold: .9}},
		{feature.Scheme{Method: "simhash", Distance: 7}, dedup.Rules{}, &naive.SimHash{Distance: 7}},
		{feature.Scheme{Method: "simhash", Terms: c.table}, dedup.Rules{}, &naive.SimHash{Distance: 3, Collection: &c.plain, MinDocs: minDocs}},
	} {
		if removed := checkVerdicts(t, m, texts, nil); removed == 0 || removed > 50 {
			t.Errorf("%s removes %d of %d", m.scheme.Name(), removed, len(texts))
		}
	}
}

func guide(t *testing.T) (texts []string) {
	f, err := os.Open("../../testdata/bilingual/guide.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var doc struct{ Text string }
		if err := json.Unmarshal(lines.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, doc.Text)
	}
	return texts
}
