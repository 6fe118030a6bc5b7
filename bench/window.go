package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/firstseen/firstseen/bench/gen"
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
)

// windowConfig holds the options of window.
type windowConfig struct {
	gen      gen.Config
	window   int64 // documents, one per second
	every    int64 // documents per row
	workers  int
	memtable int // 0: the default
	dir      string
}

// windowed feeds generated documents with times through the whole pipeline, in a window that holds
// part of them. It compares every verdict with the truth. Once the window is full, memory and disk
// must stay within 15%, and the last window must have 85% of the speed of the second.
func windowed(ctx context.Context, args []string, out io.Writer) error {
	var cfg windowConfig
	fs := flag.NewFlagSet("window", flag.ContinueOnError)
	genFlags(fs, &cfg.gen, 20_000_000)
	fs.Int64Var(&cfg.window, "window", 5_000_000, "documents that the window holds")
	fs.IntVar(&cfg.workers, "j", runtime.NumCPU(), "goroutines that parse and extract")
	fs.IntVar(&cfg.memtable, "memtable", 0, "keys in memory, 0 for the default")
	fs.StringVar(&cfg.dir, "dir", "", "`directory` of the index, a temporary one by default")
	profile := fs.String("cpuprofile", "", "write a profile of the run to this `file`")
	if err := fs.Parse(args); err != nil {
		return err
	}
	stop, err := startProfile(*profile)
	if err != nil {
		return err
	}
	w, err := runWindow(ctx, cfg, out)
	if err = errors.Join(err, stop()); err != nil {
		return err
	}
	return w.failed()
}

// windowWatcher sees every decision of a run in a window, and measures in between.
type windowWatcher struct {
	cfg   windowConfig
	truth *windowTruth
	index *index.Index
	out   io.Writer
	peak  peak
	done  int64
	last  usage
	rows  []windowRow
	checks
}

// windowRow is the state after this many documents. Rate, CPU time and peak memory are since the
// last row.
type windowRow struct {
	docs       int64
	rate, cpu  float64 // documents/s, µs a document
	anonymous  int64
	file, free int64
	entries    uint64
	fill       float64
}

// windowStart is the time of the first document, in the past, since future times are refused.
const windowStart = 1_600_000_000

