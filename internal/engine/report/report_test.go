package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
)

const quoted = "The first sentence is the longest of all of them. The second one is short. A third."

// quotedSet returns the features of quoted, the longest first.
func quotedSet(t *testing.T) *feature.Set {
	t.Helper()
	extractor, err := feature.NewExtractor(feature.Scheme{MinWidth: 5})
	if err != nil {
		t.Fatal(err)
	}
	set := new(feature.Set)
	extractor.Extract(set, []byte(quoted))
	if set.Parts() != 3 {
		t.Fatalf("%d segments", set.Parts())
	}
	return set
}

// line returns the report line of a result.
func line(t *testing.T, r *dedup.Result, set *feature.Set, text string) string {
	t.Helper()
	reported := Report(r, "<d&>", set, []byte(text))
	reported.File, reported.Line = "in.jsonl", corpus.Place{Record: 7}
	got, err := AppendJSON([]byte("before "), reported)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(string(got), "before ")
}

// TestReported checks one line of each kind to the byte, since programs read them.
func TestReported(t *testing.T) {
	set := quotedSet(t)
	source := dedup.Source{Num: 3, ID: "e", Shared: 2}
	for _, c := range []struct {
		r    dedup.Result
		want string
	}{
		{
			dedup.Result{Verdict: dedup.Duplicate, Of: source, Score: 0.79999, Seen: 0.8, Contained: 0.76549, Estimated: true, Segments: 3, OfSegments: 4, SharedSegments: []int{0, 2}, Also: []dedup.Source{{ID: "f", Shared: 1}}},
			`{"id":"<d&>","verdict":"duplicate","kept":false,"of":"e","exact":false,"same_id":false,"score":0.7999,"seen":0.8,"contained":0.7654,"estimated":true,"shared":2,"segments":3,"of_segments":4,"also":[{"id":"f","shared":1}],"sample":["The first sentence is the longest of all of them","A third"],"file":"in.jsonl","line":7}`,
		},
		{
			dedup.Result{Verdict: dedup.Duplicate, Exact: true, SameID: true, Of: source, Score: 1, Seen: 1, Contained: 1, Segments: 3},
			`{"id":"<d&>","verdict":"duplicate","kept":false,"of":"e","exact":true,"same_id":true,"score":1,"seen":1,"contained":1,"shared":2,"segments":3,"of_segments":0,"also":[],"sample":["The first sentence is the longest of all of them","The second one is short","A third"],"file":"in.jsonl","line":7}`,
		},
		{
			dedup.Result{Verdict: dedup.Related, Kept: true, Of: source, Score: 0.75, Seen: 0.5, Contained: 0.75, Differ: "numbers", Segments: 3, OfSegments: 3, SharedSegments: []int{0}},
			`{"id":"<d&>","verdict":"related","kept":true,"of":"e","exact":false,"same_id":false,"score":0.75,"seen":0.5,"contained":0.75,"shared":2,"segments":3,"of_segments":3,"also":[],"sample":["The first sentence is the longest of all of them"],"differs":"numbers","file":"in.jsonl","line":7}`,
		},
		{
			dedup.Result{Verdict: dedup.Mosaic, Kept: true, SharedSegments: []int{1}},
			`{"id":"<d&>","verdict":"mosaic","kept":true,"of":null,"why":"several earlier documents together","exact":false,"same_id":false,"score":0,"seen":0,"contained":0,"shared":1,"segments":0,"of_segments":0,"also":[],"sample":["The second one is short"],"file":"in.jsonl","line":7}`,
		},
		{
			dedup.Result{Verdict: dedup.Duplicate},
			`{"id":"<d&>","verdict":"duplicate","kept":false,"of":null,"why":"the filter alone knows no documents","exact":false,"same_id":false,"score":0,"seen":0,"contained":0,"shared":0,"segments":0,"of_segments":0,"also":[],"sample":[],"file":"in.jsonl","line":7}`,
		},
	} {
		if got := line(t, &c.r, set, quoted); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	set.Features, set.Leads = append(set.Features[:2:2], feature.Feature{}), 1 // of a run
	if r := Report(&dedup.Result{Exact: true}, "", set, []byte(quoted)); len(r.Sample) != 2 {
		t.Errorf("what only finds candidates is quoted: %q", r.Sample)
	}
	if r := Report(&dedup.Result{Exact: true}, "", nil, nil); len(r.Sample) != 0 {
		t.Errorf("quoted from nothing: %q", r.Sample)
	}
	if _, err := AppendJSON(nil, func() {}); err == nil {
		t.Error("a function is JSON")
	}
}

// TestNew checks the place of a new passage, in characters, from the beginning of one sentence to
// the end of another. The sentences have 29, 21, 20, 18 and 6 letters.
func TestNew(t *testing.T) {
	const text = "Seven plain words make up the first. 第二句有八个字。The third has five words! Then, at last, five more. +++ The end."
	for _, c := range []struct {
		from, to uint64
		want     string
	}{
		{0, 28, "Seven plain words make up the first"},
		{31, 48, "第二句有八个字"},
		{35, 60, "第二句有八个字。The third has five words"},
		{71, 86, "Then, at last, five more"},
		{0, 94, strings.TrimSuffix(text, ".")},
	} {
		r := dedup.Result{Verdict: dedup.Related, New: feature.Passage{From: c.from, To: c.to, Of: 94}}
		reported := Report(&r, "", nil, []byte(text))
		if got := string([]rune(text)[reported.New[0]:reported.New[1]]); got != c.want {
			t.Errorf("%d to %d: %q, want %q", c.from, c.to, got, c.want)
		}
	}
	chinese := strings.Repeat("第二句有八个字。", 9) + "第二句有八个字"
	mixed := strings.Repeat("Seven plain words make up the first. ", 10) + chinese // of 290 letters and 210
	reported := Report(&dedup.Result{Verdict: dedup.Related, New: feature.Passage{From: 294, To: 500, Of: 500}}, "", nil, []byte(mixed))
	if got := string([]rune(mixed)[reported.New[0]:reported.New[1]]); got != chinese {
		t.Errorf("the passage in another script is %q", got)
	}
	if r := Report(&dedup.Result{Verdict: dedup.Related}, "", nil, []byte(text)); r.New != nil {
		t.Error("a passage where there is none")
	}
}

// TestQuote checks that a long segment is cut between characters.
func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"  a b\n":                     "a b",
		strings.Repeat("x", 300):      strings.Repeat("x", 240),
		"x" + strings.Repeat("世", 99): "x" + strings.Repeat("世", 79),
	} {
		if got := Quote([]byte(text), feature.Feature{End: uint32(len(text))}); got != want {
			t.Errorf("%q quoted as %q", text, got)
		}
	}
}

