package crash

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// takingSteps keep two batches, and take of both back.
var takingSteps = [][]string{
	{"dedup", "-q", "--index", indexDir, "--no-key", "--docs", "3k", "--checkpoint-bytes=60k", "--memtable-keys=1500", "--batch", "first", "--out", "1.jsonl", inputs[0]},
	{"dedup", "-q", "--index", indexDir, "--no-key", "--checkpoint-bytes=60k", "--memtable-keys=1500", "--batch", "second", "--same-id", "replace", "--out", "2.jsonl", inputs[1]},
	{"forget", "--index", indexDir, "--from", "../in/ids.txt"},
	{"compact", "--index", indexDir},
	{"cancel", "--index", indexDir, "second"},
	{"dedup", "-q", "--index", indexDir, "--no-key", "--checkpoint-bytes=60k", "--memtable-keys=1500", "--out", "3.jsonl", inputs[0], inputs[1]},
	{"forget", "--index", indexDir, "--from", "../in/ids.txt"},
	{"compact", "--index", indexDir},
}

// Takings kills the steps of a run in which documents are forgotten, replaced, cancelled
// and compacted, each at a random instant, until cfg.N kills have arrived; gives the
// command again until it ends; and compares outputs and index with those of a run that
// was not disturbed. The error is ErrDifferences if any differed.
func Takings(ctx context.Context, cfg Config, out io.Writer) error {
	in := filepath.Join(cfg.Dir, "in")
	if err := os.MkdirAll(in, 0o777); err != nil {
		return err
	}
	if err := errors.Join(writeInputs(in), writeIDs(in)); err != nil {
		return err
	}
	t := &takingTrial{program: cfg.Program, dir: filepath.Join(cfg.Dir, "whole")}
	if err := t.run(ctx, nil); err != nil {
		return err
	}
	want, took := t.came, t.took
	fmt.Fprintf(out, "undisturbed: %s", want)
	arrived, differ, byStep := 0, 0, make([]int, len(takingSteps))
	for trial := cfg.From; arrived < cfg.N; trial++ {
		r := rand.New(rand.NewPCG(cfg.Seed, uint64(trial)))
		t := &takingTrial{program: cfg.Program, dir: filepath.Join(cfg.Dir, fmt.Sprint("trial-", trial)), took: took, killed: byStep}
		if err := t.run(ctx, r); err != nil {
			return fmt.Errorf("trial %d: %w", trial, err)
		}
		arrived += t.kills
		if !bytes.Equal(t.came, want) {
			differ++
			fmt.Fprintf(out, "trial %d differs\n", trial)
		}
		if err := os.RemoveAll(t.dir); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%d kills arrived, %d trials differed; by step:\n", arrived, differ)
	for i, n := range byStep {
		fmt.Fprintf(out, "  %-8s %d\n", takingSteps[i][0], n)
	}
	if differ > 0 {
		return ErrDifferences
	}
	return nil
}

// writeIDs writes the ids of every second document of the inputs.
func writeIDs(dir string) error {
	var ids []string
	for _, name := range []string{"a.jsonl", "b.jsonl"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		for n, line := range strings.Split(string(text), "\n") {
			if _, rest, ok := strings.Cut(line, `"id":"`); ok && n%2 == 0 {
				id, _, _ := strings.Cut(rest, `"`)
				ids = append(ids, id)
			}
		}
	}
	return os.WriteFile(filepath.Join(dir, "ids.txt"), []byte(strings.Join(ids, "\n")), 0o666)
}

type takingTrial struct {
	program *Program
	dir     string
	took    []time.Duration // by each step, undisturbed
	killed  []int           // by step
	kills   int
	came    []byte // digests of outputs and index
}

// run does all steps; with r each is killed a few times before it may end.
func (t *takingTrial) run(ctx context.Context, r *rand.Rand) error {
	if err := os.MkdirAll(t.dir, 0o777); err != nil {
		return err
	}
	for i, args := range takingSteps {
		for n := 0; r != nil && n < 2; n++ {
			if t.kill(ctx, i, time.Duration(r.Float64()*1.1*float64(t.took[i]))) {
				t.kills++
				t.killed[i]++
			}
		}
		start := time.Now()
		code, stderr := t.program.run(ctx, t.dir, args...)
		if r == nil {
			t.took = append(t.took, time.Since(start))
		}
		gone := args[0] == "cancel" && r != nil && strings.Contains(stderr, "no such batch") // it was done
		if code != done && code != bad && !gone {
			return fmt.Errorf("%s ends with code %d: %s", strings.Join(args, " "), code, stderr)
		}
	}
	return t.look(ctx)
}

// kill runs a step for so long, and reports whether it was killed.
func (t *takingTrial) kill(ctx context.Context, i int, after time.Duration) bool {
	cmd := t.program.command(ctx, t.dir, takingSteps[i]...)
	if err := cmd.Start(); err != nil {
		return false
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	timer.Stop()
	return err != nil && !cmd.ProcessState.Exited()
}

// look notes what outputs and index hold, and checks the index.
func (t *takingTrial) look(ctx context.Context) error {
	for _, name := range []string{"1.jsonl", "2.jsonl", "3.jsonl"} {
		text, err := os.ReadFile(filepath.Join(t.dir, name))
		if err != nil {
			return err
		}
		t.came = fmt.Appendf(t.came, "%s %d %x\n", name, len(text), sha256.Sum256(text))
	}
	c, err := readContent(ctx, filepath.Join(t.dir, indexDir))
	t.came = fmt.Appendf(t.came, "%+v\n", c)
	return err
}
