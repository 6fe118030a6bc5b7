package jsonl

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
)

// TestCutter compares cuts with bytes.SplitAfter.
func TestCutter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		data := []byte(rapid.StringOfN(rapid.SampledFrom([]rune("ab \t\r\n\n")), 0, 60, -1).Draw(rt, "data"))
		from := rapid.IntRange(0, len(data)).Draw(rt, "from")
		b, n, doc := corpus.BlockOf("f", 7, data, Format{}), 0, corpus.Document{}
		b.All = true
		lines := bytes.SplitAfter(data, newline)
		for range b.Documents(&doc, func() error { return nil }) {
			if want := bytes.TrimSuffix(lines[n], newline); !bytes.Equal(doc.Raw, want) || doc.At.Record != int64(7+n) {
				rt.Errorf("%q: record %v is %q, want %q", data, doc.At, doc.Raw, want)
			}
			n++
		}
		if whole := slices.DeleteFunc(lines, func(line []byte) bool { return len(line) == 0 }); n != len(whole) {
			rt.Errorf("%q has %d records, want %d", data, n, len(whole))
		}
		want := -1
		if line, _, found := strings.Cut(string(data[from:]), "\n"); found {
			want = from + len(line) + 1
		}
		if got := (cutter{}).End(data, from); got != want {
			rt.Errorf("%q from %d: end at %d, want %d", data, from, got, want)
		}
		line, _, _ := strings.Cut(string(data), "\n")
		for _, end := range []string{"", "\n"} {
			raw, empty := cutter{}.Strip([]byte(line + end))
			if string(raw) != line || empty != (strings.Trim(line, " \t\r") == "") {
				rt.Errorf("%q: %q, empty %v", line+end, raw, empty)
			}
		}
	})
}

func TestBegin(t *testing.T) {
	for head, want := range map[string]int{"": 0, "{": 0, "{\"a": 0, "\xef\xbb\xbf": 3, "\xef\xbb\xbf{": 3, "\xff\xfe{": -1, "\xfe\xff": -1, "{\x00\"": -1, "\x00{": -1} {
		passed, reject := cutter{}.Begin([]byte(head))
		if reject != "" {
			passed = -1
		}
		if passed != want {
			t.Errorf("%q: %d bytes passed over (%s), want %d", head, passed, reject, want)
		}
	}
}

// TestPrinter writes lines by Keep, Answer and Annotate, and compares the whole output.
func TestPrinter(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out.jsonl")
	w, err := output.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	var f corpus.Format = Format{}
	parser, err := f.NewParser("verdict")
	if err != nil {
		t.Fatal(err)
	}
	data := "{\"text\":\"a\"} \n\n{\"text\":\"b\",\"verdict\":1}\n{\"text\":\"c\"}"
	for doc := range parser.Parse(corpus.BlockOf("f", 1, []byte(data), f)) {
		switch {
		case doc.Empty:
			err = f.Keep(w, nil)
		case doc.Bad != nil:
			err = f.Answer(w, nil, "verdict", []byte(`"bad"`))
			if want := `f:3: cannot be annotated: adding field "verdict": the line already has a field "verdict"`; doc.Bad.Error() != want {
				t.Errorf("%v, want %s", doc.Bad, want)
			}
		case doc.At.Record == 1:
			err = f.Annotate(w, doc.Raw, doc.Slot, []byte(`{"kept":true}`))
		default:
			err = f.Keep(w, doc.Raw)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(name)
	if want := "{\"text\":\"a\",\"verdict\":{\"kept\":true}} \n\n{\"verdict\":\"bad\"}\n{\"text\":\"c\"}\n"; err != nil || string(got) != want {
		t.Errorf("got %s, want %s, %v", got, want, err)
	}
	if f.Noun() != "line" || f.Endings()[0] != ".jsonl" {
		t.Error(f.Noun(), f.Endings())
	}
}
