package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// mixedLines returns documents, copies, edited copies, long documents, and bad and empty records.
func mixedLines(n int) string {
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	var b bytes.Buffer
	for i := range n {
		switch text := indextest.Sentences(i); rng.IntN(12) {
		case 0:
			fmt.Fprintln(&b, "no document")
		case 1:
			fmt.Fprintln(&b)
		case 2, 3:
			fmt.Fprintf(&b, "{\"id\":\"%d\",\"text\":%q}\n", i, indextest.Sentences(rng.IntN(i+1)))
		case 4, 5:
			fmt.Fprintf(&b, "{\"id\":\"%d\",\"text\":%q}\n", i, indextest.Sentences(rng.IntN(i+1))+" And one sentence that is not there, of a few words.")
		case 6:
			fmt.Fprintf(&b, "{\"text\":%q}\n", text+indextest.Sentences(i+n)+indextest.Sentences(i+2*n))
		default:
			fmt.Fprintf(&b, "{\"id\":\"%d\",\"text\":%q}\n", i, text)
		}
	}
	return b.String()
}

// timedLines adds times to documents. Most times follow each other.
func timedLines(lines string) string {
	rng := rand.New(rand.NewPCG(4, 4))
	at := 1_600_000_000
	var b strings.Builder
	for line := range strings.Lines(lines) {
		time := at
		switch at += rng.IntN(12); rng.IntN(40) {
		case 0:
			at += rng.IntN(500)
		case 1:
			time -= rng.IntN(6000)
		}
		if rest, ok := strings.CutPrefix(line, "{"); ok && rng.IntN(20) > 0 {
			line = fmt.Sprintf("{\"at\":%d,%s", time, rest)
		}
		b.WriteString(line)
	}
	return b.String()
}

// ran holds all visible results of a run.
type ran struct {
	Outputs  [3]string
	Summary  report.Summary
	Progress []Progress
	Filter   string
	Content  uint64
}

func runWith(t *testing.T, lines string, workers int, o index.Options, job Job) (r ran, err error) {
	t.Helper()
	dir := t.TempDir()
	o.Key = index.KeyAsIs
	if o.Shape.Bits == 0 {
		o.Shape = bloomstore.ForItems(30_000)
	}
	x := opened(t, filepath.Join(dir, "index"), o)
	job.Source, job.Scheme, job.Workers = sourceOf(lines), x.Scheme(), workers
	if job.Window.Told {
		job.Source = corpus.NewSource([]input.Input{{Path: input.Stdin}}, jsonl.Format{Fields: jsonl.Fields{Time: "at"}}, corpus.SourceConfig{Stdin: strings.NewReader(lines)})
	}
	job.Now = func() time.Time { return time.Unix(1_700_000_000, 0) }
	names := [3]string{"kept", "report", "rejects"}
	for i, w := range []**output.Writer{&job.Outputs.Kept, &job.Outputs.Report, &job.Outputs.Rejects} {
		if *w, err = output.Create(filepath.Join(dir, names[i])); err != nil {
			t.Fatal(err)
		}
	}
	job.Save = func(p Progress) map[string][]byte {
		p.Began = 0
		r.Progress = append(r.Progress, p)
		return nil
	}
	s, err := Run(t.Context(), x, job)
	r.Summary = *s
	r.Summary.Seconds, r.Summary.StoredBytes = 0, 0
	if r.Summary.Table != nil {
		r.Summary.Table.Bytes, r.Summary.Table.FreeBytes = 0, 0
	}
	var filter bytes.Buffer
	indextest.Must(t, x.Filter().Export(&filter))
	r.Filter, r.Content = filter.String(), x.Table().Generation().Content
	indextest.Must(t, errors.Join(err, job.Outputs.Abort()))
	for i, name := range names {
		b, err := os.ReadFile(filepath.Join(dir, name))
		indextest.Must(t, err)
		r.Outputs[i] = string(b)
	}
	return r, err
}

// TestTogetherIsOneByOne checks that batches, decided by any number of workers, leave the outputs,
// report, counts, filter and table of single decisions. Checkpoints are equal too, and come at the
// same places: by bytes, by keys in memory, and at a full filter.
func TestTogetherIsOneByOne(t *testing.T) {
	t.Parallel()
	lines := mixedLines(1500)
	for name, c := range map[string]struct {
		o   index.Options
		job Job
	}{
		"few checkpoints": {},
		"by bytes":        {job: Job{CheckpointBytes: 30_000}},
		"by keys":         {o: index.Options{MemtableKeys: 1500}},
		"a filter grows":  {o: index.Options{Shape: bloomstore.ForItems(300)}},
		"a full filter":   {o: index.Options{Shape: bloomstore.ForItems(3000)}, job: Job{OnFull: index.OnFullWarn, CheckpointBytes: 50_000}},
		"annotated":       {job: Job{Choices: Choices{Annotate: true}}},
		"a long window":   {job: Job{Choices: Choices{Window: Window{Seconds: 40_000, Told: true}}}},
		"a short window":  {job: Job{Choices: Choices{Window: Window{Seconds: 3000, Told: true}}, CheckpointBytes: 50_000}},
		"arrival":         {job: Job{Choices: Choices{Window: Window{Seconds: 60}}}},
	} {
		t.Run(name, func(t *testing.T) {
			lines := lines
			if c.job.Window.Told {
				lines = timedLines(lines)
			}
			c.o.UUID, c.job.MaxBad = [16]byte{1}, -1
			want, err := runWith(t, lines, 1, c.o, c.job)
			indextest.Must(t, err)
			many := []int{2, 3, 8}
			if testing.Short() {
				many = many[1:2]
			}
			for _, workers := range many {
				got, err := runWith(t, lines, workers, c.o, c.job)
				indextest.Must(t, err)
				if c.o.Shape != (bloomstore.Shape{}) { // false positives of a batch: see dedup.DecideAll
					got.Summary.Table.Lookups, got.Summary.Table.Refuted = want.Summary.Table.Lookups, want.Summary.Table.Refuted
					got.Summary.Table.Confirmed, got.Summary.Commonest = want.Summary.Table.Confirmed, want.Summary.Commonest
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%d workers (-one +many):\n%.2000s", workers, diff)
				}
			}
		})
	}
}

// TestTogetherTooManyBad checks that a run ends at the first bad record too many and remembers
// nothing after it.
func TestTogetherTooManyBad(t *testing.T) {
	lines := mixedLines(400)
	for _, workers := range []int{1, 4} {
		x := opened(t, filepath.Join(t.TempDir(), "index"), index.Options{Key: index.KeyAsIs})
		s, err := Run(t.Context(), x, Job{Source: sourceOf(lines), Workers: workers, MaxBad: 20})
		st := x.Table().Stats()
		if !errors.Is(err, ErrTooManyBad) || s.Bad != 21 || s.Documents != 159 || int64(st.Kept()) != s.Kept {
			t.Errorf("%d workers: %+v, %v", workers, s.Tally, err)
		}
	}
}
