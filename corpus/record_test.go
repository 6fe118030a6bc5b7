package corpus_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	. "github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestOddities reads awkward lines. A golden file holds their documents and reasons.
func TestOddities(t *testing.T) {
	inputs := []input.Input{{Path: filepath.Join("testdata", "oddities.jsonl"), Name: "oddities.jsonl"}}
	golden := filepath.Join("testdata", "oddities.golden")
	for _, chunk := range []int{0, 1, 100} {
		records, err := readAll(t, inputs, SourceConfig{BlockSize: chunk, MaxRecord: 400}, jsonl.Fields{})
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		for _, r := range records {
			if r.Reason != "" {
				got = (&BadRecord{File: r.File, At: Place{Record: r.Line}, Reason: r.Reason, Raw: []byte(r.Raw)}).AppendJSON(got)
			} else {
				got = append(AppendString(append(got, "document "...), []byte(r.ID)), ' ')
				got = AppendString(got, []byte(r.Text))
			}
			got = append(got, '\n')
		}
		if *update {
			if err := os.WriteFile(golden, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestBadRecordJSON(t *testing.T) {
	for _, test := range []struct{ raw, want string }{
		{"plain \"quoted\" \\ \x00\t\n\r\x7f\u2028", "plain \"quoted\" \\ \x00\t\n\r\x7f\u2028"},
		{"bad \xff\xfe\xed\xa0\x80", "bad \ufffd\ufffd\ufffd\ufffd\ufffd"},
		{strings.Repeat("世", 400), strings.Repeat("世", 341)},
		{strings.Repeat("\x80", 2000), strings.Repeat("\ufffd", 1024)},
	} {
		bad := BadRecord{File: "dir/\"f\"\xff.jsonl", At: Place{Record: 7}, Reason: "why", Raw: []byte(test.raw)}
		line := bad.AppendJSON(nil)
		var got struct {
			File, Reason, Raw string
			Line              int64
		}
		if err := json.Unmarshal(line, &got); err != nil || !utf8.Valid(line) {
			t.Fatalf("%q: %v", line, err)
		}
		if got.File != "dir/\"f\"\ufffd.jsonl" || got.Line != 7 || got.Reason != "why" || got.Raw != test.want {
			t.Errorf("%+v", got)
		}
	}
}

func TestBadRecordError(t *testing.T) {
	var err error = &BadRecord{File: "a.jsonl", At: Place{Record: 3}, Reason: "it is odd"}
	if err.Error() != "a.jsonl:3: it is odd" {
		t.Error(err)
	}
}

func FuzzBadRecordJSON(f *testing.F) {
	f.Add("a.jsonl", []byte("raw \xff\u2028"))
	f.Fuzz(func(t *testing.T, file string, raw []byte) {
		line := (&BadRecord{File: file, Raw: raw}).AppendJSON(nil)
		var got struct{ File, Raw string }
		if err := json.Unmarshal(line, &got); err != nil || !utf8.Valid(line) {
			t.Fatalf("%q: %v", line, err)
		}
		if want := strings.ToValidUTF8(file, ""); strings.ReplaceAll(got.File, "\ufffd", "") != strings.ReplaceAll(want, "\ufffd", "") {
			t.Fatalf("file %q became %q", file, got.File)
		}
	})
}
