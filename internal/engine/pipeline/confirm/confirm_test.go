package confirm

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/internal/base/fields"
	"github.com/firstseen/firstseen/internal/engine/compare/similarity"
)

// recordOf returns the stored record of a text at a place.
func recordOf(t *testing.T, text string, p Place) *dedup.Record {
	t.Helper()
	m, err := feature.Scheme{}.New()
	if err != nil {
		t.Fatal(err)
	}
	var s feature.Sketch
	m.NewExtractor().Extract(&s, []byte(text))
	j := m.NewJudge(method.Rules{Threshold: 0.6})
	j.Load(&s)
	return &dedup.Record{Added: p.Append(nil), Sketch: j.Record(nil)}
}

func TestConfirm(t *testing.T) {
	const earlier, later = "one two three four five six seven eight", "one two three four five six seven nine"
	name := write(t, "in.jsonl", []byte(`{"id":"a","text":"`+earlier+`"}`+"\n"+`{"id":"b","text":"other"}`+"\n"))
	place := Place{File: name, At: corpus.Place{Record: 1}}
	confirm := func(least float64, id string, record *dedup.Record) dedup.Confirmation {
		in := NewInputs(t.Context(), input.NewFinder(nil, compress.Bounds{}).Find, func(i input.Input) *corpus.Source { return sourceOf(i) })
		defer in.Close()
		f, err := New(feature.Scheme{}, in)
		if err != nil {
			t.Fatal(err)
		}
		f.Condition = similarity.Condition{Score: "lcs", Least: least}
		got, err := f.Confirm([]byte(later), []byte(id), record)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	record := recordOf(t, earlier, place)
	second := Place{File: name, At: corpus.Place{Record: 2}}
	for _, c := range []struct {
		what   string
		least  float64
		id     string
		record *dedup.Record
		want   dedup.Confirmation
	}{
		{"a copy", 0.875, "a", record, dedup.Confirmation{OK: true, Value: 0.875}},
		{"too little", 0.88, "a", record, dedup.Confirmation{Value: 0.875}},
		{"another id", 0.5, "c", record, dedup.Confirmation{Why: WhyChanged}},
		{"another text", 0.5, "b", recordOf(t, earlier, second), dedup.Confirmation{Why: WhyChanged}},
		{"no such place", 0.5, "a", recordOf(t, earlier, Place{File: name, At: corpus.Place{Record: 9}}), dedup.Confirmation{Why: WhyChanged}},
		{"a file that is gone", 0.5, "a", recordOf(t, earlier, Place{File: name + ".gone", At: place.At}), dedup.Confirmation{Why: WhyGone}},
		{"a directory", 0.5, "a", recordOf(t, earlier, Place{File: t.TempDir(), At: place.At}), dedup.Confirmation{Why: WhyRead}},
		{"no place", 0.5, "a", &dedup.Record{Sketch: record.Sketch}, dedup.Confirmation{Why: WhyNoPlace}},
	} {
		if got := confirm(c.least, c.id, c.record); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.what, got, c.want)
		}
	}
	// One changed character is enough, even at the same place.
	if err := os.WriteFile(name, []byte(`{"id":"a","text":"`+strings.Replace(earlier, "two", "twa", 1)+`"}`+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := confirm(0.5, "a", record); got.Why != WhyChanged {
		t.Errorf("of a file that has changed: %+v", got)
	}
}

func FuzzPlace(f *testing.F) {
	f.Add(Place{File: "in.jsonl", At: corpus.Place{Part: 7, Record: 300}}.Append(nil))
	f.Add([]byte{2, 3, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, added []byte) {
		p, ok, err := PlaceOf(&dedup.Record{Added: added})
		if err != nil || !ok {
			return
		}
		if p.File == "" || p.At.Part < 0 || p.At.Record < 0 {
			t.Fatalf("a place that can be none: %+v", p)
		}
		again, ok, err := PlaceOf(&dedup.Record{Added: p.Append(nil)})
		if len(p.File) <= maxFile && (again != p || !ok || err != nil) {
			t.Fatalf("%+v is read as %+v %v %v", p, again, ok, err)
		}
	})
}

func TestPlaceOfALongName(t *testing.T) {
	for n, want := range map[int]bool{1: true, maxFile: true, maxFile + 1: false} {
		added := Place{File: strings.Repeat("x", n), At: corpus.Place{Record: 1}}.Append(nil)
		if len(added) > 1024 || bytes.Contains(added, []byte("x")) != want {
			t.Errorf("a name of %d bytes makes %d", n, len(added))
		}
	}
}

// TestPlaceWithoutAFile checks that numbers without a file are no place.
func TestPlaceWithoutAFile(t *testing.T) {
	for value, ok := range map[string]bool{"\x00\x01f": true, "\x00\x01": false, "\x00": false, "": false, "\xff": false, "\x00\xff": false} {
		p, known, err := PlaceOf(&dedup.Record{Added: fields.Append(nil, Tag, []byte(value))})
		if known != ok || (err == nil) != ok || ok && p != (Place{File: "f", At: corpus.Place{Record: 1}}) {
			t.Errorf("%x: %+v, %v, %v", value, p, known, err)
		}
	}
}
