package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/nested"
	"github.com/firstseen/firstseen/internal/indextest"
)

// TestNested runs lines with several documents each through everything, stopped after each
// document and continued.
func TestNested(t *testing.T) {
	var inputs []corpus.Input
	for i := range 2 {
		var b strings.Builder
		for n := range 8 {
			if n%2 == 0 {
				b.WriteString(`{"d":[`)
			}
			fmt.Fprintf(&b, `{"m":{"id":"%d-%d", "text":%q}},{},{"m":null}`, i, n, indextest.Sentences((n + 3*i) % 9)[:240])
			if n == 4 {
				b.WriteString(`,{"m":[]}`)
			}
			if n%2 == 1 {
				b.WriteString("]}\n{}\n\n")
			} else {
				b.WriteString(",")
			}
		}
		name := fmt.Sprintf("%d.jsonl", i)
		path := filepath.Join(t.TempDir(), name)
		indextest.Must(t, os.WriteFile(path, []byte(b.String()), 0o600))
		inputs = append(inputs, corpus.Input{Path: path, Name: name, Size: int64(b.Len())})
	}
	format := nested.Format{Path: jsonl.Path{"d", "*", "m"}}
	whole := &formatRun{t: t, dir: t.TempDir(), input: inputs, format: format}
	indextest.Must(t, whole.run(1<<30))
	want := whole.outputs()
	kept, _, _ := strings.Cut(want, "====\n")
	if !strings.HasPrefix(kept, `{"id":"0-0", "text":"`) || strings.Count(kept, "\n") != 9 {
		t.Errorf("kept:\n%s", kept)
	}
	for place, reason := range map[string]string{"[2,1]": `there is no array or object at \"d\"`, "[7,2]": "the record is not a JSON object"} {
		if !strings.Contains(want, `"line":`+place+`,"reason":"`+reason) {
			t.Errorf("no %q at %s in\n%s", reason, place, want)
		}
	}
	stopAndGoOn(t, inputs, format, want)
}
