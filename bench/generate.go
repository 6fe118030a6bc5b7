package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/firstseen/firstseen/bench/gen"
)

// generate writes generated documents and, with -truth, a file of JSON lines with their truth.
func generate(ctx context.Context, args []string, out io.Writer) error {
	var cfg gen.Config
	fs := flag.NewFlagSet("generate", flag.ContinueOnError)
	genFlags(fs, &cfg, 100_000)
	truth := fs.String("truth", "", "also write the truth about each document to this `file`")
	if err := fs.Parse(args); err != nil {
		return err
	}
	g, err := gen.New(cfg)
	if err != nil {
		return err
	}
	if *truth != "" {
		if err := writeTruth(ctx, g, cfg.Docs, *truth); err != nil {
			return fmt.Errorf("writing the truth: %w", err)
		}
	}
	r := g.NewReader()
	p := make([]byte, 4<<20)
	for {
		n, err := r.Read(p)
		if err == io.EOF || ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := out.Write(p[:n]); err != nil {
			return err
		}
	}
}

// genFlags registers the flags of the generator.
func genFlags(fs *flag.FlagSet, cfg *gen.Config, docs uint64) {
	fs.Uint64Var(&cfg.Docs, "docs", docs, "documents to generate")
	fs.Uint64Var(&cfg.Seed, "seed", 1, "seed of the generator")
	fs.Float64Var(&cfg.Duplicates, "duplicates", 0.1, "share of documents that repeat an earlier one, 0 to 0.8")
}

// truthLine is a line of a truth file.
type truthLine struct {
	ID      string   `json:"id"`
	Kind    string   `json:"kind"`
	Sources []string `json:"sources"`
	Overlap float64  `json:"overlap"`
}

func writeTruth(ctx context.Context, g *gen.Generator, docs uint64, path string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for n := range docs {
		t := g.Truth(n)
		line := truthLine{ID: docID(n), Kind: t.Kind.String(), Sources: []string{}, Overlap: t.Overlap}
		for _, s := range t.Sources {
			line.Sources = append(line.Sources, docID(s))
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return w.Flush()
}

func docID(n uint64) string { return string(gen.AppendID(nil, n)) }
