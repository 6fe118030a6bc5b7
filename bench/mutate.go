package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/firstseen/firstseen/bench/mutants"
)

// mutate applies small wrong changes from a list to a copy of the module, one at a time, and
// reports those that no test detects. It runs in the module's folder.
func mutate(ctx context.Context, args []string, out io.Writer) (err error) {
	// Without -trimpath each copy would compile the whole module for its folder.
	cfg := mutants.Config{Root: ".", Flags: []string{"-trimpath"}}
	fs := flag.NewFlagSet("mutants", flag.ContinueOnError)
	path := fs.String("list", "bench/mutants/list.txt", "the list")
	fs.IntVar(&cfg.Jobs, "j", max(1, runtime.NumCPU()/2), "mutants at a time")
	fs.DurationVar(&cfg.Limit, "limit", 10*time.Minute, "for the tests of one mutant; what takes longer hangs")
	only := fs.String("only", "", "only mutants whose name or package contains this")
	dir := fs.String("dir", "", "where to work, a temporary folder by default")
	if err := fs.Parse(args); err != nil {
		return err
	}
	list, err := mutants.Read(*path)
	if err != nil {
		return err
	}
	for _, m := range list {
		if strings.Contains(m.Name, *only) || strings.Contains(m.Dir, *only) {
			cfg.List = append(cfg.List, m)
		}
	}
	if cfg.Dir, err = os.MkdirTemp(*dir, "firstseen-mutants-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(cfg.Dir)) }()
	return mutants.Run(ctx, cfg, out)
}
