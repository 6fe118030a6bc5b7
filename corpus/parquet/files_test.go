package parquet_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/parquet"
	"github.com/firstseen/firstseen/internal/testing/corpustest"
)

// wanted is a row of the files in testdata, which bench/parquet/fixtures.py writes.
type wanted struct {
	N    int     `json:"n"`
	ID   *string `json:"id"`
	Text *string `json:"text"`
}

func wantedRows(t testing.TB) (rows []wanted) {
	t.Helper()
	data, err := os.ReadFile("testdata/want.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		var w wanted
		if err := dec.Decode(&w); err == io.EOF {
			return rows
		} else if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, w)
	}
}

func fixtures(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	return files
}

// read returns a line for each record of a file.
func read(f parquet.Format, path string, cfg corpus.SourceConfig) (lines []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	err = corpustest.Each(f, []input.Input{{Path: path, Name: "f", Size: info.Size()}}, cfg, func(_ *corpus.Block, doc *corpus.Document) {
		if doc.Bad != nil {
			lines = append(lines, fmt.Sprintf("%v bad %s", doc.At, doc.Bad.Reason))
		} else {
			lines = append(lines, fmt.Sprintf("%v %s %q", doc.At, doc.ID, doc.Text))
		}
	})
	return lines, err
}

// TestFiles reads the same documents from files of three writers, in blocks of any size. They cover
// all codecs, both page versions, dictionaries, deltas, row groups, nulls and nested columns.
func TestFiles(t *testing.T) {
	want := wantedRows(t)
	for _, path := range fixtures(t) {
		var first []string
		for _, size := range []int{1 << 20, 1, 100, 777} {
			for _, rows := range []bool{false, true} {
				got, err := read(parquet.Format{Rows: rows}, path, corpus.SourceConfig{BlockSize: size})
				if err != nil {
					t.Fatalf("%s: %v", path, err)
				}
				if first == nil {
					first = got
				}
				if strings.Join(got, "\n") != strings.Join(first, "\n") {
					t.Errorf("%s: with blocks of %d, rows %v, it has\n%s\nnot\n%s", path, size, rows, strings.Join(got, "\n"), strings.Join(first, "\n"))
				}
			}
		}
		if len(first) != len(want) {
			t.Fatalf("%s: %d rows, want %d", path, len(first), len(want))
		}
		for i, w := range want {
			at, rest, _ := strings.Cut(first[i], " ")
			id := "f:" + at
			if w.ID != nil {
				id = *w.ID
			}
			line := "bad the text is null"
			if w.Text != nil {
				line = fmt.Sprintf("%s %q", id, *w.Text)
			}
			if rest != line {
				t.Errorf("%s: row %d is %s, want %s", path, i, rest, line)
			}
		}
	}
}

// TestColumns checks that text and id may be any suitable column. Errors list the columns.
func TestColumns(t *testing.T) {
	const path = "testdata/pyarrow-zstd-crc.parquet"
	for _, c := range []struct {
		format parquet.Format
		want   string // of the third row, or the error
	}{
		{parquet.Format{ID: "meta.url"}, `3 http://e/2 "Row 2`},
		{parquet.Format{ID: "n"}, `3 2 "Row 2`},
		{parquet.Format{ID: "u"}, `3 9223372036854775810 "Row 2`},
		{parquet.Format{Text: "meta.url"}, `3 id2 "http://e/2"`},
		{parquet.Format{Text: "id", ID: "id"}, `3 id2 "id2"`},
		{parquet.Format{Text: "meta.url,id", ID: "n"}, `3 2 "http://e/2\nid2"`},
		{parquet.Format{Text: "meta.url,id", ID: "id", Rows: true}, `3 id2 "http://e/2\nid2"`},
		{parquet.Format{Text: "id,body"}, `error: reading f: it has no column "body"; name one with --text-field: it has n, meta.url, meta.tags.list.element, text, id, emb.list.element, b, u`},
		{parquet.Format{Text: "body"}, `error: reading f: it has no column "body"; name one with --text-field: it has n, meta.url, meta.tags.list.element, text, id, emb.list.element, b, u`},
		{parquet.Format{Text: "n"}, `error: reading f: column "n" holds no text, but numbers`},
		{parquet.Format{ID: "b"}, `error: reading f: column "b" holds no id, but booleans`},
		{parquet.Format{ID: "emb.list.element"}, `error: reading f: column "emb.list.element" holds no id, but lists`},
	} {
		lines, err := read(c.format, path, corpus.SourceConfig{})
		got := "error: " + fmt.Sprint(err)
		if err == nil {
			got = lines[2]
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %s, want %s", c.format, got, c.want)
		}
	}
}

// TestLongRows checks that a row above the limit is a bad record, and that later rows are read.
func TestLongRows(t *testing.T) {
	for _, path := range fixtures(t) {
		lines, err := read(parquet.Format{}, path, corpus.SourceConfig{MaxRecord: 60, BlockSize: 50})
		long := 0
		for _, line := range lines {
			if strings.Contains(line, "bad the row is longer than the limit of 60 bytes") {
				long++
			}
		}
		if err != nil || len(lines) != len(wantedRows(t)) || long < 10 || long > 18 {
			t.Errorf("%s: %d rows, %d of them long: %v", path, len(lines), long, err)
		}
	}
}

