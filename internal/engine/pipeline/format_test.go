package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// formatRun is a run over inputs of any format that can be stopped and continued.
type formatRun struct {
	t        *testing.T
	dir      string
	input    []input.Input
	format   corpus.Format
	annotate bool
	saved    *Progress
	change   func(*Job) // nil for none
}

var outputNames = [3]string{"kept.txt", "report.jsonl", "rejects.jsonl"}

func (f *formatRun) open(name string, i int) *output.Writer {
	f.t.Helper()
	at := output.Mark{}
	if f.saved != nil {
		at = f.saved.Written[i]
	}
	w, err := output.OpenAt(filepath.Join(f.dir, name), at)
	indextest.Must(f.t, err)
	return w
}

var errStop = errors.New("stopped by the test")

// run decides at most stopAfter documents and leaves the files as a kill would.
func (f *formatRun) run(stopAfter int) error {
	f.t.Helper()
	x, err := index.Open(context.Background(), filepath.Join(f.dir, "index"), index.Options{Key: index.KeyAsIs})
	indextest.Must(f.t, err)
	cfg := corpus.SourceConfig{BlockSize: 200, MaxRecord: 700}
	if f.saved != nil {
		cfg.SkipInputs, cfg.SkipTo, cfg.SkipSum = f.saved.At.Input, f.saved.At.At, f.saved.At.Sum
	}
	decided := 0
	job := Job{
		Source: corpus.NewSource(f.input, f.format, cfg), Scheme: x.Scheme(), Workers: 2, MaxBad: -1, CheckpointBytes: 300,
		Outputs: Outputs{Kept: f.open(outputNames[0], 0), Report: f.open(outputNames[1], 1), Rejects: f.open(outputNames[2], 2)},
		Choices: Choices{Annotate: f.annotate},
		Resume:  f.saved,
		Save:    func(p Progress) map[string][]byte { f.saved = &p; return nil },
		Each: func(string, *dedup.Result, dedup.Counts) error {
			if decided++; decided > stopAfter {
				return errStop
			}
			return nil
		},
	}
	if f.change != nil {
		f.change(&job)
	}
	_, err = Run(f.t.Context(), x, job)
	if err != nil {
		indextest.Must(f.t, job.Outputs.Abort())
	}
	indextest.Must(f.t, x.Close())
	return err
}

// outputs returns the content of all outputs.
func (f *formatRun) outputs() (all string) {
	f.t.Helper()
	for _, name := range outputNames {
		data, err := os.ReadFile(filepath.Join(f.dir, name))
		indextest.Must(f.t, err)
		all += string(data) + "====\n"
	}
	return all
}

// paragraphText returns paragraphs, with copies, empty ones, one of invalid UTF-8 and one too long.
func paragraphText() []byte {
	var b bytes.Buffer
	for n := range 12 {
		if n%2 == 0 {
			fmt.Fprintf(&b, "# doc-%d\n", n)
		}
		fmt.Fprintf(&b, "%s\n\n", strings.ReplaceAll(indextest.Sentences(n%8), ". ", ".\n"))
		switch n {
		case 3:
			b.WriteString("\n\n\n\n")
		case 5:
			b.WriteString("no text \xff\n\n")
		case 7:
			fmt.Fprintf(&b, "%s\n\n", strings.Repeat("too long ", 100))
		}
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// TestAnotherFormat stops runs over a format other than JSON lines after each document and
// continues them. The bytes are those of an undisturbed run.
func TestAnotherFormat(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "in.txt")
	indextest.Must(t, os.WriteFile(path, paragraphText(), 0o600))
	inputs, _, err := input.Expand([]string{filepath.Dir(path)}, paragraphs{}.Endings())
	indextest.Must(t, err)
	inputs[0].Name = "in.txt"
	for _, annotate := range []bool{false, true} {
		whole := &formatRun{t: t, dir: t.TempDir(), input: inputs, format: paragraphs{}, annotate: annotate}
		indextest.Must(t, whole.run(1<<30))
		want := whole.outputs()
		checkAnotherFormat(t, want, annotate)
		for n := range 12 {
			f := &formatRun{t: t, dir: t.TempDir(), input: inputs, format: paragraphs{}, annotate: annotate}
			if err := f.run(n); !errors.Is(err, errStop) {
				t.Fatalf("stopped after %d: %v", n, err)
			}
			indextest.Must(t, f.run(1<<30))
			if got := f.outputs(); got != want {
				t.Errorf("stopped after %d documents, annotated %v:\n%s\nwant\n%s", n, annotate, got, want)
			}
		}
	}
}

func checkAnotherFormat(t *testing.T, got string, annotate bool) {
	t.Helper()
	for _, want := range []string{
		`{"id":"doc-8","verdict":"duplicate","kept":false,"of":"doc-0"`, `"of":"in.txt:2"`, `"file":"in.txt","line":13}`,
		`{"file":"in.txt","line":9,"reason":"it is not UTF-8"`, `"reason":"the paragraph is longer than the limit of 700 bytes"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	for _, want := range []string{
		"\n% firstseen {\"verdict\":\"unique\",\"kept\":true,", "% firstseen {\"verdict\":\"bad\",\"kept\":false,\"line\":9,", "\n\n\n\n",
	} {
		if strings.Contains(got, want) != annotate {
			t.Errorf("annotated %v, and %q is in it: %v", annotate, want, !annotate)
		}
	}
}
