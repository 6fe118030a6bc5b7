package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/firstseen/firstseen/bench/gen"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
)

// latency holds the times of single look-ups, in microseconds.
type latency struct {
	Lookups int     `json:"lookups"`
	P50     float64 `json:"p50_micros"`
	P99     float64 `json:"p99_micros"`
	P999    float64 `json:"p999_micros"`
	Max     float64 `json:"max_micros"`
}

func (l *latency) write(w io.Writer, what string) {
	if l != nil {
		fmt.Fprintf(w, "look-ups, %s: %d, p50 %.0f µs, p99 %.0f µs, p999 %.0f µs, longest %.0f µs\n", what, l.Lookups, l.P50, l.P99, l.P999, l.Max)
	}
}

// afterwards measures the finished index, evaluates and writes the report, and closes the index.
func (w *watcher) afterwards(options index.Options) (err error) {
	r := w.report
	r.FilterBytes, r.PeakMemory = w.index.Filter().Shape().Bytes(), w.peak.most()
	defer func() { err = errors.Join(err, w.index.Close()) }()
	var sets []feature.Set
	if w.cfg.lookups > 0 && w.cfg.gen.Duplicates > 0 {
		if sets, err = w.copies(w.cfg.lookups); err != nil {
			return err
		}
		if _, err = w.timeChecks(sets); err != nil { // warms up
			return err
		}
		if r.Warm, err = w.timeChecks(sets); err != nil {
			return err
		}
	}
	if !w.cfg.filterOnly {
		if err := w.timeRebuild(options); err != nil {
			return err
		}
		// Only now, so that rebuilding finds the file in the page cache, as after a kill.
		if len(sets) > 0 && dropCache(filepath.Join(w.cfg.dir, index.TableFile)) {
			if r.Cold, err = w.timeChecks(sets[:min(len(sets), 1000)]); err != nil {
				return err
			}
		}
	}
	if !w.cfg.filterOnly {
		if r.Verdicts.Chance, err = w.quotationsTaken(); err != nil {
			return err
		}
	}
	r.evaluate(w.cfg)
	r.write(w.out)
	return nil
}

// timeRebuild opens the index without its filter, as after a crash.
func (w *watcher) timeRebuild(options index.Options) error {
	ones := w.index.Filter().Ones()
	if err := w.index.Close(); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(w.cfg.dir, index.FilterFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	start := now()
	x, err := index.Open(context.Background(), w.cfg.dir, options)
	if err != nil {
		return err
	}
	w.index = x
	took := now().minus(start)
	w.report.Rebuild, w.report.RebuildCPU = took.wall, took.cpu
	w.report.expect(x.Filter().Ones() == ones, "the rebuilt filter is the one that was", "%d bits set, %d before", x.Filter().Ones(), ones)
	return nil
}

// copies makes near copies, beyond the run, of sources throughout it. Each look-up is of all
// segments.
func (w *watcher) copies(count int) ([]feature.Set, error) {
	e, err := feature.NewExtractor(feature.Scheme{})
	if err != nil {
		return nil, err
	}
	var sets []feature.Set
	for n := w.cfg.gen.Docs; len(sets) < count; n++ {
		t := w.gen.Truth(n)
		if t.Kind < gen.Near90 || t.Kind > gen.Near60 || t.Sources[0] >= w.cfg.gen.Docs {
			continue
		}
		text, err := w.textOf(n)
		if err != nil {
			return nil, err
		}
		var set feature.Set
		e.Extract(&set, []byte(text))
		sets = append(sets, set)
	}
	return sets, nil
}

// timeChecks checks documents one at a time, storing none.
func (w *watcher) timeChecks(sets []feature.Set) (*latency, error) {
	cfg := dedup.Config{Filter: w.index.Filter()}
	if w.index.Table() != nil {
		cfg.Table = w.index.Table()
	}
	d, err := dedup.New(cfg)
	if err != nil {
		return nil, err
	}
	micros := make([]float64, len(sets))
	for i := range sets {
		start := time.Now()
		if _, err := d.Check("", &sets[i]); err != nil {
			return nil, err
		}
		micros[i] = float64(time.Since(start).Nanoseconds()) / 1e3
	}
	slices.Sort(micros)
	at := func(share float64) float64 { return micros[int(share*float64(len(micros)-1))] }
	return &latency{len(micros), at(0.5), at(0.99), at(0.999), at(1)}, nil
}
