package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/warc"
	"github.com/firstseen/firstseen/internal/base/fields"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// withRevisits makes a job write revisit records, as the command line does.
func withRevisits(f warc.Format) func(*Job) {
	const tag = 3
	return func(j *Job) {
		j.Store = func(dst []byte, _ string, doc *corpus.Document) []byte {
			return fields.Append(dst, tag, f.AppendWitness(nil, doc.Raw, doc.ID))
		}
		j.Replace = func(w *output.Writer, r Removal) (bool, error) {
			own, _, err := r.Own.Field(tag)
			of, _, err2 := r.Of.Field(tag)
			if err := errors.Join(err, err2); err != nil {
				return false, err
			}
			return f.Instead(w, warc.Removed{Raw: r.Raw, Own: own, Of: r.Result.Of.ID, Witness: of, Verdict: r.Result.Verdict.String(), Score: fmt.Sprint(r.Result.Score)})
		}
	}
}

// TestRevisits replaces removed records of an archive by revisit records and copies existing ones.
// The output is the same for any number of workers and stops, and reading it again changes nothing.
func TestRevisits(t *testing.T) {
	file := bytes.ReplaceAll(archive(nil), []byte("urn:9\r\n"), []byte("urn:9\r\nX-Other: header\r\n"))
	copied := []byte("WARC/1.0\r\nWARC-Type: revisit\r\nWARC-Target-URI: urn:3\r\nWARC-Date: 2020-01-01T00:00:00Z\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
	file = append(append(append([]byte(nil), copied...), file...), copied...)
	near := indextest.Sentences(3)
	file = fmt.Appendf(file, "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:near>\r\nWARC-Target-URI: urn:near\r\nWARC-Date: 2020-01-01T00:00:00Z\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s \r\n\r\n", len(near)+1, near)
	write := func(data string) []input.Input {
		path := filepath.Join(t.TempDir(), "in.warc")
		indextest.Must(t, os.WriteFile(path, []byte(data), 0o600))
		return []input.Input{{Path: path, Name: "in.warc", Size: int64(len(data))}}
	}
	for _, keep := range []bool{false, true} {
		format := warc.Format{Revisit: warc.Revisit{Write: true, Keep: keep}}
		inputs := write(string(file))
		run := func(inputs []input.Input, revisits, workers int, stops ...int) string {
			f := &formatRun{t: t, dir: t.TempDir(), input: inputs, format: format}
			f.change = func(j *Job) {
				withRevisits(format)(j)
				j.Workers = workers
			}
			for _, n := range stops {
				if err := f.run(n); !errors.Is(err, errStop) {
					t.Fatalf("stopped after %d: %v", n, err)
				}
			}
			indextest.Must(t, f.run(1<<30))
			if f.saved.Tally.Revisits != int64(revisits) {
				t.Errorf("%d revisits were counted", f.saved.Tally.Revisits)
			}
			return f.outputs()
		}
		whole := run(inputs, 4, 1)
		out, _, _ := strings.Cut(whole, "====\n")
		checkRevisits(t, out, string(copied), keep)
		for i, n := range []int{0, 3, 8, 9, 12} {
			if got := run(inputs, 4, 1+i%3, n, 0); got != whole {
				t.Errorf("stopped after %d:\n%s\nwant\n%s", n, got, whole)
			}
		}
		if again, _, _ := strings.Cut(run(write(out), 0, 2), "====\n"); again != out {
			t.Errorf("read once more:\n%s\nwant\n%s", again, out)
		}
	}
}

func checkRevisits(t *testing.T, out, copied string, keep bool) {
	t.Helper()
	kept := 0
	if keep {
		kept = 1
	}
	for part, n := range map[string]int{
		"WARC-Type: resource\r\n": 9 + kept, "WARC-Type: revisit\r\n": 4 + 2, copied: 2, "X-Other: header\r\n": 1,
		"WARC-Refers-To-Target-URI: urn:1\r\nWARC-Refers-To-Date: 2024-01-02T03:04:05Z\r\n": 1,
		"WARC-Type: metadata\r\n": 1, "of: urn:3\r\nscore: 1\r\n": 1, "WARC-Refers-To: <urn:near>\r\n": 1, "WARC-Concurrent-To: <urn:near>\r\n": kept,
	} {
		if got := strings.Count(out, part); got != n {
			t.Errorf("%d and not %d times %q in\n%s", got, n, part, out)
		}
	}
}
