package crash

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// faulty lists the system calls to fail, with their errors. Short writes come from a limit on file
// sizes, since strace would report bytes as written that are not.
var faulty = []struct {
	call   string
	errors []string
}{
	{"write", []string{"EIO", "ENOSPC", "EDQUOT", "EINTR"}},
	{"pwrite64", []string{"EIO", "ENOSPC"}},
	{"read", []string{"EIO"}},
	{"pread64", []string{"EIO"}},
	{"fsync", []string{"EIO", "ENOSPC"}},
	{"fdatasync", []string{"EIO", "ENOSPC", "EINTR"}},
	{"renameat", []string{"EIO", "ENOSPC", "EACCES"}},
	{"openat", []string{"EIO", "EMFILE", "EACCES", "ENOSPC"}},
	{"ftruncate", []string{"EIO", "ENOSPC"}},
	{"mmap", []string{"ENOMEM"}},
	{"unlinkat", []string{"EIO", "EACCES"}},
	{"flock", []string{"ENOLCK"}},
	{"newfstatat", []string{"EIO"}},
	{"fstat", []string{"EIO"}},
	{"fchmod", []string{"EIO"}},
}

// shortWrite is the fault of a file that may not grow.
const shortWrite = "short write"

// HaveStrace reports whether strace is installed and can make system calls fail.
func HaveStrace() bool {
	return exec.Command("strace", "-f", "-o", os.DevNull, "-e", "inject=fsync:error=EIO", "true").Run() == nil
}

// Faults makes system calls on the files of a run fail, one or all from one on, until cfg.N runs
// have met a fault. The program must report it and exit with a failure, or still reach the right
// result. The same command without faults must reach it. A third of the runs were killed before and
// are being continued. Output and error are as for [Kills]. Without strace it says so and does
// nothing.
func Faults(ctx context.Context, cfg Config, out io.Writer) error {
	if !HaveStrace() {
		_, err := fmt.Fprintln(out, "faults: skipped: there is no strace here that can let system calls fail (Debian's package strace; on a container, ptrace must be allowed)")
		return err
	}
	all, err := choose(fileWorkloads(), cfg.Workload)
	if err != nil {
		return err
	}
	b, err := prepare(ctx, cfg.Program, cfg.Dir, all)
	if err != nil {
		return err
	}
	calls := map[*workload][]map[string]int{}
	for _, w := range all {
		if calls[w], err = b.countCalls(ctx, w); err != nil {
			return err
		}
	}
	c := &campaign{bench: b, cfg: cfg, out: out, what: "faults"}
	return c.run(ctx, all, func(ctx context.Context, r *reference, rng *rand.Rand, dir string, l *ledger) ([]string, []string) {
		f := &faulting{killing: &killing{bench: b, reference: r, rng: rng, dir: dir, ledger: l}, calls: calls[r.workload]}
		return f.trial(ctx), f.history
	})
}

// faulting is one trial.
type faulting struct {
	*killing
	calls []map[string]int // of an undisturbed run, per step
}

// trace returns the command line of strace. It traces only calls on the files of the run, since the
// program is not responsible for those of the Go runtime.
func trace(dir string, w *workload, log string, expression ...string) []string {
	args := []string{"strace", "-f", "-y", "--seccomp-bpf", "--quiet=attach,exit,path-resolution", "-o", log}
	for _, e := range expression {
		args = append(args, "-e", e)
	}
	names := []string{".", indexDir, "older", "older/report", "older/report.partial", summaryFile, summaryFile + ".tmp"}
	for _, name := range []string{"table.db", "table.db.new", "filter.bloom", "filter.bloom.tmp", "key", "key.tmp", "lock"} {
		names = append(names, filepath.Join(indexDir, name))
	}
	for _, name := range w.outputs {
		names = append(names, name, name+".partial")
	}
	for _, s := range w.steps {
		for _, arg := range s.args {
			if strings.HasPrefix(arg, "../in/") {
				names = append(names, arg)
			}
		}
	}
	for _, name := range names {
		args = append(args, "-P", name, "-P", filepath.Join(dir, name))
	}
	return args
}

// countCalls runs a workload undisturbed and counts its calls per step and kind. The maximum over
// all threads counts, as for strace.
func (b *bench) countCalls(ctx context.Context, w *workload) ([]map[string]int, error) {
	dir := filepath.Join(b.root, w.name+"-calls")
	if err := w.setUp(b.root, dir); err != nil {
		return nil, err
	}
	var steps []map[string]int
	for _, s := range w.steps {
		log := filepath.Join(dir, "calls")
		cmd := b.program.under(ctx, dir, trace(dir, w, log, "trace="+strings.Join(callNames(), ",")), s.args...)
		_ = cmd.Run() // the exit code is checked below
		if code := cmd.ProcessState.ExitCode(); code != s.code {
			return nil, fmt.Errorf("%s: under strace it ends with code %d, want %d: %s", w.name, code, s.code, said(cmd))
		}
		counts, err := countLog(log)
		if err != nil {
			return nil, err
		}
		steps = append(steps, counts)
	}
	return steps, os.RemoveAll(dir)
}

