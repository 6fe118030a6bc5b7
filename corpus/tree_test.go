package corpus_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"

	"github.com/firstseen/firstseen/internal/testing/filetest"
)

// TestSourceFileGone removes a listed file before it is read, or replaces it with a directory.
func TestSourceFileGone(t *testing.T) {
	filetest.Chdir(t, "a.jsonl", "b.jsonl")
	inputs, _, err := input.Expand([]string{"a.jsonl", "b.jsonl"}, endings)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove("a.jsonl"); err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(t, inputs, SourceConfig{}, jsonl.Fields{}); err == nil || !strings.Contains(err.Error(), "a.jsonl") {
		t.Errorf("missing: %v", err)
	}
	if err := os.Mkdir("a.jsonl", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(t, inputs, SourceConfig{}, jsonl.Fields{}); err == nil || !strings.Contains(err.Error(), "a.jsonl") {
		t.Errorf("directory: %v", err)
	}
}

// TestTree reads the files of testdata/tree with several chunk sizes.
func TestTree(t *testing.T) {
	inputs, _, err := input.Expand([]string{filepath.Join("testdata", "tree")}, endings)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, chunk := range []int{0, 1, 17, 64} {
		records, err := readAll(t, inputs, SourceConfig{BlockSize: chunk}, jsonl.Fields{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range records {
			got = append(got, r.ID+" "+r.Text)
		}
		if want == nil {
			want = []string{
				"1 plain one", "2 plain two", "3 gzip member one", "4 gzip member two", "5 zstd frame one", "6 zstd frame two",
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}