// TestCommonest draws more keys than there are counters. Frequent ones are found, counted not too
// low, and quoted.
func TestCommonest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var c Commonest
	counts, quotes := map[uint64]uint64{}, 0
	for range 40_000 {
		key := uint64(rng.IntN(10))
		if rng.IntN(2) == 0 {
			key = 10 + uint64(rng.IntN(5000))
		}
		counts[key]++
		if n := c.Add(key, key); n != nil {
			n.Text, quotes = fmt.Sprint(key), quotes+1
		}
	}
	top := c.Top(10)
	if len(top) != 10 || quotes < 10 {
		t.Fatalf("%d of the commonest, %d quotes", len(top), quotes)
	}
	for i := range c.parts {
		if n := len(c.parts[i].All()); n != maxCounters {
			t.Errorf("part %d has %d counters", i, n)
		}
	}
	for i, s := range top {
		var key uint64
		if _, err := fmt.Sscan(s.Text, &key); err != nil || key >= 10 {
			t.Errorf("%q is among the commonest", s.Text)
		}
		least := c.parts[CommonPart(key)].All()[0].Count
		if s.Documents < counts[key] || s.Documents > counts[key]+least {
			t.Errorf("key %d: %d, in truth %d", key, s.Documents, counts[key])
		}
		if i > 0 && s.Documents > top[i-1].Documents {
			t.Errorf("%v is behind %v", s, top[i-1])
		}
	}
	if none := new(Commonest).Top(3); none == nil || len(none) != 0 {
		t.Errorf("of nothing: %v", none)
	}
}

// TestTally counts every verdict once.
func TestTally(t *testing.T) {
	var got Tally
	for _, r := range []dedup.Result{
		{Verdict: dedup.Unique, Kept: true},
		{Verdict: dedup.Unique, Kept: true, Again: true},
		{Verdict: dedup.Related, Kept: true},
		{Verdict: dedup.Mosaic, Kept: true},
		{Verdict: dedup.Mosaic},
		{Verdict: dedup.Duplicate},
		{Verdict: dedup.Duplicate, Exact: true},
		{Verdict: dedup.Duplicate, Exact: true, SameID: true},
	} {
		got.Count(&r)
	}
	want := Tally{Documents: 8, Kept: 4, Removed: 4, Unique: 2, Duplicates: 3, Exact: 2, SameID: 1, Mosaics: 2, Related: 1, Again: 1}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	written, err := json.Marshal(Tally{RecordBytes: 5})
	if err != nil || !strings.Contains(string(written), `"line_bytes":5}`) {
		t.Errorf("%s, %v", written, err)
	}
}

