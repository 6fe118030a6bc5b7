package confirm

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/passages"
	"github.com/firstseen/firstseen/internal/base/fields"
)

var withPassages = feature.Scheme{Passages: 50}

// sketchOf returns the sketch of a text, and its record at a place.
func sketchOf(t *testing.T, text string, p Place) (*feature.Sketch, dedup.Record) {
	t.Helper()
	m, err := withPassages.New()
	if err != nil {
		t.Fatal(err)
	}
	var s feature.Sketch
	m.NewExtractor().Extract(&s, []byte(text))
	j := m.NewJudge(method.Rules{Threshold: 0.6})
	j.Load(&s)
	return &s, dedup.Record{Added: passages.AppendField(p.Append(nil), s.PickList), Sketch: j.Record(nil)}
}

// numbered returns a text of n words in sentences of ten, which begin with a prefix.
func numbered(prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s%d%s", prefix, i, []string{" ", ". "}[i%10/9])
	}
	return strings.TrimRight(b.String(), ". ")
}

// earlier is a file of documents that are candidates.
type earlier struct {
	name       string
	texts      []string
	candidates []dedup.PassageCandidate
}

// stored writes a file of documents with the ids t0, t1 and so on. They have the numbers 3, 6 and so on.
func stored(t *testing.T, texts ...string) *earlier {
	e := &earlier{name: write(t, "in.jsonl", nil), texts: texts}
	for i, text := range texts {
		_, record := sketchOf(t, text, Place{File: e.name, At: corpus.Place{Record: int64(i + 1)}})
		e.candidates = append(e.candidates, dedup.PassageCandidate{Num: uint32(3*i + 3), ID: fmt.Append(nil, "t", i), Record: record, Single: true})
	}
	e.save(t)
	return e
}

func (e *earlier) save(t *testing.T) {
	t.Helper()
	var lines []byte
	for i, text := range e.texts {
		line, _ := json.Marshal(map[string]string{"id": fmt.Sprint("t", i), "text": text})
		lines = append(append(lines, line...), '\n')
	}
	if err := os.WriteFile(e.name, lines, 0o666); err != nil {
		t.Fatal(err)
	}
}

// find returns the result of the last of some pages, from new Inputs. The first one has all
// candidates, the others none.
func (e *earlier) find(t *testing.T, pages ...string) (r dedup.Result) {
	t.Helper()
	in := NewInputs(t.Context(), input.NewFinder(nil, compress.Bounds{}).Find, func(i input.Input) *corpus.Source { return sourceOf(i) })
	defer in.Close()
	reader, err := New(withPassages, in)
	if err != nil {
		t.Fatal(err)
	}
	candidates, all := e.candidates, NewPassages(reader, 50)
	for _, page := range pages {
		sketch, _ := sketchOf(t, page, Place{})
		r = dedup.Result{}
		if err := all.Find(&dedup.Document{ID: "page", Text: []byte(page), Sketch: sketch}, candidates, &r); err != nil {
			t.Fatal(err)
		}
		candidates = nil
	}
	return r
}

// TestPassages checks that a passage has the id of its document and its place there, and that the
// counts of the text are whole.
func TestPassages(t *testing.T) {
	a, b, own := numbered("a", 100), numbered("b", 70), numbered("own", 60)
	x := numbered("x", 10) + ". "
	e := stored(t, x+a, numbered("y", 90), b+". "+numbered("z", 10))
	page := a + ". " + own + ". " + b
	want := dedup.Result{
		Passages: []passages.Passage{
			{Start: 0, End: len(a), Document: 3, Of: "t0", OfStart: len(x), OfEnd: len(x + a), Units: 100},
			{Start: len(page) - len(b), End: len(page), Document: 9, Of: "t2", OfStart: 0, OfEnd: len(b), Units: 70},
		},
		PassageUnits: 230, Covered: 170, Left: 60,
	}
	if diff := cmp.Diff(want, e.find(t, page)); diff != "" {
		t.Error(diff)
	}
	if r := e.find(t, a+". "+numbered("own", 9)); !r.Consumed || r.Left != 9 {
		t.Errorf("with nine words left: %+v", r)
	}
	if r := e.find(t, a, a); r.Passages != nil || r.Covered != 0 {
		t.Errorf("without candidates: %+v", r)
	}
	if r := e.find(t, "so "+a); r.Covered != 100 || r.Left != 11 {
		t.Errorf("with a first segment of its own: %+v", r)
	}
	if r := e.find(t, own); r.Passages != nil || r.PassageUnits != 60 || r.Consumed {
		t.Errorf("without a passage: %+v", r)
	}
}

// TestPassagesOfASinglePick checks that one common pick is worth a reading only where the candidate says so.
func TestPassagesOfASinglePick(t *testing.T) {
	a := numbered("a", 51)
	e := stored(t, numbered("x", 200)+". "+a+". "+numbered("y", 200))
	page := numbered("p", 200) + ". " + a + ". " + numbered("q", 200)
	r := e.find(t, page)
	if len(r.Passages) != 1 || r.Passages[0].Units != 51 {
		t.Fatalf("%+v", r.Passages)
	}
	e.candidates[0].Single = false
	if r := e.find(t, page); len(r.Passages) != 0 {
		t.Errorf("not worth a reading: %+v", r.Passages)
	}
}

