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
	"slices"
	"strings"
	"time"
)

// A taking is a series of commands that take documents back, in a folder beside that of the inputs.
type taking struct {
	name  string
	steps [][]string
}

func takings() []taking {
	keep := func(out string, args ...string) []string {
		return append([]string{"dedup", "-q", "--index", indexDir, "--checkpoint-bytes=60k", "--memtable-keys=1500", "--out", out}, args...)
	}
	passages := func(out, report string, args ...string) []string {
		return append(keep(out, "--passages=14", "--report", report), args...)
	}
	within := func(out string, args ...string) []string {
		return append(keep(out, "--format", "jsonl:time=at"), args...)
	}
	windowed := []string{"index", "create", indexDir, "--docs", "300", "--window", "7h"}
	byPassages := append(slices.Clone(windowed), "--passages=14")
	forget := []string{"index", "forget", indexDir, "--from", "../in/ids.txt"}
	cancel := []string{"index", "forget", indexDir, "--batch", "second"}
	compact := []string{"index", "compact", indexDir}
	return []taking{
		{"for-ever", [][]string{
			keep("1.jsonl", "--docs", "3k", "--batch", "first", inputs[0]),
			keep("2.jsonl", "--batch", "second", "--same-id", "replace", inputs[1]),
			forget, compact, cancel,
			keep("3.jsonl", inputs[0], inputs[1]),
			forget, compact,
		}},
		{"passages", [][]string{
			passages("1.jsonl", "1.report", "--docs", "3k", "--batch", "first", inputs[0]),
			passages("2.jsonl", "2.report", "--batch", "second", "--same-id", "replace", inputs[1]),
			forget, compact, cancel,
			passages("3.jsonl", "3.report", inputs[0], inputs[1]),
			forget, compact,
		}},
		{"passages-window", [][]string{
			byPassages,
			within("1.jsonl", "--passages=14", "--report", "1.report", timedIn[0]),
			within("2.jsonl", "--passages=14", "--report", "2.report", timedIn[1]),
			forget,
			within("3.jsonl", "--report", "3.report", timedIn[2]),
			within("4.jsonl", "--report", "4.report", timedIn[3]),
		}},
		// A window of a third of the inputs, which come again and then hours later. Its slices have
		// some 50 documents.
		{"window", [][]string{
			windowed,
			within("1.jsonl", "--batch", "first", timedIn[0]),
			within("2.jsonl", "--batch", "second", "--same-id", "replace", timedIn[1]),
			forget, cancel,
			within("3.jsonl", timedIn[2]),
			forget,
			within("4.jsonl", timedIn[3]),
		}},
	}
}

