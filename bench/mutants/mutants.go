package mutants

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config holds the mutants to test, and limits.
type Config struct {
	Root  string // of the module
	Dir   string // for the copies
	List  []Mutant
	Jobs  int           // copies in use at a time
	Limit time.Duration // for the tests of one mutant, if positive; longer ones count as hung
	Flags []string      // of go test, in addition to those of each mutant
}

// ErrSurvived is returned when a mutant survived unexpectedly, or one known to survive was caught.
var ErrSurvived = errors.New("mutants survived, or the list does not fit the code")

// verdict is the result of a mutant.
type verdict int

const (
	caught   verdict = iota
	hung             // its tests ran out of time: caught, unless the machine was slow
	survived         // all tests passed
	broken           // it does not fit the code, or does not compile
)

// Run applies every mutant in a copy and runs its tests. It prints survivors at once.
func Run(ctx context.Context, cfg Config, out io.Writer) error {
	work := make(chan *Mutant)
	go func() {
		defer close(work)
		for i := range cfg.List {
			select {
			case work <- &cfg.List[i]:
			case <-ctx.Done():
				return
			}
		}
	}()
	t := &tally{out: out, packages: map[string]*[2]int{}}
	errs := make([]error, max(cfg.Jobs, 1))
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = cfg.worker(ctx, i, work, t) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return t.end()
}

func (cfg *Config) worker(ctx context.Context, number int, work <-chan *Mutant, t *tally) error {
	root := filepath.Join(cfg.Dir, fmt.Sprintf("copy-%d", number))
	if err := copyModule(root, cfg.Root); err != nil {
		return fmt.Errorf("copying the module: %w", err)
	}
	for m := range work {
		v, what := cfg.try(ctx, root, m)
		if ctx.Err() != nil {
			return nil
		}
		t.enter(m, v, what)
	}
	return nil
}

// copyModule copies all files except those of git.
func copyModule(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case d.Name() == ".git" && d.IsDir():
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o777)
		case !d.Type().IsRegular() || d.Name() == ".git":
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), data, 0o666)
	})
}

// try tests one mutant, and returns the end of the tests' output.
func (cfg *Config) try(ctx context.Context, root string, m *Mutant) (v verdict, what string) {
	path, whole, changed, err := m.apply(root)
	if err != nil {
		return broken, err.Error()
	}
	if err := os.WriteFile(path, changed, 0o666); err != nil {
		return broken, err.Error()
	}
	defer func() {
		if err := os.WriteFile(path, whole, 0o666); err != nil {
			v, what = broken, err.Error()
		}
	}()
	if cfg.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cfg.Limit)
		defer cancel()
	}
	for _, pkg := range m.packages() {
		v, what = cfg.test(ctx, root, append(m.flags(), pkg))
		if v != survived {
			break
		}
	}
	return v, what
}

// test runs the tests of one package.
func (cfg *Config) test(ctx context.Context, root string, args []string) (v verdict, what string) {
	args = slices.Concat([]string{"test", "-count=1", "-failfast", "-vet=off"}, cfg.Flags, args)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "TMPDIR="+cfg.Dir)
	cmd.WaitDelay = 5 * time.Second
	said, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return hung, ""
	case err == nil:
		return survived, ""
	case strings.Contains(string(said), "[build failed]"), strings.Contains(string(said), "[setup failed]"):
		return broken, string(said)
	}
	return caught, failed(string(said))
}

// failed returns the name of the first test that failed.
func failed(said string) string {
	for line := range strings.Lines(said) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: "); ok {
			return strings.Fields(name)[0]
		}
	}
	return "no test by name"
}

// tally counts the results.
type tally struct {
	mu       sync.Mutex
	out      io.Writer
	packages map[string]*[2]int // caught and all, without those known to survive
	hung     int                // of those caught
	known    int                // survived as known
	bad      int
}

func (t *tally) enter(m *Mutant, v verdict, what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if v == survived && m.Survives != "" {
		t.known++
		fmt.Fprintf(t.out, "survived, as known: %s (%s): %s\n", m.Name, m.Dir, m.Survives)
		return
	}
	dir := m.Dir
	if t.packages[dir] == nil {
		t.packages[dir] = new([2]int)
	}
	t.packages[dir][1]++
	switch {
	case v == broken:
		t.bad++
		fmt.Fprintf(t.out, "BROKEN: %s: %s\n", m.Name, strings.TrimSpace(what))
	case v == survived:
		t.bad++
		fmt.Fprintf(t.out, "SURVIVED: %s (%s), tests %s\n", m.Name, m.Dir, strings.Join(m.Test, " "))
	case v == hung:
		t.packages[dir][0]++
		t.hung++
		fmt.Fprintf(t.out, "hung: %s (%s)\n", m.Name, m.Dir)
	case m.Survives != "":
		t.bad++
		fmt.Fprintf(t.out, "CAUGHT, though said to survive: %s (%s) by %s\n", m.Name, m.Dir, what)
	default:
		t.packages[dir][0]++
		fmt.Fprintf(t.out, "caught: %s (%s) by %s\n", m.Name, m.Dir, what)
	}
}

func (t *tally) end() error {
	fmt.Fprintln(t.out, "\n| package | mutants | caught |\n|---|---|---|")
	sum := [2]int{}
	for _, dir := range slices.Sorted(maps.Keys(t.packages)) {
		p := t.packages[dir]
		sum[0], sum[1] = sum[0]+p[0], sum[1]+p[1]
		fmt.Fprintf(t.out, "| %s | %d | %d |\n", dir, p[1], p[0])
	}
	fmt.Fprintf(t.out, "| all | %d | %d (%.1f%%) |\n\nOf those caught %d hung. Beside these %d survive for the reason given.\n",
		sum[1], sum[0], 100*float64(sum[0])/float64(max(sum[1], 1)), t.hung, t.known)
	if t.bad > 0 {
		return ErrSurvived
	}
	return nil
}
