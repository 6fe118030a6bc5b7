// Command bench measures firstseen: its removals, whether it decides as the oracle does, and its
// speed. Its figures are in docs/quality.md and docs/performance.md.
//
//	go run ./bench eval DOCS...    removals of each method from documents with known copies
//	go run ./bench quality DIR...  removals from labelled sets and raw corpora
//	go run ./bench pages DIR...    articles on the pages of two sites, found by their text
//	go run ./bench verify FILE...  every verdict against the exact oracle
//	go run ./bench generate        documents with planted copies
//	go run ./bench ten-million     the whole pipeline on ten million of them
//	go run ./bench window          twenty million of them through a window of five million
//	go run ./bench speed FILE...   time of the pipeline, on one and more processors
//	go run ./bench passages REPORT INPUT         passages against a table of all rows of 50 words,
//	                                             and the output of firstseen report cut, word by word
//	go run ./bench contamination ITEMS PAGES...  questions planted in pages, and found
//	go run ./bench methods DIR...  verdicts of the methods against plain forms of their rules
//
// For docs/robustness.md:
//
//	go run ./bench kills           runs killed at random, and continued
//	go run ./bench takings         commands that take documents back or outlive them, killed too
//	go run ./bench faults          runs whose n-th system call fails
//	go run ./bench fleet           front ends, followers and broker of a log, killed under load
//	go run ./bench serve           a server under load: answers, checkpoints, memory, descriptors
//	go run ./bench flips           every bit of an index flipped
//	go run ./bench mutants         small wrong changes, and whether a test detects them
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