// runWindow makes the run and returns its figures.
func runWindow(ctx context.Context, cfg windowConfig, out io.Writer) (w *windowWatcher, err error) {
	if cfg.dir == "" {
		if cfg.dir, err = os.MkdirTemp("", "firstseen-window-"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(cfg.dir)
	}
	if w, err = newWindowWatcher(cfg, out); err != nil {
		return nil, err
	}
	return w, w.run(ctx)
}

func newWindowWatcher(cfg windowConfig, out io.Writer) (*windowWatcher, error) {
	cfg.gen.Start = windowStart
	cfg.every = max(cfg.window/5, 1)
	g, err := gen.New(cfg.gen)
	if err != nil {
		return nil, err
	}
	// A full filter is rebuilt, and grows if that leaves it half full.
	shape := index.ShapeFor(uint64(5*cfg.window/2), feature.Scheme{}, false)
	x, err := index.Open(context.Background(), cfg.dir, index.Options{Key: index.KeyAsIs, Shape: shape, MemtableKeys: cfg.memtable})
	if err != nil {
		return nil, err
	}
	return &windowWatcher{cfg: cfg, truth: newWindowTruth(g, cfg.gen, cfg.window), index: x, out: out}, nil
}

// run makes and evaluates the run, and closes the index.
func (w *windowWatcher) run(ctx context.Context) error {
	if err := w.decide(ctx); err != nil {
		return errors.Join(err, w.index.Close())
	}
	w.truth.evaluate(&w.checks)
	w.evaluate()
	w.truth.write(w.out)
	w.checks.write(w.out)
	return w.index.Close()
}

// decide is the measured part.
func (w *windowWatcher) decide(ctx context.Context) error {
	documents := w.truth.gen.NewReader()
	format := jsonl.Format{Fields: jsonl.Fields{Time: "at"}}
	source := corpus.NewSource([]input.Input{{Path: input.Stdin, Name: "generated", Size: -1}}, format, corpus.SourceConfig{Stdin: documents})
	stop := w.peak.watch()
	w.last = now()
	fmt.Fprint(w.out, "| documents | docs/s | µs of CPU a document | anonymous MiB | table MB | of it free | entries M | fill |\n|---|---|---|---|---|---|---|---|\n")
	began := w.last
	_, err := pipeline.Run(ctx, w.index, pipeline.Job{
		Source: source, Workers: w.cfg.workers, Each: w.each,
		Choices: pipeline.Choices{Window: pipeline.Window{Seconds: uint32(w.cfg.window), Told: true}},
		Warn:    func(s string) { fmt.Fprintln(w.out, "warning:", s) },
	})
	stop()
	took := now().minus(began)
	fmt.Fprintf(w.out, "\n%d documents in %.0f s, %.0f s of CPU, %.0f s of them the generator's; filter grown %d times\n",
		w.done, took.wall, took.cpu, float64(documents.CPU())/1e9, w.index.Grown())
	return err
}

func (w *windowWatcher) each(id string, r *dedup.Result, _ dedup.Counts) error {
	n, err := gen.Number(id)
	if err != nil {
		return err
	}
	w.truth.judge(n, r)
	if w.done++; w.done%w.cfg.every != 0 {
		return nil
	}
	at := now()
	took, st := at.minus(w.last), w.index.Table().Stats()
	w.peak.note(readMemory())
	row := windowRow{
		docs: w.done, rate: float64(w.cfg.every) / took.wall, cpu: took.cpu / float64(w.cfg.every) * 1e6,
		anonymous: w.peak.take().Anonymous, file: st.Bytes, free: st.FreeBytes, entries: st.Entries, fill: w.index.Filter().Fill(),
	}
	w.rows = append(w.rows, row)
	fmt.Fprintf(w.out, "| %d | %.0f | %.1f | %d | %.0f | %.0f | %.1f | %.3f |\n", row.docs, row.rate, row.cpu,
		row.anonymous/mib, float64(row.file)/1e6, float64(row.free)/1e6, float64(row.entries)/1e6, row.fill)
	w.last = now() // time spent measuring does not count
	return nil
}

// evaluate checks the promises of a full window. With the open slice, 9/8 of it are stored.
func (w *windowWatcher) evaluate() {
	var full []windowRow
	for i, r := range w.rows {
		if i > 0 && w.rows[i-1].docs >= w.cfg.window*9/8 {
			full = append(full, r)
		}
	}
	if len(full) == 0 {
		return // it was never full
	}
	flat := func(what string, of func(*windowRow) int64) {
		least, most := of(&full[0]), of(&full[0])
		for i := range full {
			least, most = min(least, of(&full[i])), max(most, of(&full[i]))
		}
		share := 100 * (float64(most)/float64(least) - 1)
		w.expect(share <= 15, what+" flat within 15% once the window is full", "%.1f%%, from %.0f to %.0f MB", share, float64(least)/1e6, float64(most)/1e6)
	}
	if full[0].anonymous > 0 { // known on this system
		flat("memory", func(r *windowRow) int64 { return r.anonymous })
	}
	flat("disk", func(r *windowRow) int64 { return r.file })
	window := int(w.cfg.window / w.cfg.every)
	if len(w.rows) < 3*window {
		return
	}
	second, last := seconds1M(w.rows[window:2*window]), seconds1M(w.rows[len(w.rows)-window:])
	w.expect(second.wall/last.wall >= 0.85, "the last window at 85% of the speed of the second", "%.0f%%; by CPU time %.0f%%", 100*second.wall/last.wall, 100*second.cpu/last.cpu)
}

// seconds1M returns the time per million documents over rows of one size.
func seconds1M(rows []windowRow) (u usage) {
	for i := range rows {
		u = u.plus(usage{1e6 / rows[i].rate / float64(len(rows)), rows[i].cpu / float64(len(rows))})
	}
	return u
}
