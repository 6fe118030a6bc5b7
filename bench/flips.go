package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"runtime"

	"github.com/firstseen/firstseen/bench/crash"
	"github.com/firstseen/firstseen/bench/flip"
)

// flips damages small indexes in every small way, mainly by flipping bits, and queries them.
func flips(ctx context.Context, args []string, out io.Writer) (err error) {
	var cfg flip.Config
	fs := flag.NewFlagSet("flips", flag.ContinueOnError)
	fs.IntVar(&cfg.Jobs, "j", runtime.NumCPU(), "processes")
	fs.StringVar(&cfg.Sort, "index", "", "only this index: table, keyed or filter-only")
	fs.StringVar(&cfg.File, "file", "", "only the file of this name")
	fs.IntVar(&cfg.Step, "step", 1, "only each so-manieth bit, for a quick look")
	dir := fs.String("dir", "", "where to work, a temporary folder by default; the faster its disk, the better")
	pkg := fs.String("package", "github.com/firstseen/firstseen", "the program to build")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if cfg.Dir, err = os.MkdirTemp(*dir, "firstseen-flips-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(cfg.Dir)) }()
	program, err := crash.Build(ctx, *pkg, cfg.Dir)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cfg.Program, cfg.Self = program.Path(), []string{self, flipsWorker}
	return flip.Run(ctx, cfg, out)
}

// flipsWorker is the command with which flips starts itself.
const flipsWorker = "flips-worker"

func flipsWork(_ context.Context, args []string, out io.Writer) error {
	var w flip.Worker
	fs := flag.NewFlagSet(flipsWorker, flag.ContinueOnError)
	fs.StringVar(&w.Whole, "whole", "", "the whole index")
	fs.StringVar(&w.Dir, "copy", "", "folder of the copy to damage")
	fs.StringVar(&w.File, "file", "", "the file to damage")
	fs.IntVar(&w.From, "from", 0, "the first damage")
	fs.IntVar(&w.To, "to", 0, "the one after the last")
	fs.IntVar(&w.Step, "step", 1, "each so-manieth bit")
	fs.StringVar(&w.Note, "note", "", "where to note the present one")
	if err := fs.Parse(args); err != nil {
		return err
	}
	return w.Run(out)
}
