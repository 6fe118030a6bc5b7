package parquet_test

import (
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
)

// annotated answers all rows of a file under a limit of row size. It returns the output as lines
// with the column text and the row number n.
func annotated(t *testing.T, path, text string, limit int) []string {
	t.Helper()
	f := parquet.Format{Rows: true}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	inputs := []input.Input{{Path: path, Name: "f", Size: info.Size()}}
	e, err := f.Enclose(inputs, true)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "out.parquet")
	w, err := output.OpenAt(to, output.Mark{})
	if err == nil {
		err = w.Enclose(e)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := corpus.NewSource(inputs, f, corpus.SourceConfig{MaxRecord: limit})
	defer s.Close()
	for {
		var b corpus.Block
		if err := s.Next(t.Context(), &b); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, span := range b.Spans {
			verdict := `{"verdict":"kept"}`
			if span.Bad != "" {
				verdict = `{"verdict":"bad"}`
			}
			if err := f.Answer(w, b.Data[span.Start:span.End], "", []byte(verdict)); err != nil {
				t.Fatalf("%s: row %v: %v", path, span.At, err)
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
	lines, err := read(parquet.Format{Text: text, ID: "n"}, to, corpus.SourceConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestLongRowsAnswered answers a row above the limit in place, without the values that do not fit.
func TestLongRowsAnswered(t *testing.T) {
	for _, path := range fixtures(t) {
		whole := annotated(t, path, "text", 1<<20)
		for _, limit := range []int{16, 60, 100} {
			verdicts, texts := annotated(t, path, "firstseen_verdict", limit), annotated(t, path, "text", limit)
			bad, named := 0, 0
			for i, line := range verdicts {
				switch {
				case strings.HasSuffix(line, `"kept"`) && texts[i] != whole[i]:
					t.Errorf("%s, limit %d: %s is now %s", path, limit, whole[i], texts[i])
				case strings.HasSuffix(line, `"bad"`):
					bad++
				}
				blank := texts[i] != whole[i]
				if n := strings.Fields(line)[1]; n == fmt.Sprint(i) && blank {
					named++
				} else if n != fmt.Sprint(i) && !strings.HasPrefix(n, "f:") {
					t.Errorf("%s, limit %d: row %d is called %s", path, limit, i, n)
				}
			}
			if len(verdicts) != 20 || len(texts) != 20 || bad < 5 || limit == 60 && named < 2 {
				t.Errorf("%s, limit %d: %d verdicts, %d texts, %d bad, %d of them with all but the text", path, limit, len(verdicts), len(texts), bad, named)
			}
		}
	}
}
