package pipeline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// manyLines returns n different documents as lines.
func manyLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"id\":\"%d\",\"text\":%q}\n", i, indextest.Sentences(i))
	}
	return b.String()
}

// slowFormat calls keep before it keeps a record.
type slowFormat struct {
	jsonl.Format
	keep func() error
}

func (f slowFormat) Keep(w *output.Writer, raw []byte) error {
	if err := f.keep(); err != nil {
		return err
	}
	return f.Format.Keep(w, raw)
}

// slowSource reads lines from a file, in blocks of the largest size.
func slowSource(t *testing.T, lines string, keep func() error) *corpus.Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in")
	indextest.Must(t, os.WriteFile(path, []byte(lines), 0o600))
	inputs, _, err := input.Expand([]string{path}, nil)
	indextest.Must(t, err)
	return corpus.NewSource(inputs, slowFormat{keep: keep}, corpus.SourceConfig{})
}

// TestWritingGoesOnBeside checks that a batch is decided while the one before is still written.
// Here the first is not written before a document in the middle of the second is decided.
func TestWritingGoesOnBeside(t *testing.T) {
	lines := manyLines(6000)
	job := Job{Workers: 8, MaxBad: -1}
	block := bufferBytes / (2 * job.Workers * blocksPerWorker)
	middle := strings.Count(lines[:block*3/2], "\n")
	begun, decided := make(chan struct{}), make(chan struct{})
	var begin sync.Once
	job.Source = slowSource(t, lines, func() error {
		begin.Do(func() { close(begun) })
		<-decided
		return nil
	})
	told := 0
	job.Each = func(string, *dedup.Result, dedup.Counts) error {
		if told++; told == middle {
			<-begun
			close(decided)
		}
		return nil
	}
	w, err := output.Create(filepath.Join(t.TempDir(), "kept"))
	indextest.Must(t, err)
	job.Outputs.Kept = w
	x := opened(t, filepath.Join(t.TempDir(), "index"), index.Options{Shape: bloomstore.ForItems(100_000)})
	s, err := Run(t.Context(), x, job)
	indextest.Must(t, errors.Join(err, w.Abort()))
	if s.Kept != 6000 || told != 6000 {
		t.Errorf("%+v, %d told", s.Tally, told)
	}
}

// TestBatchIsGivenBackAtOnce checks that a written batch may be refilled at once by others.
func TestBatchIsGivenBackAtOnce(t *testing.T) {
	x := opened(t, filepath.Join(t.TempDir(), "index"), index.Options{Shape: bloomstore.ForItems(100_000)})
	job := Job{Workers: 2, MaxBad: -1, Pipe: true, Scheme: x.Scheme()}
	job.Source = slowSource(t, manyLines(50), func() error { return nil })
	c, err := newCommitter(x, &job)
	indextest.Must(t, err)
	newPipeline(&job, c) // bounds blocks
	w := &worker{job: &job}
	b, given := new(block), 0
	indextest.Must(t, errors.Join(job.Source.Next(t.Context(), &b.source), w.fill(b)))
	n := len(b.records)
	indextest.Must(t, c.commit(t.Context(), b, func(b *block) {
		if given++; given == 1 {
			b.records = append(b.records, b.records...) // as the next block would
		}
	}))
	if given != 1 || c.left != b || c.tally.Documents != int64(n) || n < leastGroup {
		t.Errorf("given back %d times, %d of %d documents", given, c.tally.Documents, n)
	}
}

// TestNothingIsRememberedThatWasNotWritten checks that a failed write fails the run, however late
// it is reported. No checkpoint remembers the decisions made meanwhile.
func TestNothingIsRememberedThatWasNotWritten(t *testing.T) {
	t.Parallel()
	lines, failure := manyLines(3000), errors.New("no space")
	for _, at := range []int64{1, 700, 1500, 2999, 3000} {
		for _, workers := range []int{1, 2, 4} {
			var kept atomic.Int64
			job := Job{Workers: workers, MaxBad: -1, CheckpointBytes: 50_000}
			job.Source = slowSource(t, lines, func() error {
				if kept.Add(1) == at {
					return failure
				}
				return nil
			})
			last := int64(0) // the number of documents that a checkpoint knows
			job.Save = func(p Progress) map[string][]byte {
				last = p.Tally.Documents
				return nil
			}
			w, err := output.Create(filepath.Join(t.TempDir(), "kept"))
			indextest.Must(t, err)
			job.Outputs.Kept = w
			dir := filepath.Join(t.TempDir(), "index")
			x := opened(t, dir, index.Options{Shape: bloomstore.ForItems(100_000)})
			_, err = Run(t.Context(), x, job)
			if !errors.Is(err, failure) || kept.Load() != at {
				t.Fatalf("%d workers, %d of %d: %v", workers, kept.Load(), at, err)
			}
			indextest.Must(t, errors.Join(w.Abort(), x.Close()))
			again := opened(t, dir, index.Options{Shape: bloomstore.ForItems(100_000)})
			if n := int64(again.Table().Documents()); last >= at || n != last {
				t.Errorf("%d workers: the checkpoint has %d documents, the table %d, and %d was not written", workers, last, n, at)
			}
			indextest.Must(t, again.Close())
		}
	}
}

// TestShardsAreWrittenBeside decides documents while earlier ones are written to the shards of a
// tree. The race detector checks that the two share nothing.
func TestShardsAreWrittenBeside(t *testing.T) {
	plan := &output.TreePlan{Dir: filepath.Join(t.TempDir(), "out"), ShardSize: 10_000, Ending: ".jsonl"}
	tree, err := output.CreateTree(plan)
	indextest.Must(t, err)
	job := Job{Workers: 4, MaxBad: -1, CheckpointBytes: 5_000, Tree: plan, Source: slowSource(t, manyLines(6000), func() error { return nil })}
	job.Outputs.Tree = tree
	x := opened(t, filepath.Join(t.TempDir(), "index"), index.Options{Shape: bloomstore.ForItems(100_000)})
	s, err := Run(t.Context(), x, job)
	if indextest.Must(t, err); s.Kept != 6000 {
		t.Errorf("%+v", s.Tally)
	}
}
