package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
	"github.com/firstseen/firstseen/internal/testing/effort"
)

// speed measures the whole pipeline, from files to kept lines and report, in CPU time, or two
// builds of the program in alternation. It shows the fixed cost of a large filter separately: the
// system zeroes its memory, and its file is written.
func speed(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("speed", flag.ContinueOnError)
	memory := fs.Uint64("memory", 1<<30, "bytes of the filter")
	rounds := fs.Int("rounds", 3, "runs of each kind; the least times count")
	unkeyed := fs.Bool("no-key", false, "fingerprints without a secret")
	profile := fs.String("cpuprofile", "", "write a CPU profile here")
	old := fs.String("old", "", "compare two builds: the firstseen to compare with")
	fresh := fs.String("new", "", "and the one that is compared")
	docs := fs.String("docs", "1M", "with two builds: --docs of both")
	list := fs.String("jobs", "1,2", "processors, one after the other")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() == 0 {
		return errors.New("speed: give uncompressed JSONL files")
	}
	processors, err := readJobs(*list)
	if err != nil {
		return err
	}
	if *old != "" || *fresh != "" {
		b := builds{old: *old, new: *fresh, jobs: processors, docs: *docs, rounds: *rounds}
		return b.compare(ctx, fs.Args(), out)
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	fmt.Fprintln(out, "| file | -j | MB | wall s | CPU s | MB/s of CPU | filter s | close s |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|")
	for _, path := range fs.Args() {
		for _, jobs := range processors {
			if err := speedOf(ctx, path, jobs, speedOptions(*memory, *unkeyed), *rounds, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// speedOptions returns the options of an index as a run makes it.
func speedOptions(memory uint64, unkeyed bool) index.Options {
	o := index.Options{Shape: bloomstore.ForMemory(memory), Key: index.KeyNew}
	if unkeyed {
		o.Key = index.KeyAsIs
	}
	return o
}

// cost holds the times of one run.
type cost struct{ wall, cpu, filter, close time.Duration }

func speedOf(ctx context.Context, path string, jobs int, o index.Options, rounds int, out io.Writer) error {
	var best cost
	var bytes int64
	for i := range rounds {
		c, n, err := speedOnce(ctx, path, jobs, o)
		if err != nil {
			return err
		}
		wall := c.wall
		if i > 0 {
			wall = min(wall, best.wall)
		}
		if i == 0 || c.cpu < best.cpu {
			best = c
		}
		best.wall, bytes = wall, n
	}
	mb := float64(bytes) / 1e6
	fmt.Fprintf(out, "| %s | %d | %.1f | %.2f | %.2f | %.0f | %.2f | %.2f |\n", filepath.Base(path), jobs, mb,
		best.wall.Seconds(), best.cpu.Seconds(), mb/best.cpu.Seconds(), best.filter.Seconds(), best.close.Seconds())
	return nil
}

func speedOnce(ctx context.Context, path string, jobs int, o index.Options) (c cost, bytes int64, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(jobs))
	dir, err := os.MkdirTemp("", "firstseen-speed-")
	if err != nil {
		return c, 0, err
	}
	defer os.RemoveAll(dir)
	runtime.GC()
	start := effort.CPU()
	x, err := index.Open(context.Background(), filepath.Join(dir, "index"), o)
	if err != nil {
		return c, 0, err
	}
	touch(x.Filter())
	c.filter = effort.CPU() - start
	job, err := speedJob(path, dir, jobs)
	if err != nil {
		return c, 0, errors.Join(err, x.Close())
	}
	begun, start := time.Now(), effort.CPU()
	s, err := pipeline.Run(ctx, x, job)
	c.wall, c.cpu = time.Since(begun), effort.CPU()-start
	start = effort.CPU()
	err = errors.Join(err, x.Save(), x.Close())
	c.close = effort.CPU() - start
	return c, s.RecordBytes, err
}

// touch makes the system zero all pages of the filter. The bits of these keys, eight each, fall on
// all huge pages of any filter up to some GiB.
func touch(f *bloomstore.Filter) {
	keys := make([]uint64, 1<<14)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range keys {
		keys[i] = rng.Uint64()
	}
	f.Add(keys)
}

func speedJob(path, dir string, jobs int) (job pipeline.Job, err error) {
	inputs, _, err := input.Expand([]string{path}, nil)
	if err != nil {
		return job, err
	}
	job = pipeline.Job{Source: corpus.NewSource(inputs, jsonl.Format{}, corpus.SourceConfig{}), Workers: jobs, MaxBad: -1}
	if job.Outputs.Kept, err = output.Create(filepath.Join(dir, "kept.jsonl")); err != nil {
		return job, err
	}
	job.Outputs.Report, err = output.Create(filepath.Join(dir, "report.jsonl"))
	return job, err
}
