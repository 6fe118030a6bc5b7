package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Config selects the trials.
type Config struct {
	Program  *Program
	Dir      string // for all files; left behind with Keep
	N        int    // kills or faults that must arrive, over all workloads
	Seed     uint64
	From     int    // number of the first trial
	Workload string // only this one
	Jobs     int    // trials at a time
	Keep     bool   // leave the folders of trials with differences
}

// ErrDifferences is returned if a disturbed run has another result than an undisturbed one.
var ErrDifferences = errors.New("there were differences")

// Kills kills runs of the workloads until cfg.N signals have ended one. It repeats each command
// until it ends, and compares outputs, summary and index with those of an undisturbed run. It
// prints a line for each workload: the trials, the kills and their places, and the trials that
// differed. The error is ErrDifferences if any did.
func Kills(ctx context.Context, cfg Config, out io.Writer) error {
	// Children inherit that nohup has SIGHUP ignored, unless this process catches it.
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	files, err := choose(append(fileWorkloads(), pipeNames()...), cfg.Workload)
	if err != nil {
		return err
	}
	b, err := prepare(ctx, cfg.Program, cfg.Dir, files)
	if err != nil {
		return err
	}
	c := &campaign{bench: b, cfg: cfg, out: out, what: "kills"}
	return c.run(ctx, files, func(ctx context.Context, r *reference, rng *rand.Rand, dir string, l *ledger) ([]string, []string) {
		k := &killing{bench: b, reference: r, rng: rng, dir: dir, ledger: l}
		return k.trial(ctx), k.history
	})
}

// A campaign runs trials of workloads in turn until enough kills or faults have arrived.
type campaign struct {
	*bench
	cfg  Config
	out  io.Writer
	what string
}

// trialFunc runs one trial and returns its differences and history.
type trialFunc func(ctx context.Context, r *reference, rng *rand.Rand, dir string, l *ledger) (differences, history []string)