// TestPassagesOfChangedTexts checks that a passage is inner if its text is gone, or other words stand
// there. It has its place if others than its own words have changed.
func TestPassagesOfChangedTexts(t *testing.T) {
	a := numbered("a", 300)
	for name, c := range map[string]struct {
		change func(e *earlier)
		inner  bool
	}{
		"none":              {func(*earlier) {}, false},
		"of its words":      {func(e *earlier) { e.texts[0] = strings.Replace(a, "a150 ", "other ", 1) }, true},
		"of another's":      {func(e *earlier) { e.texts[1] = "other" }, false},
		"another id":        {func(e *earlier) { slices.Reverse(e.texts) }, true},
		"another candidate": {func(e *earlier) { e.candidates[0].ID = []byte("t1") }, true},
		"no place": {func(e *earlier) {
			sketch, _ := sketchOf(t, a, Place{})
			e.candidates[0].Record.Added = passages.AppendField(nil, sketch.PickList)
		}, true},
	} {
		e := stored(t, a, numbered("b", 60))
		c.change(e)
		e.save(t)
		r := e.find(t, a)
		if len(r.Passages) == 0 || r.Passages[0].Inner != c.inner || r.Passages[0].Of != string(e.candidates[0].ID) {
			t.Errorf("%s: %+v", name, r.Passages)
		}
	}
	e := stored(t, a)
	if err := os.Remove(e.name); err != nil {
		t.Fatal(err)
	}
	if r := e.find(t, a); len(r.Passages) != 1 || !r.Passages[0].Inner || r.Passages[0].Units < 220 || r.Passages[0].OfEnd != 0 {
		t.Errorf("of an input that is gone: %+v", r.Passages)
	}
}

// TestChainsThatOnlySeem checks that a text is believed by its record if a chain in its list is not in it: two
// runs of words can have one hash.
func TestChainsThatOnlySeem(t *testing.T) {
	a := numbered("a", 300)
	long := "abcdefgh%dijklmnop" // a hash of a word takes its length, and eight bytes at both ends
	first := a + ". " + fmt.Sprintf(long, 1) + " " + numbered("b", 100)
	second := a + ". " + fmt.Sprintf(long, 2) + " " + numbered("b", 100)
	e := stored(t, first)
	r := e.find(t, second)
	if len(r.Passages) != 2 || r.Passages[0].Inner || r.Passages[1].Inner {
		t.Errorf("%+v", r.Passages)
	}
}

// TestDamagedPlacesEndTheRun checks that a record that cannot be read is an error, not a text that is gone.
func TestDamagedPlacesEndTheRun(t *testing.T) {
	a := numbered("a", 100)
	e := stored(t, a)
	in := NewInputs(t.Context(), input.NewFinder(nil, compress.Bounds{}).Find, func(i input.Input) *corpus.Source { return sourceOf(i) })
	defer in.Close()
	reader, err := New(withPassages, in)
	if err != nil {
		t.Fatal(err)
	}
	sketch, _ := sketchOf(t, a, Place{})
	for name, added := range map[string][]byte{
		"fields": {9, 200},
		"place":  passages.AppendField(fields.Append(nil, Tag, []byte{1}), sketch.PickList),
	} {
		var r dedup.Result
		e.candidates[0].Record.Added = added
		if err := NewPassages(reader, 50).Find(&dedup.Document{Text: []byte(a), Sketch: sketch}, e.candidates, &r); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestTextsJustKept checks that a text is not read again soon after it was kept, but one with
// another id or place is, and one too long to wait for that.
func TestTextsJustKept(t *testing.T) {
	quote := numbered("q", 80)
	for name, c := range map[string]struct {
		text, id string
		record   int64
		inner    bool
	}{
		"kept":           {text: quote, id: "first", record: 1},
		"other id":       {text: quote, id: "second", record: 1, inner: true},
		"other place":    {text: quote, id: "first", record: 2, inner: true},
		"too long a one": {text: quote + ". " + strings.Repeat("long ", keptText/5), id: "first", record: 1, inner: true},
	} {
		in := NewInputs(t.Context(), input.NewFinder(nil, compress.Bounds{}).Find, func(i input.Input) *corpus.Source { return sourceOf(i) })
		defer in.Close()
		reader, err := New(withPassages, in)
		if err != nil {
			t.Fatal(err)
		}
		all, gone := NewPassages(reader, 50), filepath.Join(t.TempDir(), "gone.jsonl")
		sketch, record := sketchOf(t, c.text, Place{File: gone, At: corpus.Place{Record: 1}})
		var r dedup.Result
		if err := all.Find(&dedup.Document{ID: "first", Text: []byte(c.text), Added: record.Added, Sketch: sketch}, nil, &r); err != nil {
			t.Fatal(err)
		}
		_, record = sketchOf(t, c.text, Place{File: gone, At: corpus.Place{Record: c.record}})
		candidates := []dedup.PassageCandidate{{Num: 1, ID: []byte(c.id), Record: record, Single: true}}
		page, _ := sketchOf(t, quote, Place{})
		if err := all.Find(&dedup.Document{ID: "page", Text: []byte(quote), Sketch: page}, candidates, &r); err != nil {
			t.Fatal(err)
		}
		if len(r.Passages) != 1 || r.Passages[0].Inner != c.inner || r.Passages[0].Of != c.id {
			t.Errorf("%s: %+v", name, r.Passages)
		}
	}
}
