//go:build unix

package pipeline

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// pipeRun is a run from pipe to pipe in this process, on a clock that the test moves.
type pipeRun struct {
	t       *testing.T
	dir     string
	job     Job
	index   *index.Index
	in      *io.PipeWriter
	fifo    *os.File
	answers *bufio.Reader
	ticks   chan time.Time
	ended   chan error
	cancel  context.CancelFunc
}

func newPipeRun(t *testing.T, dir string, filterOnly bool) *pipeRun {
	t.Helper()
	return newJournalRun(t, dir, filterOnly, 0)
}

// newJournalRun returns a run that saves the filter once its journals reach journalBytes.
func newJournalRun(t *testing.T, dir string, filterOnly bool, journalBytes int64) *pipeRun {
	t.Helper()
	name := filepath.Join(t.TempDir(), "answers")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	fifo, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fifo.Close() })
	x, err := index.Open(context.Background(), dir, index.Options{Key: index.KeyAsIs, Shape: bloomstore.ForItems(10_000), FilterOnly: filterOnly, JournalBytes: journalBytes})
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	p := &pipeRun{
		t: t, dir: dir, index: x, in: w, fifo: fifo, answers: bufio.NewReader(fifo),
		ticks: make(chan time.Time), ended: make(chan error, 1),
	}
	p.job = Job{
		Source:  corpus.NewSource([]input.Input{{Path: input.Stdin, Name: "stdin", Size: -1}}, jsonl.Format{}, corpus.SourceConfig{Stdin: r}),
		Workers: 2, MaxBad: -1, OnFull: index.OnFullWarn, Pipe: true, Ticks: p.ticks, Now: time.Now,
	}
	if p.job.Outputs.Kept, err = output.Create(name); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pipeRun) start() {
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(context.Background())
	go func() {
		_, err := Run(ctx, p.index, p.job)
		p.ended <- err
	}()
}

// end waits for the run, which must end with want. Like a kill, it saves nothing.
func (p *pipeRun) end(want error) {
	p.t.Helper()
	if err := <-p.ended; !errors.Is(err, want) || want == nil && err != nil {
		p.t.Fatalf("the run ended with %v, want %v", err, want)
	}
	p.cancel()
	p.in.Close()
	_ = p.job.Outputs.Abort()
	if err := p.index.Close(); err != nil {
		p.t.Fatal(err)
	}
}

func pipeText(i int) string {
	return fmt.Sprintf("Document number %d says something long enough. And a second sentence %[1]d that nobody else has.", i)
}

func pipeLine(i int) string {
	return fmt.Sprintf(`{"id":"d%d","text":"%s"}`, i, pipeText(i))
}

func (p *pipeRun) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// answer reads a line that must come without another document. Otherwise the test times out.
func (p *pipeRun) answer() string {
	p.t.Helper()
	line, err := p.answers.ReadString('\n')
	if err != nil {
		p.t.Fatalf("no answer: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

// ask sends a document and expects it to be kept.
func (p *pipeRun) ask(i int) {
	p.t.Helper()
	p.send(pipeLine(i))
	p.wantKept(i)
}

// wantKept reads the answer to document i and expects it to be kept.
func (p *pipeRun) wantKept(i int) {
	p.t.Helper()
	if got := p.answer(); got != pipeLine(i) {
		p.t.Errorf("document %d: answer %q", i, got)
	}
}

// runTwenty runs over twenty documents that come all at once.
func (p *pipeRun) runTwenty() {
	p.t.Helper()
	p.start()
	var lines strings.Builder
	for i := range 20 {
		lines.WriteString(pipeLine(i) + "\n")
	}
	p.send(strings.TrimSuffix(lines.String(), "\n"))
	p.in.Close()
	p.end(nil)
}

// tick moves the clock. Only an idle run takes a tick, so the second shows that the first is done.
func (p *pipeRun) tick() {
	p.t.Helper()
	p.ticks <- time.Time{}
	p.ticks <- time.Time{}
}

// onDisk returns the statistics of the table as a crash now would leave it.
func (p *pipeRun) onDisk() docmap.Stats {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, index.TableFile))
	if err != nil {
		p.t.Fatal(err)
	}
	path := filepath.Join(p.t.TempDir(), index.TableFile)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		p.t.Fatal(err)
	}
	table, err := docmap.Open(path, docmap.Options{ReadOnly: true})
	if err != nil {
		p.t.Fatal(err)
	}
	defer table.Close()
	return table.Stats()
}

