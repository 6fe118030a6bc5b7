package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/firstseen/firstseen/bench/gen"
	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/testing/effort"
)

// millionConfig holds the options of ten-million.
type millionConfig struct {
	gen        gen.Config
	memory     uint64 // of the filter
	filterOnly bool
	dir        string
	workers    int
	probes     int // random keys tested at each row, for the false-positive rate
	lookups    int
	memtable   int // 0: the default
	headlines  bool
	watched    bool // under the race detector, whose memory is not the program's
}

// tenMillion runs the whole pipeline, from JSON to side table, and checks results by the truth.
func tenMillion(ctx context.Context, args []string, out io.Writer) error {
	var cfg millionConfig
	fs := flag.NewFlagSet("ten-million", flag.ContinueOnError)
	genFlags(fs, &cfg.gen, 10_000_000)
	memory := fs.String("memory", "1GiB", "memory of the filter, such as 512MiB")
	fs.BoolVar(&cfg.filterOnly, "filter-only", false, "no side table")
	fs.StringVar(&cfg.dir, "dir", "", "`directory` of the index, which must not hold one; a temporary one by default")
	fs.IntVar(&cfg.workers, "j", runtime.NumCPU(), "goroutines that parse and extract")
	fs.IntVar(&cfg.probes, "probes", 1<<22, "random keys asked at each row")
	fs.IntVar(&cfg.lookups, "lookups", 20_000, "single look-ups timed at the end")
	jsonPath := fs.String("json", "", "also write the figures to this `file`")
	profile := fs.String("cpuprofile", "", "write a profile of the run to this `file`")
	if err := fs.Parse(args); err != nil {
		return err
	}
	var err error
	if cfg.memory, err = parseMemory(*memory); err != nil {
		return err
	}
	// Times are promised for the size of the headline only.
	cfg.headlines = cfg.gen.Docs >= 10_000_000
	stop, err := startProfile(*profile)
	if err != nil {
		return err
	}
	report, err := runMillion(ctx, cfg, out)
	if err = errors.Join(err, stop()); err != nil {
		return err
	}
	if *jsonPath != "" {
		text, err := json.MarshalIndent(report, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(*jsonPath, append(text, '\n'), 0o666); err != nil {
			return err
		}
	}
	return report.failed()
}

// runMillion makes the run and all measurements after it.
func runMillion(ctx context.Context, cfg millionConfig, out io.Writer) (r *millionReport, err error) {
	if cfg.dir == "" {
		if cfg.dir, err = os.MkdirTemp("", "firstseen-bench-"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(cfg.dir)
	} else if _, err := os.Stat(filepath.Join(cfg.dir, index.FilterFile)); err == nil {
		return nil, fmt.Errorf("%s holds an index already", cfg.dir)
	}
	g, err := gen.New(cfg.gen)
	if err != nil {
		return nil, err
	}
	options := index.Options{
		Key:   index.KeyAsIs,
		Shape: bloomstore.ForMemory(cfg.memory), FilterOnly: cfg.filterOnly, MemtableKeys: cfg.memtable,
	}
	x, err := index.Open(context.Background(), cfg.dir, options)
	if err != nil {
		return nil, err
	}
	w := newWatcher(cfg, g, x, out)
	summary, err := w.run(ctx)
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	w.report.Summary = summary
	return w.report, w.afterwards(options)
}

// run is the measured part.
func (w *watcher) run(ctx context.Context) (*report.Summary, error) {
	reader := w.gen.NewReader()
	source := corpus.NewSource([]input.Input{{Path: input.Stdin, Name: "generated", Size: -1}}, jsonl.Format{}, corpus.SourceConfig{Stdin: reader})
	stopPeak := w.peak.watch()
	w.begin()
	job := pipeline.Job{
		Source: source, Workers: w.cfg.workers, MaxBad: 0, OnFull: index.OnFullWarn,
		Each: w.each,
		Warn: func(s string) { fmt.Fprintln(w.out, "warning:", s) },
	}
	summary, err := pipeline.Run(ctx, w.index, job)
	w.end()
	stopPeak()
	w.report.GeneratorCPU = float64(reader.CPU()) / 1e9
	return summary, err
}

// watcher sees every decision of a run and measures in between.
type watcher struct {
	cfg    millionConfig
	gen    *gen.Generator
	index  *index.Index
	out    io.Writer
	report *millionReport
	peak   peak

	every  int64
	done   int64
	counts dedup.Counts
	last   usage
	paused usage // spent measuring
}

func newWatcher(cfg millionConfig, g *gen.Generator, x *index.Index, out io.Writer) *watcher {
	every := int64(1_000_000)
	if cfg.gen.Docs < 5_000_000 {
		every = max(int64(cfg.gen.Docs/10), 1)
	}
	return &watcher{
		cfg: cfg, gen: g.Clone(), index: x, out: out, every: every,
		report: newMillionReport(cfg),
	}
}

// usage is elapsed time and CPU time, in seconds.
type usage struct{ wall, cpu float64 }

func (u usage) minus(v usage) usage { return usage{u.wall - v.wall, u.cpu - v.cpu} }
func (u usage) plus(v usage) usage  { return usage{u.wall + v.wall, u.cpu + v.cpu} }

var programStart = time.Now()

func now() usage { return usage{time.Since(programStart).Seconds(), effort.CPU().Seconds()} }

func (w *watcher) begin() {
	w.last = now()
	w.report.start = w.last
	fmt.Fprint(w.out, rowHead)
}

func (w *watcher) end() {
	w.report.Total = toSeconds(now().minus(w.report.start).minus(w.paused))
}

// each checks a decision against the truth and makes a row at intervals.
func (w *watcher) each(id string, r *dedup.Result, counts dedup.Counts) error {
	n, err := gen.Number(id)
	if err != nil {
		return err
	}
	w.counts = counts
	w.report.Verdicts.judge(w.gen, n, r, w.cfg.filterOnly)
	w.done++
	if w.done%w.every != 0 {
		return nil
	}
	at := now()
	row := w.measure(at.minus(w.last).minus(w.paused))
	w.report.Rows = append(w.report.Rows, row)
	row.write(w.out)
	// Time spent measuring is not time of the run.
	w.last, w.paused, w.report.start = now(), usage{}, w.report.start.plus(now().minus(at))
	return nil
}

// measure makes a row out of the state of the run.
func (w *watcher) measure(took usage) row {
	f := w.index.Filter()
	r := row{
		Docs: w.done, Rate: float64(w.every) / took.wall, CPU: took.cpu,
		CPUMicros: took.cpu / float64(w.every) * 1e6, Memory: readMemory(),
		Keys: w.counts.Fresh, Fill: f.Fill(),
		Predicted: f.Shape().FalsePositiveRate(w.counts.Fresh), ByFill: f.Rate(),
	}
	w.peak.note(r.Memory)
	r.Probes = w.cfg.probes
	r.Hits = probe(f, uint64(w.done), w.cfg.probes)
	if t := w.index.Table(); t != nil {
		st := t.Stats()
		r.Entries, r.Merges, r.FileBytes, r.FreeBytes = st.Entries, st.Merges, st.Bytes, st.FreeBytes
		r.Runs = st.Runs
	}
	return r
}

// probe tests n keys that were never added and counts those seen.
func probe(f *bloomstore.Filter, seed uint64, n int) (hits int) {
	keys, seen := make([]uint64, 4096), make([]bool, 4096)
	x := seed*0x9e3779b97f4a7c15 ^ 0x70726f6265
	for asked := 0; asked < n; asked += len(keys) {
		for i := range keys {
			x += 0x9e3779b97f4a7c15
			z := (x ^ x>>30) * 0xbf58476d1ce4e5b9
			z = (z ^ z>>27) * 0x94d049bb133111eb
			keys[i] = z ^ z>>31
		}
		f.Test(keys, seen)
		for _, s := range seen {
			if s {
				hits++
			}
		}
	}
	return hits
}
