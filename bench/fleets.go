package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/firstseen/firstseen/bench/fleet"
)

// longest bounds a run, however busy the machine is.
const longest = 20 * time.Minute

// fleets runs a fleet on a Kafka broker.
func fleets(ctx context.Context, args []string, out io.Writer) (err error) {
	fs := flag.NewFlagSet("fleet", flag.ContinueOnError)
	jars := fs.String("jars", "", "folder with the jars of Kafka; without it Maven resolves them")
	t := fleet.Trial{Out: out}
	fs.IntVar(&t.Groups, "groups", 250, "groups of four near copies")
	fs.IntVar(&t.Clients, "clients", 16, "clients, each with all texts")
	fs.IntVar(&t.Kills, "kills", 20, "kills of front ends, followers and the broker")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if t.Dir, err = os.MkdirTemp("", "fleet"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(t.Dir)) }()
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	if *jars == "" {
		fmt.Fprintln(out, "Maven resolves Kafka")
		*jars = filepath.Join(t.Dir, "jars")
		if err := fleet.Jars(ctx, *jars); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "Go builds firstseen")
	t.Program = filepath.Join(t.Dir, "firstseen")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", t.Program, ".").CombinedOutput(); err != nil {
		return errors.Join(err, errors.New(string(out)))
	}
	if t.Broker, err = fleet.NewKafka(ctx, *jars, t.Dir); err != nil {
		return err
	}
	return t.Run(ctx)
}