// TestIdlePipeIsSavedByTime checks that the next tick makes all answered documents durable, in one
// checkpoint, even if no more come. Ticks without documents cost nothing.
func TestIdlePipeIsSavedByTime(t *testing.T) {
	p := newPipeRun(t, t.TempDir(), false)
	p.start()
	p.tick()
	before := p.onDisk()
	for i := range 3 {
		p.ask(i)
	}
	if got := p.onDisk(); got.Documents != 0 {
		t.Fatalf("%d documents on disk before the clock moved", got.Documents)
	}
	p.tick()
	if got := p.onDisk(); got.Documents != 3 || got.Checkpoints != before.Checkpoints+1 {
		t.Fatalf("after a tick: %d documents, %d checkpoints more", got.Documents, got.Checkpoints-before.Checkpoints)
	}
	p.tick()
	p.tick()
	if got := p.onDisk(); got.Checkpoints != before.Checkpoints+1 {
		t.Fatal("a tick without documents made a checkpoint")
	}
	p.in.Close()
	p.end(nil)
}

// TestPipeIsMarkedBeforeItsFirstDocument checks that a run killed at once leaves its mark.
func TestPipeIsMarkedBeforeItsFirstDocument(t *testing.T) {
	p := newPipeRun(t, t.TempDir(), false)
	p.job.Save = func(Progress) map[string][]byte { return map[string][]byte{"run": []byte("x")} }
	p.start()
	p.tick()
	if p.onDisk().Checkpoints == 0 {
		t.Error("nothing on disk says that a run is under way")
	}
	p.in.Close()
	p.end(nil)
}

// TestAnswersGoBeforeTheCheckpoint checks that the reader has the answer once a document is
// durable. The reverse order could lose it.
func TestAnswersGoBeforeTheCheckpoint(t *testing.T) {
	p := newPipeRun(t, t.TempDir(), false)
	read, sequence := 0, uint64(0)
	p.job.CheckpointBytes = 1 // at every document, before the stream is idle
	p.job.Save = func(at Progress) map[string][]byte {
		for ; read < int(at.Tally.Kept); read++ {
			p.wantKept(read)
		}
		if now := p.index.Table().Generation().Sequence; sequence != 0 && now != sequence+1 {
			t.Error("the table was written before its answers were out")
		} else {
			sequence = now
		}
		return nil
	}
	p.runTwenty()
	if read != 20 {
		t.Errorf("%d answers, want 20", read)
	}
}

// TestAnswersGoBeforeTheJournal does the same without a table, for every document of a group.
func TestAnswersGoBeforeTheJournal(t *testing.T) {
	p := newPipeRun(t, t.TempDir(), true)
	read, decided := 0, 0
	p.job.CheckpointBytes = 1
	p.job.Each = func(string, *dedup.Result, dedup.Counts) error {
		decided++
		return nil
	}
	onStep(t, func(step string) {
		for ; step == "a group is durable" && read < decided; read++ {
			p.wantKept(read)
		}
	})
	p.runTwenty()
	if read != 20 {
		t.Errorf("%d answers, want 20", read)
	}
}

// TestIdleFilterIsSavedByTime is TestIdlePipeIsSavedByTime without a table. Several filters are
// saved meanwhile, and written to their end while the stream is idle.
func TestIdleFilterIsSavedByTime(t *testing.T) {
	dir := t.TempDir()
	p := newJournalRun(t, dir, true, 2000)
	known := func(i int) bool {
		x, err := index.Open(context.Background(), indextest.Copy(t, dir), index.Options{Key: index.KeyAsIs, FilterOnly: true})
		if err != nil {
			t.Error(err)
			return false
		}
		defer x.Close()
		d, err := dedup.New(dedup.Config{Filter: x.Filter()})
		if err != nil {
			t.Error(err)
			return false
		}
		r, err := d.See("", []byte(pipeText(i)))
		return err == nil && !r.Kept
	}
	decided, groups, filters := 0, atomic.Int32{}, atomic.Int32{}
	p.job.Each = func(string, *dedup.Result, dedup.Counts) error {
		decided++
		return nil
	}
	onStep(t, func(step string) { // in the goroutine that decides
		switch step {
		case "a group is durable":
			groups.Add(1)
			if !known(decided - 1) {
				t.Errorf("document %d is not saved", decided-1)
			}
		case "the filter is in place":
			filters.Add(1)
		}
	})
	p.start()
	for i := range 40 {
		before := groups.Load()
		p.ask(i)
		p.tick()
		if groups.Load() == before {
			t.Fatalf("after a tick document %d is not saved", i)
		}
	}
	for filters.Load() == 0 { // it is saved while the stream is idle
		p.tick()
	}
	p.in.Close()
	p.end(nil)
}

// TestCancelledPipeIsSaved checks that a signal saves the answered documents before anything else,
// so that a second signal finds them on disk.
func TestCancelledPipeIsSaved(t *testing.T) {
	p := newPipeRun(t, t.TempDir(), false)
	p.start()
	for i := range 3 {
		p.ask(i)
	}
	p.cancel()
	p.end(context.Canceled)
	if got := p.onDisk().Documents; got != 3 {
		t.Errorf("%d documents remembered, want 3", got)
	}
}