func (c *campaign) run(ctx context.Context, all []*workload, trial trialFunc) error {
	refs := make([]*reference, len(all))
	ledgers := make([]*ledger, len(all))
	repeat := fmt.Sprintf("bench %s -seed %d -n 1 -workload %%s -from %%d", c.what, c.cfg.Seed)
	for i, w := range all {
		ledgers[i] = newLedger(c.out, repeat)
		refs[i] = &reference{workload: w}
		if len(w.steps) == 0 { // a pipe
			continue
		}
		var err error
		if refs[i], err = c.reference(ctx, w); err != nil {
			return err
		}
	}
	var next atomic.Int64
	next.Store(int64(c.cfg.From))
	var wg sync.WaitGroup
	for range max(c.cfg.Jobs, 1) {
		wg.Go(func() {
			for ctx.Err() == nil && arrived(ledgers) < c.cfg.N {
				number := int(next.Add(1) - 1)
				at := number % len(all)
				c.trial(ctx, refs[at], number, ledgers[at], trial)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return c.table(all, ledgers)
}

func arrived(ledgers []*ledger) (n int) {
	for _, l := range ledgers {
		l.mu.Lock()
		n += l.arrived
		l.mu.Unlock()
	}
	return n
}

func (c *campaign) trial(ctx context.Context, r *reference, number int, l *ledger, trial trialFunc) {
	dir := filepath.Join(c.root, fmt.Sprintf("%s-%d", r.name, number))
	err := r.setUp(c.root, dir)
	var differences, history []string
	if err == nil {
		rng := rand.New(rand.NewPCG(c.cfg.Seed, uint64(number)))
		differences, history = trial(ctx, r, rng, dir, l)
	} else {
		differences = []string{err.Error()}
	}
	if ctx.Err() != nil {
		return // an interrupted trial says nothing
	}
	l.end(r.name, number, history, differences)
	if len(differences) == 0 || !c.cfg.Keep {
		os.RemoveAll(dir)
	}
}

func (c *campaign) table(all []*workload, ledgers []*ledger) error {
	fmt.Fprintf(c.out, "| workload | trials | %s | where | trials that differ |\n|---|---|---|---|---|\n", c.what)
	trials, arrived, differ := 0, 0, 0
	for i, w := range all {
		l := ledgers[i]
		fmt.Fprintln(c.out, l.row(w.name))
		trials, arrived, differ = trials+l.trials, arrived+l.arrived, differ+l.differences
	}
	fmt.Fprintf(c.out, "| all | %d | %d | | %d |\n", trials, arrived, differ)
	if differ > 0 {
		return ErrDifferences
	}
	return nil
}

// killing is one trial: a workload, killed several times and then left alone.
type killing struct {
	*bench
	*reference
	rng     *rand.Rand
	dir     string
	ledger  *ledger
	history []string
}

func (k *killing) trial(ctx context.Context) []string {
	if len(k.steps) == 0 {
		return k.pipe(ctx)
	}
	kills := 1 + k.rng.IntN(4)
	for i, s := range k.steps {
		last := i == len(k.steps)-1
		for attempt := 0; ; attempt++ {
			over, difference := k.attempt(ctx, s, last, attempt < kills)
			if difference != "" {
				return []string{difference}
			}
			if over {
				break
			}
		}
	}
	return k.compare(ctx, k.reference, k.dir)
}

// attempt runs the command once, and kills it if asked to. It reports whether the step is over.
func (k *killing) attempt(ctx context.Context, s step, last, kill bool) (over bool, difference string) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := k.program.command(ctx, k.dir, s.args...)
	if err := cmd.Start(); err != nil {
		return false, err.Error()
	}
	ended := make(chan struct{})
	killer := make(chan string, 1)
	if kill {
		in, by := k.instant(), k.signals()
		go func() { killer <- in.String() + by.send(cmd.Process, in.wait(k.dir, ended), ended) }()
	}
	err := cmd.Wait()
	close(ended)
	if kill {
		k.history = append(k.history, <-killer)
	}
	code := cmd.ProcessState.ExitCode()
	switch {
	case ctx.Err() != nil:
		return false, fmt.Sprintf("no end after %v: %s", patience, said(cmd))
	case isOurFault(said(cmd)):
		return false, "it panicked: " + said(cmd)
	case code == s.code:
		return true, ""
	case !kill || !wasKilled(cmd):
		return false, fmt.Sprintf("%q: %v: %s", cmd.Args[1:], err, said(cmd))
	}
	phase := k.phase(k.dir)
	k.history[len(k.history)-1] += ": " + phase
	k.ledger.arrive(phase)
	return last && phase == "over", ""
}

// exitInterrupted is the exit code of an interrupted run.
const exitInterrupted = 130

func wasKilled(cmd *exec.Cmd) bool {
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() || cmd.ProcessState.ExitCode() == exitInterrupted
}

// An instant is the time of a kill.
type instant struct {
	file  string        // once it exists; empty: at once
	bytes int64         // and has this size
	gone  bool          // or has been removed
	delay time.Duration // after that
}

func (i *instant) String() string {
	switch {
	case i.file == "":
		return fmt.Sprintf("after %v", i.delay)
	case i.gone:
		return fmt.Sprintf("%v after %s was gone", i.delay, i.file)
	case i.bytes > 0:
		return fmt.Sprintf("%v after %s had %d bytes", i.delay, i.file, i.bytes)
	}
	return fmt.Sprintf("%v after %s was there", i.delay, i.file)
}

// instant draws an instant: over the whole life of the run, when a file comes or goes, or at a size
// of the output.
func (k *killing) instant() *instant {
	var in instant
	switch kind := k.rng.IntN(10); {
	case kind < 4:
		return &instant{delay: time.Duration(k.rng.Int64N(int64(k.took) * 11 / 10))}
	case kind < 9:
		files := []string{
			indexDir + "/table.db.new", indexDir + "/table.db", indexDir + "/filter.bloom.tmp", indexDir + "/filter.bloom.tmp",
			indexDir + "/filter.bloom", k.outputs[0] + ".partial", k.outputs[0], k.outputs[len(k.outputs)-1], summaryFile,
		}
		in.file = files[k.rng.IntN(len(files))]
		in.gone = k.rng.IntN(2) == 0
	default:
		in.file = k.outputs[0] + ".partial"
		in.bytes = k.rng.Int64N(k.size + 1)
	}
	in.delay = time.Duration(k.rng.Int64N(int64(3 * time.Millisecond)))
	return &in
}

// wait waits for the instant, or the end of the process.
func (i *instant) wait(dir string, ended <-chan struct{}) bool {
	path := filepath.Join(dir, i.file)
	was := false
	for i.file != "" {
		info, err := os.Stat(path)
		was = was || err == nil
		if err == nil && !i.gone && info.Size() >= i.bytes || err != nil && i.gone && was {
			break
		}
		select {
		case <-ended:
			return false
		case <-time.After(50 * time.Microsecond):
		}
	}
	select {
	case <-ended:
		return false
	case <-time.After(i.delay):
		return true
	}
}

// signals is one signal, or two with some time between.
type signals struct {
	list []syscall.Signal
	gap  time.Duration
}

func (k *killing) signals() *signals {
	one := []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}
	s := &signals{gap: time.Duration(k.rng.Int64N(int64(10 * time.Millisecond)))}
	switch kind := k.rng.IntN(20); {
	case kind < 11:
		s.list = one[:1]
	case kind < 17:
		s.list = one[1+kind%3:][:1]
	default:
		s.list = []syscall.Signal{one[1+k.rng.IntN(3)], one[k.rng.IntN(4)]}
	}
	return s
}

// send sends the signals, if the instant came before the end, and describes them.
func (s *signals) send(p *os.Process, came bool, ended <-chan struct{}) string {
	if !came {
		return ", which did not come"
	}
	text := ""
	for i, sig := range s.list {
		if i > 0 {
			select {
			case <-ended:
				return text
			case <-time.After(s.gap):
			}
		}
		text += fmt.Sprintf(", %v", sig)
		if err := p.Signal(sig); err != nil {
			return text + " came too late"
		}
	}
	return text
}

// pipeNames returns the workloads of a stream; see pipe.go.
func pipeNames() []*workload { return slices.Clone(pipeWorkloads) }