func callNames() []string {
	var names []string
	for _, f := range faulty {
		names = append(names, f.call)
	}
	return names
}

// countLog reads lines such as "4711 fsync(3</index/table.db>) = 0".
func countLog(path string) (map[string]int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	byThread, most := map[[2]string]int{}, map[string]int{}
	for l := range strings.Lines(string(text)) {
		thread, call, _ := strings.Cut(l, " ")
		call, _, found := strings.Cut(strings.TrimSpace(call), "(")
		if !found || !slices.Contains(callNames(), call) {
			continue
		}
		byThread[[2]string{thread, call}]++
		most[call] = max(most[call], byThread[[2]string{thread, call}])
	}
	return most, nil
}

func (f *faulting) trial(ctx context.Context) []string {
	at := f.rng.IntN(len(f.steps))
	for i, s := range f.steps {
		last := i == len(f.steps)-1
		if i == at {
			over, difference := f.disturbed(ctx, i, last)
			if difference != "" {
				return []string{difference}
			}
			if over {
				continue
			}
		}
		if code, stderr := f.program.run(ctx, f.dir, s.args...); code != s.code {
			return []string{fmt.Sprintf("without faults it ends with code %d, want %d: %s", code, s.code, stderr)}
		}
	}
	return f.compare(ctx, f.reference, f.dir)
}

// disturbed runs a step with faults, sometimes after a kill. It reports whether the step is over.
func (f *faulting) disturbed(ctx context.Context, at int, last bool) (over bool, difference string) {
	s := f.steps[at]
	if f.rng.IntN(3) == 0 {
		quiet := *f.killing
		quiet.ledger = newLedger(io.Discard, "")
		over, difference = quiet.attempt(ctx, s, last, true)
		f.history = quiet.history
		if over || difference != "" {
			return over, difference
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd, fault, log := f.faultyCommand(ctx, at)
	err := cmd.Run()
	code, stderr := cmd.ProcessState.ExitCode(), said(cmd)
	met := code != s.code
	if log != "" {
		where := injected(log)
		met = where != ""
		f.history = append(f.history, fault+": "+where)
	} else {
		f.history = append(f.history, fault)
	}
	f.history = append(f.history, fmt.Sprintf("code %d: %s", code, strings.TrimSpace(stderr)))
	if met {
		f.ledger.arrive(strings.TrimRight(strings.Fields(fault)[0], ","))
	}
	switch {
	case ctx.Err() != nil:
		return false, fmt.Sprintf("no end after %v: %s", patience, stderr)
	case isOurFault(stderr):
		return false, "it panicked: " + stderr
	case code == s.code:
		return true, ""
	case code != 1 || !strings.HasPrefix(stderr, "firstseen: "):
		return false, fmt.Sprintf("it ends with code %d (%v), and no message that says why: %s", code, err, stderr)
	}
	if over = last && f.phase(f.dir) == "over"; over {
		f.ledger.count("failed though all was done", 1)
	}
	return over, ""
}

// faultyCommand draws a fault. It returns the command that meets it, a description that begins with
// the call, and the log of strace.
func (f *faulting) faultyCommand(ctx context.Context, at int) (cmd *exec.Cmd, fault, log string) {
	s := f.steps[at]
	if f.rng.IntN(8) == 0 {
		blocks := 1 + f.rng.IntN(int(f.size/512)) // sh counts in units of 512 bytes
		fault = fmt.Sprintf("%s, no file larger than %d bytes", strings.ReplaceAll(shortWrite, " ", "-"), blocks*512)
		limit := []string{"sh", "-c", "ulimit -f " + strconv.Itoa(blocks) + `; exec "$@"`, "sh"}
		return f.program.under(ctx, f.dir, limit, s.args...), fault, ""
	}
	pick := faulty[f.rng.IntN(len(faulty))]
	for f.calls[at][pick.call] == 0 {
		pick = faulty[f.rng.IntN(len(faulty))]
	}
	failure := pick.errors[f.rng.IntN(len(pick.errors))]
	when := strconv.Itoa(1 + f.rng.IntN(f.calls[at][pick.call]))
	// An interrupted call is retried, forever if it never succeeds.
	if f.rng.IntN(3) == 0 && failure != "EINTR" {
		when += "+" // that one and all after it
	}
	expression := fmt.Sprintf("%s:error=%s:when=%s", pick.call, failure, when)
	log = filepath.Join(f.dir, "faults")
	return f.program.under(ctx, f.dir, trace(f.dir, f.workload, log, "trace="+pick.call, "inject="+expression), s.args...),
		strings.Replace(expression, ":", " ", 1), log
}

// injected returns the first call that was made to fail, or "".
func injected(log string) string {
	file, err := os.Open(log)
	if err != nil {
		return ""
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.Contains(lines.Text(), "(INJECTED)") {
			return lines.Text()
		}
	}
	return ""
}