// write copies all rows of a file to another, in frames that end after the rows that cut selects.
func write(t *testing.T, f parquet.Format, from, to string, cut func(row int) bool) {
	t.Helper()
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	inputs := []input.Input{{Path: from, Name: "f", Size: info.Size()}}
	e, err := f.Enclose(inputs, false)
	if err != nil {
		t.Fatal(err)
	}
	open := func(at output.Mark) *output.Writer {
		w, err := output.OpenAt(to, at)
		if err == nil {
			err = w.Enclose(e)
		}
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := open(output.Mark{})
	s := corpus.NewSource(inputs, f, corpus.SourceConfig{BlockSize: 200})
	defer s.Close()
	row := 0
	for {
		var b corpus.Block
		if err := s.Next(t.Context(), &b); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, span := range b.Spans {
			if err := f.Keep(w, b.Data[span.Start:span.End]); err != nil {
				t.Fatal(err)
			}
			row++
			if cut(row) {
				at, err := w.Sync()
				if err != nil {
					t.Fatal(err)
				}
				// A kill loses the rows after the mark.
				if err := f.Keep(w, b.Data[span.Start:span.End]); err != nil {
					t.Fatal(err)
				}
				if err := w.Abort(); err != nil {
					t.Fatal(err)
				}
				w = open(at)
			}
		}
		b.Release()
	}
	if _, err := w.Seal(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestWrittenAgain checks that an output has the rows, schema and metadata of its input, even if
// writing was stopped and resumed. A copy of the output has the same bytes.
func TestWrittenAgain(t *testing.T) {
	f := parquet.Format{Rows: true}
	for _, path := range fixtures(t) {
		dir := t.TempDir()
		once, twice, cut := filepath.Join(dir, "a.parquet"), filepath.Join(dir, "b.parquet"), filepath.Join(dir, "c.parquet")
		never := func(int) bool { return false }
		write(t, f, path, once, never)
		write(t, f, once, twice, never)
		write(t, f, path, cut, func(row int) bool { return row%7 == 3 })
		a, errA := os.ReadFile(once)
		b, errB := os.ReadFile(twice)
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: written a second time it is another: %d bytes and %d, %v %v", path, len(a), len(b), errA, errB)
		}
		want, err := parquet.Dump(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{once, cut} {
			got, err := parquet.Dump(name)
			if err != nil || got != want {
				t.Errorf("%s: written it holds\n%s\nnot\n%s\n%v", path, got, want, err)
			}
		}
	}
}

// TestOldDictionary reads a file of parquet-mr 1.2.8, such as nation.dict-malformed.parquet of
// parquet-testing: the length of its column lacks the header of the dictionary.
func TestOldDictionary(t *testing.T) {
	word := []byte("\x05\x00\x00\x00words")
	old := parquet.Bomb{Dict: word, Page: []byte{1, 6, 0}, Encoding: parquet.Dict, Entries: 3, Rows: 3, Values: 3, Old: true}
	path := filepath.Join(t.TempDir(), "old.parquet")
	if err := os.WriteFile(path, old.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	lines, err := read(parquet.Format{}, path, corpus.SourceConfig{})
	if want := `1 f:1 "words"|2 f:2 "words"|3 f:3 "words"`; err != nil || strings.Join(lines, "|") != want {
		t.Errorf("%q, %v, want %s", lines, err, want)
	}
}

// TestNoTexts reads shards of pyarrow and pandas without rows, whose columns have any type, and with
// nulls alone. Each may stand beside others, also if all rows are written to one file.
func TestNoTexts(t *testing.T) {
	for file, want := range map[string]string{
		"pyarrow-nulls": `1 bad the text is null|2 bad the text is null`,
		"pandas-norows": ``, "pandas-nothing": ``, "pyarrow-null-norows": ``,
		"pyarrow-null-ids": `1 f:1 "first text"|2 f:2 "second text"`,
	} {
		path := "testdata/empty/" + file + ".parquet"
		for _, f := range []parquet.Format{{}, {ID: "id"}, {Rows: true}} {
			lines, err := read(f, path, corpus.SourceConfig{})
			if err != nil || strings.Join(lines, "|") != want {
				t.Errorf("%s, %+v: %q, %v, want %s", file, f, lines, err, want)
			}
		}
		if strings.Contains(want, "second") {
			continue
		}
		var inputs []input.Input
		for _, path := range []string{path, "testdata/duckdb-zstd.parquet", path} {
			inputs = append(inputs, input.Input{Path: path, Name: path, Size: 1})
		}
		f := parquet.Format{Rows: true}
		if _, err := f.Enclose(inputs, false); err != nil {
			t.Error(file, err)
		}
		if _, err := f.Enclose(inputs, true); (err != nil) != (want != "") {
			t.Errorf("%s, every row answered: %v", file, err)
		}
	}
}

// TestEmptyGroup reads an empty table, which pyarrow writes as a row group without rows.
func TestEmptyGroup(t *testing.T) {
	lines, err := read(parquet.Format{Rows: true}, "testdata/empty/pyarrow-empty-group.parquet", corpus.SourceConfig{})
	if err != nil || len(lines) != 0 {
		t.Errorf("%q, %v", lines, err)
	}
}
