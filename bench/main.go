// Command bench measures firstseen: its removals, whether it decides as the oracle does, its speed,
// and what is left after kills and faults. README.md says which command proves which sentence.
package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
)

// commands are the subcommands of bench.
var commands = map[string]func(ctx context.Context, args []string, out io.Writer) error{
	"eval":          evaluate,
	"quality":       quality,
	"pages":         pages,
	"verify":        verify,
	"generate":      generate,
	"ten-million":   tenMillion,
	"window":        windowed,
	"speed":         speed,
	"kills":         kills,
	"takings":       takings,
	"faults":        faults,
	"fleet":         fleets,
	"serve":         serve,
	"flips":         flips,
	flipsWorker:     flipsWork,
	"mutants":       mutate,
	"methods":       methods,
	"contamination": contaminated,
	"passages":      checkedPassages,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: go run ./bench COMMAND [ARG...]; commands: "+strings.Join(slices.Sorted(maps.Keys(commands)), ", "))
		os.Exit(2)
	}
	if err := commands[os.Args[1]](ctx, os.Args[2:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
