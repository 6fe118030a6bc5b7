package pipeline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/csv"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonarray"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestTable stops a run over two tables after some documents and continues it. The bytes are those
// of an undisturbed run, with the header once.
func TestTable(t *testing.T) {
	var inputs []input.Input
	for i := range 2 {
		var b strings.Builder
		b.WriteString("id;text;第三\n")
		for n := range 8 {
			fmt.Fprintf(&b, "%d-%d;\"%s\";\"a \"\"word\"\"\"\n", i, n, strings.ReplaceAll(indextest.Sentences((n+3*i)%9), ". ", ".\n"))
			switch n {
			case 2:
				b.WriteString("too few\n\n")
			case 4:
				fmt.Fprintf(&b, "long;%s;\n\"x\"y;z\n", strings.Repeat("too long ", 100))
			}
		}
		name := fmt.Sprintf("%d.csv", i)
		path := filepath.Join(t.TempDir(), name)
		indextest.Must(t, os.WriteFile(path, []byte(b.String()), 0o600))
		inputs = append(inputs, input.Input{Path: path, Name: name, Size: int64(b.Len())})
	}
	whole := &formatRun{t: t, dir: t.TempDir(), input: inputs, format: csv.Format{}}
	indextest.Must(t, whole.run(1<<30))
	want := whole.outputs()
	kept, _, _ := strings.Cut(want, "====\n")
	if !strings.HasPrefix(kept, "id;text;第三\n0-0;\"") || strings.Count(kept, "第三") != 1 || strings.Count(kept, "\"a \"\"word\"\"\"\n") != 9 {
		t.Errorf("kept:\n%s", kept)
	}
	if reason := `"reason":"the row has 1 fields, and the first row has 3","raw":"too few\n"`; strings.Count(want, reason) != 2 {
		t.Errorf("not twice %s:\n%s", reason, want)
	}
	stopAndGoOn(t, inputs, csv.Format{}, want)
}

// stopAndGoOn stops and continues runs after some documents and compares the outputs with want.
func stopAndGoOn(t *testing.T, inputs []input.Input, format corpus.Format, want string) {
	t.Helper()
	for n := 0; n < 16; n += 3 {
		f := &formatRun{t: t, dir: t.TempDir(), input: inputs, format: format}
		if err := f.run(n); !errors.Is(err, errStop) {
			t.Fatalf("stopped after %d: %v", n, err)
		}
		indextest.Must(t, f.run(1<<30))
		if got := f.outputs(); got != want {
			t.Errorf("stopped after %d documents:\n%s\nwant\n%s", n, got, want)
		}
	}
}

// TestArray does the same as TestTable with JSON arrays.
func TestArray(t *testing.T) {
	var inputs []input.Input
	for i := range 2 {
		var b strings.Builder
		b.WriteString("[\n")
		for n := range 8 {
			fmt.Fprintf(&b, "  {\n    \"id\": \"%d-%d\",\n    \"text\": %q\n  },\n", i, n, indextest.Sentences((n+3*i)%9))
			if n == 4 {
				fmt.Fprintf(&b, "{\"text\":%q},\n[1],", strings.Repeat("too long ", 100))
			}
		}
		b.WriteString("null ]\n")
		name := fmt.Sprintf("%d.json", i)
		path := filepath.Join(t.TempDir(), name)
		indextest.Must(t, os.WriteFile(path, []byte(b.String()), 0o600))
		inputs = append(inputs, input.Input{Path: path, Name: name, Size: int64(b.Len())})
	}
	whole := &formatRun{t: t, dir: t.TempDir(), input: inputs, format: jsonarray.Format{}}
	indextest.Must(t, whole.run(1<<30))
	want := whole.outputs()
	kept, _, _ := strings.Cut(want, "====\n")
	if !strings.HasPrefix(kept, `{"id": "0-0","text": "The`) || strings.Count(kept, "\n") != 9 {
		t.Errorf("kept:\n%s", kept)
	}
	for _, reason := range []string{"the record is longer than the limit of 700 bytes", "the record is not a JSON object"} {
		if !strings.Contains(want, reason) {
			t.Errorf("no %q in\n%s", reason, want)
		}
	}
	stopAndGoOn(t, inputs, jsonarray.Format{}, want)
}
