package explain

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

func FuzzReadLine(f *testing.F) {
	f.Add("{\"id\":\"b\",\"of\":\"a\",\"file\":\"in.jsonl\",\"line\":[3,7]}\n", 1)
	f.Add("{\"of\":null,\"why\":\"x\",\"file\":\"in\",\"line\":1}", 1)
	f.Fuzz(func(t *testing.T, text string, number int) {
		name := filepath.Join(t.TempDir(), "report")
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		l, err := ReadLine(t.Context(), name, number)
		if err == nil && (l.Of == nil || l.File == "") {
			t.Fatalf("a line without its documents: %+v", l)
		}
		if err != nil && !strings.Contains(err.Error(), name) {
			t.Fatalf("an error that does not name the report: %v", err)
		}
	})
}

// TestFind checks that the later document is the one at the place, and the earlier one the first
// other document with its id.
func TestFind(t *testing.T) {
	docs := []struct{ id, text string }{{"a", "first"}, {"x", "other"}, {"a", "second"}, {"b", "copy"}, {"b", "later"}}
	records := func(yield func(corpus.Record, error) bool) {
		for i, d := range docs {
			doc := &corpus.Document{ID: []byte(d.id), Text: []byte(d.text), At: corpus.Place{Record: int64(i + 1)}}
			if !yield(corpus.Record{Document: doc, Block: &corpus.Block{File: "in"}}, nil) {
				return
			}
		}
	}
	for _, c := range []struct {
		id, of         string
		file           string
		line           int64
		earlier, later string
		others         bool
	}{
		{"b", "a", "in", 4, "first", "copy", true},
		{"x", "a", "in", 2, "first", "other", false},
		{"a", "a", "in", 3, "first", "second", false},
		{"b", "b", "in", 5, "copy", "later", false},
		{"b", "a", "in", 3, "", "", false},
		{"b", "a", "else", 4, "", "", false},
		{"b", "q", "in", 4, "", "", false},
	} {
		l := lines.Line{ID: c.id, Of: &c.of, File: c.file, Line: corpus.Place{Record: c.line}}
		docs, others, err := Find(&l, records)
		if (err != nil) != (c.later == "") || err != nil && !errors.Is(err, errNotThere) {
			t.Errorf("%+v: %v", c, err)
		}
		if err == nil && (docs[0].Text != c.earlier || docs[1].Text != c.later || others != c.others) {
			t.Errorf("%+v: %q, %q, others %v", c, docs[0].Text, docs[1].Text, others)
		}
	}
}

// TestUnmeasuredShare checks that a share that took too long to measure is a dash.
func TestUnmeasuredShare(t *testing.T) {
	half := .5
	if none, known := share((*float64)(nil)), share(&half); none != "     -" || known != "0.5000" {
		t.Errorf("%q, %q", none, known)
	}
}
