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
	"github.com/firstseen/firstseen/internal/indextest"
)

// TestTable runs two tables through everything, stopped after each document and continued:
// the same bytes as undisturbed, and the first row once.
func TestTable(t *testing.T) {
	var inputs []corpus.Input
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
		inputs = append(inputs, corpus.Input{Path: path, Name: name, Size: int64(b.Len())})
	}
	whole := &formatRun{t: t, dir: t.TempDir(), input: inputs, format: csv.Format{}}
	indextest.Must(t, whole.run(1<<30))
	want := whole.outputs()
	kept, _, _ := strings.Cut(want, "====\n")
	if !strings.HasPrefix(kept, "id;text;第三\n0-0;\"") || strings.Count(kept, "第三") != 1 || strings.Count(kept, "\"a \"\"word\"\"\"\n") != 9 {
		t.Errorf("kept:\n%s", kept)
	}
	if reason := `"reason":"the row has 1 fields, and the first one 3","raw":"too few\n"`; strings.Count(want, reason) != 2 {
		t.Errorf("not twice %s:\n%s", reason, want)
	}
	for n := 0; n < 16; n += 3 {
		f := &formatRun{t: t, dir: t.TempDir(), input: inputs, format: csv.Format{}}
		if err := f.run(n); !errors.Is(err, errStop) {
			t.Fatalf("stopped after %d: %v", n, err)
		}
		indextest.Must(t, f.run(1<<30))
		if got := f.outputs(); got != want {
			t.Errorf("stopped after %d documents:\n%s\nwant\n%s", n, got, want)
		}
	}
}