// Takings kills commands of series that forget, replace, cancel, outlive and compact documents,
// each at a random instant, until cfg.N kills have arrived. It repeats each command until it ends,
// and compares outputs and index with those of an undisturbed series. The error is ErrDifferences
// if any differed.
func Takings(ctx context.Context, cfg Config, out io.Writer) error {
	in := filepath.Join(cfg.Dir, "in")
	if err := os.MkdirAll(in, 0o777); err != nil {
		return err
	}
	if err := errors.Join(writeInputs(in), writeIDs(in), writeTimed(in)); err != nil {
		return err
	}
	var undisturbed []*takingTrial
	for _, what := range takings() {
		if cfg.Workload != "" && cfg.Workload != what.name {
			continue
		}
		t := &takingTrial{taking: what, program: cfg.Program, dir: filepath.Join(cfg.Dir, what.name)}
		if err := t.run(ctx, nil); err != nil {
			return err
		}
		t.killed = make([]int, len(what.steps))
		fmt.Fprintf(out, "%s, undisturbed:\n%s", what.name, t.came)
		undisturbed = append(undisturbed, t)
	}
	if len(undisturbed) == 0 {
		return fmt.Errorf("no series %q", cfg.Workload)
	}
	arrived, trials, differ := 0, 0, 0
	for trial := cfg.From; arrived < cfg.N; trial++ {
		r := rand.New(rand.NewPCG(cfg.Seed, uint64(trial)))
		whole := undisturbed[trial%len(undisturbed)]
		t := *whole
		t.dir, t.came = filepath.Join(cfg.Dir, fmt.Sprint("trial-", trial)), nil
		if err := t.run(ctx, r); err != nil {
			return fmt.Errorf("trial %d: %w", trial, err)
		}
		trials, arrived = trials+1, arrived+t.kills
		if !bytes.Equal(t.came, whole.came) {
			differ++
			fmt.Fprintf(out, "trial %d, %s, differs:\n%s", trial, t.name, t.came)
			if cfg.Keep {
				continue
			}
		}
		if err := os.RemoveAll(t.dir); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%d kills arrived in %d trials, %d trials differed; by step:\n", arrived, trials, differ)
	for _, t := range undisturbed {
		for i, n := range t.killed {
			fmt.Fprintf(out, "  %-9s %-8s %d\n", t.name, t.steps[i][0], n)
		}
	}
	if differ > 0 {
		return ErrDifferences
	}
	return nil
}

// timedIn lists the inputs of writeTimed.
var timedIn = []string{"../in/1.timed", "../in/2.timed", "../in/3.timed", "../in/4.timed"}

// writeTimed writes the lines of a.jsonl and b.jsonl, and twice of both, with times one minute
// apart. Both together come an hour later, and then eight. Some lines are late or have no time.
func writeTimed(dir string) error {
	at := 1_600_000_000
	for i, names := range [][]string{{"a.jsonl"}, {"b.jsonl"}, {"a.jsonl", "b.jsonl"}, {"a.jsonl", "b.jsonl"}} {
		var out strings.Builder
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			for n, line := range strings.Split(string(text), "\n") {
				told := at
				switch at += 60; n % 17 {
				case 4:
					told -= 2 * 3600
				case 9:
					told -= 8 * 3600
				}
				if rest, is := strings.CutPrefix(line, "{"); is && n%17 != 13 {
					line = fmt.Sprintf("{\"at\":%d,%s", told, rest)
				}
				out.WriteString(line + "\n")
			}
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(timedIn[i])), []byte(out.String()), 0o666); err != nil {
			return err
		}
		at += []int{0, 3600, 8 * 3600, 0}[i]
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
	taking
	program *Program
	dir     string
	took    []time.Duration // per step, undisturbed
	killed  []int           // by step
	kills   int
	came    []byte // digests of outputs and index
}

// run runs all steps. With r it tries to kill each twice before it may end.
func (t *takingTrial) run(ctx context.Context, r *rand.Rand) error {
	if err := os.MkdirAll(t.dir, 0o777); err != nil {
		return err
	}
	for i, args := range t.steps {
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
		gone := slices.Contains(args, "--batch") && args[0] == "index" && r != nil && strings.Contains(stderr, "no such batch") // already cancelled
		if code != done && code != bad && !gone {
			return fmt.Errorf("%s ends with code %d: %s", strings.Join(args, " "), code, stderr)
		}
	}
	return t.look(ctx)
}

// kill runs a step for this long, and reports whether it was killed.
func (t *takingTrial) kill(ctx context.Context, i int, after time.Duration) bool {
	cmd := t.program.command(ctx, t.dir, t.steps[i]...)
	if err := cmd.Start(); err != nil {
		return false
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	timer.Stop()
	return err != nil && !cmd.ProcessState.Exited()
}

// look records the contents of outputs and index, and checks the index.
func (t *takingTrial) look(ctx context.Context) error {
	for _, args := range t.steps {
		for _, flag := range []string{"--out", "--report"} {
			i := slices.Index(args, flag) + 1
			if i == 0 {
				continue
			}
			text, err := os.ReadFile(filepath.Join(t.dir, args[i]))
			if err != nil {
				return err
			}
			t.came = fmt.Appendf(t.came, "%s %d %x\n", args[i], len(text), sha256.Sum256(text))
		}
	}
	c, err := readContent(ctx, filepath.Join(t.dir, indexDir))
	t.came = fmt.Appendf(t.came, "%+v\n", c)
	return err
}
