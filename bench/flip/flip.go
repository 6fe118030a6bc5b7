// Package flip damages the files of an index in every small way, and queries the index after each.
// The index must refuse, or answer as if nothing had happened.
//
//   - every bit of every byte is flipped,
//   - files are truncated,
//   - sectors and pages are zeroed,
//   - pages are swapped.
package flip

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// Config holds the folder and the amount of work.
type Config struct {
	Program string // firstseen, built
	Self    []string
	Dir     string
	Jobs    int
	Sort    string // only this sort of index
	File    string // only this file
	Step    int    // interval between bits, for a quick look
}

// hang is the time limit of a worker for one damage.
const hang = 30 * time.Second

// ErrWrong is returned when a damaged index gave other answers, panicked or hung.
var ErrWrong = errors.New("a damaged index was believed")

// Run damages all files of small indexes of all sorts, and prints the results as a table.
func Run(ctx context.Context, cfg Config, out io.Writer) error {
	fmt.Fprintln(out, "| index | file | bytes | damage | questions | refused | the same answers | wrong |\n|---|---|---|---|---|---|---|---|")
	wrong := 0
	for _, s := range sorts {
		if cfg.Sort != "" && cfg.Sort != s.name {
			continue
		}
		dir := filepath.Join(cfg.Dir, s.name)
		if err := build(ctx, cfg.Program, dir, s.made, s.flags); err != nil {
			return err
		}
		files, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, f := range files {
			if cfg.File != "" && cfg.File != f.Name() {
				continue
			}
			n, err := cfg.file(ctx, out, s.name, dir, f.Name())
			if err != nil {
				return err
			}
			wrong += n
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%w %d times", ErrWrong, wrong)
	}
	return nil
}

// file damages one file, with several workers.
func (cfg *Config) file(ctx context.Context, out io.Writer, name, dir, file string) (wrong int, err error) {
	info, err := os.Stat(filepath.Join(dir, file))
	if err != nil {
		return 0, err
	}
	all := len(damages(int(info.Size())))
	p := &part{cfg: cfg, out: out, name: name, whole: dir, file: file, tallies: make([]Tally, len(kindNames))}
	parts := max(cfg.Jobs, 1)
	errs := make([]error, parts)
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() { errs[i] = p.work(ctx, i, all*i/parts, all*(i+1)/parts) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return 0, err
	}
	for k, t := range p.tallies {
		if t.Done > 0 {
			fmt.Fprintf(out, "| %s | %s | %d | %v | %d | %d | %d | %d |\n", name, file, info.Size(), kind(k), t.Done, t.Refused, t.Same, t.Wrong)
		}
		wrong += t.Wrong
	}
	return wrong, nil
}

// part is the work on one file.
type part struct {
	cfg               *Config
	out               io.Writer
	name, whole, file string
	mu                sync.Mutex
	tallies           []Tally
	shown             int
}

// work runs processes for the damages from..to, a new one after each that died. The tally of a dead
// process is lost, except for the damage that killed it.
func (p *part) work(ctx context.Context, number, from, to int) error {
	note := filepath.Join(p.cfg.Dir, fmt.Sprintf("at-%d", number))
	for from < to {
		w := Worker{
			Whole: p.whole, Dir: filepath.Join(p.cfg.Dir, fmt.Sprintf("copy-%d", number)), File: p.file,
			From: from, To: to, Step: p.cfg.Step, Note: note,
		}
		if err := os.WriteFile(note, binary.LittleEndian.AppendUint64(nil, uint64(from)), 0o666); err != nil {
			return err
		}
		died := p.process(ctx, &w)
		if died == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		at, err := readNote(note)
		if err != nil {
			return err
		}
		p.enter(finding{Number: at, What: fmt.Sprintf("damage %d: %v", at, died)})
		p.mu.Lock()
		p.tallies[bit].Done, p.tallies[bit].Wrong = p.tallies[bit].Done+1, p.tallies[bit].Wrong+1
		p.mu.Unlock()
		from = at + 1
	}
	return nil
}

func readNote(path string) (int, error) {
	b, err := os.ReadFile(path)
	if err != nil || len(b) < 8 {
		return 0, fmt.Errorf("reading how far a worker came: %w", err)
	}
	return int(binary.LittleEndian.Uint64(b)), nil
}

// process runs one worker to its end and records its findings.
func (p *part) process(ctx context.Context, w *Worker) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	args := append(append([]string{}, p.cfg.Self[1:]...), "-whole", w.Whole, "-copy", w.Dir, "-file", w.File,
		"-from", strconv.Itoa(w.From), "-to", strconv.Itoa(w.To), "-step", strconv.Itoa(w.Step), "-note", w.Note)
	cmd := exec.CommandContext(ctx, p.cfg.Self[0], args...)
	var said head
	cmd.Stderr = &said
	found, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go watch(ctx, cancel, w.Note)
	lines := bufio.NewScanner(found)
	for lines.Scan() {
		var f finding
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return err
		}
		p.enter(f)
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", errors.Join(err, context.Cause(ctx)), said.text)
	}
	return nil
}

// watch ends a worker that makes no progress.
func watch(ctx context.Context, cancel context.CancelCauseFunc, note string) {
	last, since := -1, time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
		if at, err := readNote(note); err == nil && at != last {
			last, since = at, time.Now()
		}
		if time.Since(since) > hang {
			cancel(errors.New("it came to no end"))
			return
		}
	}
}

// maxShown bounds the lines about one file.
const maxShown = 20

func (p *part) enter(f finding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, t := range f.Tallies {
		sum := &p.tallies[k]
		sum.Done, sum.Refused, sum.Same, sum.Wrong = sum.Done+t.Done, sum.Refused+t.Refused, sum.Same+t.Same, sum.Wrong+t.Wrong
	}
	if f.What == "" {
		return
	}
	if p.shown++; p.shown <= maxShown {
		fmt.Fprintf(p.out, "WRONG: %s/%s, %s\n", p.name, p.file, f.What)
	}
}

// head keeps the start of a process's output, such as the first lines of a stack.
type head struct{ text []byte }

func (t *head) Write(b []byte) (int, error) {
	if room := 2000 - len(t.text); room > 0 {
		t.text = append(t.text, b[:min(room, len(b))]...)
	}
	return len(b), nil
}
