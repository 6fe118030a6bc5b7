package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"runtime"

	"github.com/firstseen/firstseen/bench/crash"
)

// kills runs the program on files and pipes and kills it at random instants. It repeats the command
// until it ends, and compares the output with that of an undisturbed run.
func kills(ctx context.Context, args []string, out io.Writer) error {
	return disturb(ctx, "kills", 1000, args, out, crash.Kills)
}

// takings kills commands that forget, replace, cancel, outlive and compact.
func takings(ctx context.Context, args []string, out io.Writer) error {
	return disturb(ctx, "takings", 300, args, out, crash.Takings)
}

// faults runs the program on files under strace, which makes system calls fail. It then repeats the
// command and compares likewise.
func faults(ctx context.Context, args []string, out io.Writer) error {
	return disturb(ctx, "faults", 300, args, out, crash.Faults)
}

// disturb parses the flags and does the work in a folder that is removed afterwards.
func disturb(ctx context.Context, name string, n int, args []string, out io.Writer, do func(context.Context, crash.Config, io.Writer) error) (err error) {
	var cfg crash.Config
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.IntVar(&cfg.N, "n", n, name+" that have to arrive")
	fs.Uint64Var(&cfg.Seed, "seed", 1, "seed of all choices")
	fs.IntVar(&cfg.From, "from", 0, "number of the first trial: with the seed, it repeats that one")
	fs.StringVar(&cfg.Workload, "workload", "", "only this workload")
	fs.IntVar(&cfg.Jobs, "j", max(1, runtime.NumCPU()/2), "trials at a time")
	fs.BoolVar(&cfg.Keep, "keep", false, "leave the folders of trials that differ")
	dir := fs.String("dir", "", "where to work, a temporary folder by default")
	pkg := fs.String("package", "github.com/firstseen/firstseen", "the program to build")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if cfg.Dir, err = os.MkdirTemp(*dir, "firstseen-"+name+"-"); err != nil {
		return err
	}
	defer func() {
		if cfg.Keep && errors.Is(err, crash.ErrDifferences) {
			return
		}
		err = errors.Join(err, os.RemoveAll(cfg.Dir))
	}()
	if cfg.Program, err = crash.Build(ctx, *pkg, cfg.Dir); err != nil {
		return err
	}
	return do(ctx, cfg, out)
}
