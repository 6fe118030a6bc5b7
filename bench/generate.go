package main

import (
	"context"
	"flag"
	"io"

	"github.com/firstseen/firstseen/bench/gen"
)

// generate writes generated documents, such as those of docs/howto.md for a corpus beyond one machine.
func generate(ctx context.Context, args []string, out io.Writer) error {
	var cfg gen.Config
	fs := flag.NewFlagSet("generate", flag.ContinueOnError)
	genFlags(fs, &cfg, 100_000)
	if err := fs.Parse(args); err != nil {
		return err
	}
	g, err := gen.New(cfg)
	if err != nil {
		return err
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
	fs.Float64Var(&cfg.Posts, "posts", 0, "share of documents of only one to three clauses, 0 to 1")
}
