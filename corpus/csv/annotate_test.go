package csv_test

import (
	"bytes"
	stdcsv "encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/csv"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/testing/corpustest"
)

// annotated writes a table with value as the verdict of each good row.
func annotated(t interface{ Fatal(...any) }, dir, table, value string) string {
	f := csv.Format{Annotated: true}
	parser, err := f.NewParser("firstseen")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "out.csv")
	w, err := output.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	err = corpustest.Each(f, corpustest.Stdin, corpus.SourceConfig{Stdin: strings.NewReader(table)}, func(b *corpus.Block, doc *corpus.Document) {
		if err := w.Lead(headOf(b.Frames)); err != nil {
			t.Fatal(err)
		}
		if doc.Bad != nil {
			err = f.Answer(w, nil, "firstseen", []byte(`{"verdict":"bad"}`))
		} else {
			again := corpus.Block{Data: doc.Raw, Spans: []corpus.Span{{End: len(doc.Raw)}}, Frames: b.Frames}
			for d := range parser.Parse(&again) {
				err = f.Annotate(w, d.Raw, d.Slot, []byte(value))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestAnnotated compares annotated tables, with any delimiter and line end, with encoding/csv. All
// rows gain three fields and are otherwise unchanged.
func TestAnnotated(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.SampledFrom([]string{"", "a", "第一", `"`, "x\ny", ",", ";", "\t", " ", "a|b"})
		delimiter := rapid.SampledFrom([]rune(",;\t|")).Draw(t, "delimiter")
		rows := [][]string{{"id", "text", "other\nnote"}}
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			rows = append(rows, []string{cell.Draw(t, "id"), "t" + cell.Draw(t, "text"), cell.Draw(t, "other")})
		}
		var b bytes.Buffer
		w := stdcsv.NewWriter(&b)
		w.Comma, w.UseCRLF = delimiter, rapid.Bool().Draw(t, "crlf")
		if err := w.WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		table := b.String()
		if rapid.Bool().Draw(t, "open") && len(rows) > 1 {
			table = strings.TrimRight(table, "\r\n")
		}
		of := cell.Draw(t, "of")
		value, err := json.Marshal(map[string]any{"verdict": "duplicate", "of": of, "score": 0.9722})
		if err != nil {
			t.Fatal(err)
		}
		out := annotated(t, dir, table, string(value))
		if len(rows) == 1 {
			return // without a record, the run itself writes the first row
		}
		r := stdcsv.NewReader(strings.NewReader(out))
		r.Comma = delimiter
		got, err := r.ReadAll()
		if err != nil {
			t.Fatalf("%q of %q: %v", out, table, err)
		}
		for i, row := range rows {
			want := append(slices.Clone(row), "duplicate", of, "0.9722")
			if i == 0 {
				want = append(slices.Clone(row), "firstseen_verdict", "firstseen_of", "firstseen_score")
			}
			if i >= len(got) || !slices.Equal(got[i], want) {
				t.Fatalf("%q of %q: row %d is %q, want %q", out, table, i, got[i:], want)
			}
		}
	})
}

// TestAnswered checks that a bad row is replaced by one of empty fields.
func TestAnswered(t *testing.T) {
	for table, want := range map[string]string{
		"id,text\n1,a\nx\n":                 "id,text,firstseen_verdict,firstseen_of,firstseen_score\n1,a,unique,,\n,,bad,,\n",
		"\xef\xbb\xbf\n\"a;b\";text\r\nx\r": "\xef\xbb\xbf\n\"a;b\";text;firstseen_verdict;firstseen_of;firstseen_score\r\n;;bad;;\n",
		"text\na\r":                         "text,firstseen_verdict,firstseen_of,firstseen_score\na,unique,,\r\n",
		"id,body\n1,a\n":                    "",
		"text,firstseen_of\na,b\n":          "",
	} {
		if got := annotated(t, t.TempDir(), table, `{"verdict":"unique"}`); got != want {
			t.Errorf("%q: %q, want %q", table, got, want)
		}
	}
	got, err := read(csv.Format{Annotated: true}, strings.NewReader("text,firstseen_of\na,b\n"), corpus.SourceConfig{})
	if err != nil || len(got) != 1 || !strings.Contains(got[0], "it already has a column firstseen_of: it was annotated before") {
		t.Errorf("%q, %v", got, err)
	}
}

func headOf(frames corpus.Frames) []byte {
	head, _ := frames.Head()
	return head
}
