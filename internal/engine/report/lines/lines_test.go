package lines

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/internal/engine/report"
)

func read(t *testing.T, content string) (found []Line, err error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "report")
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := Open([]string{name}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for l, err := range r.All(context.Background()) {
		if err != nil {
			return found, err
		}
		found = append(found, *l)
	}
	return found, nil
}

// TestLines reads written report lines. Anything else is refused with its place.
func TestLines(t *testing.T) {
	of := "b"
	written, err := report.AppendJSON(nil, report.Reported{ID: "a", Verdict: "related", Kept: true, Of: &of, Score: 0.5, Spans: [][2]int{{1, 2}}})
	if err != nil {
		t.Fatal(err)
	}
	found, err := read(t, string(written)+"\n\n"+string(written))
	if err != nil || len(found) != 2 {
		t.Fatalf("%d lines, %v", len(found), err)
	}
	if l := found[1]; l.ID != "a" || *l.Of != "b" || !l.Kept || l.Score != 0.5 || l.Spans[0] != [2]int{1, 2} {
		t.Errorf("%+v", l)
	}
	for content, want := range map[string]string{
		`{"id":"a"}`:                        "report:1: this is not a line of a report: it has no verdict",
		"\n" + `{"id":"a","verdict":"bad"}`: `report:2: this is not a line of a report: it has the unknown verdict "bad"`,
		`{"verdict":"unique","score":2}`:    "a share outside 0 to 1",
		`{"verdict":7}`:                     "this is not a line of a report",
		string(written) + "\n\n\n{}":        "report:4: this is not a line",
		"PAR1\x15\x04":                      "it is a Parquet file, which cannot be read: write its rows as JSON lines first",
		"\x00\x00\x00\x00":                  "this is not a line of a report",
	} {
		if _, err := read(t, content); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
}

// TestRowsOfParquet reads rows of a Parquet report from DuckDB, with the part beside the line.
func TestRowsOfParquet(t *testing.T) {
	for place, want := range map[string]string{`"part":3,"line":17`: "3:17", `"part":0,"line":17`: "17", `"line":[3,17]`: "3:17", `"line":17`: "17"} {
		found, err := read(t, `{"id":"a","verdict":"duplicate","why":null,"file":"f",`+place+"}")
		if err != nil || len(found) != 1 || found[0].Line.String() != want {
			t.Errorf("%s: %+v, %v, want %s", place, found, err, want)
		}
	}
}

// TestErrorIsTheLast checks that nothing is read after an invalid line.
func TestErrorIsTheLast(t *testing.T) {
	name := filepath.Join(t.TempDir(), "report")
	if err := os.WriteFile(name, []byte("{\"verdict\":\"unique\"}\n{}\n{\"verdict\":\"unique\"}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := Open([]string{name}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var errs []error
	for _, err := range r.All(context.Background()) {
		errs = append(errs, err)
	}
	if len(errs) != 2 || errs[0] != nil || errs[1] == nil {
		t.Errorf("%v", errs)
	}
}

// FuzzLine checks that each line is refused or has a verdict and a score from 0 to 1.
func FuzzLine(f *testing.F) {
	f.Add([]byte(`{"id":"a","verdict":"duplicate","kept":false,"of":"b","score":0.9,"also":[{"id":"c","shared":1}],"sample":["x"],"spans":[[0,3]],"file":"f","line":[3,4]}`))
	f.Add([]byte(`{"verdict":"mosaic","of":null,"line":1e9}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		l, end, err := parse("", raw)
		if err == nil && end == nil && (l.Verdict == "" || !(l.Score >= 0 && l.Score <= 1)) {
			t.Errorf("%q was taken: %+v", raw, l)
		}
	})
}

// TestReportIsWhole checks that lines of a shard need their count after them, in each file.
func TestReportIsWhole(t *testing.T) {
	const line = "{\"id\":\"a\",\"verdict\":\"unique\",\"shard\":2}\n"
	end := func(n int) string {
		return fmt.Sprintf("{\"end\":{\"lines\":%d,\"documents\":5,\"bad_records\":1,\"texts\":\"8000000000000001\"}}\n", n)
	}
	for _, c := range []struct {
		files     []string
		lines     int
		documents int64 // -1 for no counts
		whole     bool
	}{
		{[]string{""}, 0, -1, true},
		{[]string{strings.ReplaceAll(line, `,"shard":2`, "")}, 1, -1, true},
		{[]string{line + line + end(2)}, 2, 5, true},
		{[]string{end(0)}, 0, 5, true},
		{[]string{line + end(1) + line + line + end(2)}, 3, 10, true},
		{[]string{line + end(1), "", line + end(1)}, 2, 10, true},
		{[]string{strings.ReplaceAll(line, `,"shard":2`, ""), line + end(1)}, 2, 5, true},
		{[]string{line + line}, 2, -1, false},
		{[]string{line + end(2)}, 1, -1, false},
		{[]string{line + line + end(1)}, 2, -1, false},
		{[]string{end(1)}, 0, -1, false},
		{[]string{line, line + end(2)}, 1, -1, false},
		{[]string{line + end(1), line}, 2, 5, false},
		{[]string{line + end(1) + line}, 2, 5, false},
	} {
		var names []string
		for i, text := range c.files {
			names = append(names, filepath.Join(t.TempDir(), fmt.Sprint(i)))
			if err := os.WriteFile(names[i], []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Open(names, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // counts are those of one reading
			n := 0
			for _, err = range r.All(t.Context()) {
				if err == nil {
					n++
				}
			}
			documents := int64(-1)
			if r.End != nil {
				documents = r.End.Documents
			}
			if n != c.lines || documents != c.documents || (err == nil) != c.whole {
				t.Errorf("%q: %d lines, %d documents, %v", c.files, n, documents, err)
			}
		}
	}
}