// TestSummaryText checks the summary that people see.
func TestSummaryText(t *testing.T) {
	s := Summary{
		Tally:   Tally{Documents: 8, Kept: 6, Removed: 2, Unique: 3, Duplicates: 2, Exact: 1, Mosaics: 2, Related: 1, Again: 1, Bad: 4, RecordBytes: 3_000_000},
		Seconds: 1.5, Filter: index.FilterState{Bytes: 1 << 20, Fill: 0.25, Rate: 1e-3},
		Table:      &TableState{Lookups: 5, Confirmed: 6, Refuted: 7},
		Commonest:  []CommonSegment{{"a", 4}, {"b", 3}, {"c", 2}, {"not told", 1}},
		MostCopied: []Copied{{"x", 5}, {"y\x1b", 4}, {"z", 3}, {"not told", 2}},
		MostLost:   []LostInput{{Name: "a.jsonl", Documents: 7, Removed: 2}},
	}
	const plain = `8 documents: 6 kept, 2 copies (25.0%)
copies: 1 exact, 1 near; kept: 1 with much of an earlier document
most copied: x (5×), y\u001b (4×), z (3×)
most lost: a.jsonl (2 of 7)
  kept before, and sent again: 1
  bad records: 4
`
	var b bytes.Buffer
	s.WriteText(&b, "dup's.jsonl", false)
	if want := plain + "look: firstseen report show 'dup'\\''s.jsonl'\n"; b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	b.Reset()
	s.WriteText(&b, "-", true)
	want := plain + `  unique 3, duplicate 2 (1 exact, 0 of the same id), mosaic 2, related 1
  3.0 MB of lines in 1.5 s (2 MB/s)
  filter: 1.0 MiB, 25.0% of its bits set, false positives 1 in 1e+03 a segment
  side table: asked for 5 documents, 6 filter hits confirmed, 7 refuted
  common: 4× "a"
  common: 3× "b"
  common: 2× "c"
`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
	b.Reset()
	new(Summary).WriteText(&b, "", true)
	if got := b.String(); !strings.HasPrefix(got, "0 documents: 0 kept, 0 copies (0%)\n") || strings.Contains(got, "side table") || !strings.Contains(got, "1 in 10^300 a segment") {
		t.Errorf("of nothing:\n%s", got)
	}
}

// TestMostCopied checks that a count is exact for few documents, and never too high for many.
func TestMostCopied(t *testing.T) {
	var few, many Copies
	long := strings.Repeat("é", 150)
	for i := range 40 {
		few.Add(&dedup.Source{Num: uint32(1 + i%4), ID: long[:2+2*(i%4)]})
	}
	few.Add(&dedup.Source{Num: 9, ID: long})
	few.Add(&dedup.Source{Num: 3, ID: "éé"})
	want := []Copied{{long[:6], 11}, {long[:2], 10}, {long[:4], 10}, {long[:8], 10}, {long[:200], 1}}
	if got := few.Top(9); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	for i := range 100_000 {
		many.Add(&dedup.Source{Num: uint32(10 + i), ID: "other"})
		if i%20 == 0 && i >= 5000 {
			many.Add(&dedup.Source{Num: 1, ID: "one"})
		}
	}
	if top := many.Top(1); len(many.counters.All()) != maxCopied || top[0].ID != "one" || top[0].Copies > 4750 || top[0].Copies < 4600 {
		t.Errorf("%d counters, %+v", len(many.counters.All()), top)
	}
}

// TestMostLost checks that of many inputs the three that lost most are named, even when one of them is the last.
func TestMostLost(t *testing.T) {
	var tally Tally
	for input, removed := range []int{2, 0, 5, 1, 2, 3} {
		for i := range 6 {
			tally.CountInput(input+1, i >= removed)
		}
	}
	name := func(n int) string { return string(rune('a' + n)) }
	s := Summary{Tally: tally}
	s.NameLost(6, name)
	if want := []LostInput{{Name: "c", Documents: 6, Removed: 5}, {Name: "f", Documents: 6, Removed: 3}, {Name: "a", Documents: 6, Removed: 2}}; !slices.Equal(s.MostLost, want) {
		t.Errorf("%+v", s.MostLost)
	}
	s.NameLost(1, name)
	if len(s.MostLost) != 0 {
		t.Errorf("of one input: %+v", s.MostLost)
	}
}

// TestRefusal checks the reasons why a related document is no copy.
func TestRefusal(t *testing.T) {
	for want, l := range map[string]Reported{
		"numbers":          {Differs: "numbers"},
		"new passage":      {New: &[2]int{3, 9}},
		"the texts differ": {Confirm: &Confirm{}, New: &[2]int{3, 9}},
		"gone":             {Confirm: &Confirm{Why: "gone"}},
		"other text":       {Confirm: &Confirm{OK: true}},
	} {
		if got := l.Refusal(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
