package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/firstseen/firstseen/bench/eval"
)

// quality measures what rules remove from every corpus below directories.
func quality(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("quality", flag.ContinueOnError)
	keys := fs.String("rules", "default", "the `rules` to measure, by their keys with commas, or all")
	sweep := fs.Bool("thresholds", false, "measure all thresholds with both scores instead")
	generated := fs.Bool("generated", false, "measure sets made of the texts of the corpora instead")
	wrapped := fs.Bool("rewrapped", false, "measure long texts whose lines are broken in two ways instead")
	names := fs.String("columns", "", "the `columns` of the table, with commas; none for all")
	beside := fs.Bool("beside", false, "the rules beside each other, and the columns together in each cell")
	asJSON := fs.Bool("json", false, "one JSON object a line instead of a table")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() == 0 {
		return errors.New("quality: give the directory of the corpora")
	}
	chosen, err := chooseRules(*keys)
	if err != nil {
		return err
	}
	shown, err := chooseColumns(*names)
	if err != nil {
		return err
	}
	if *sweep {
		chosen = thresholds()
	}
	sets, err := findSets(fs.Args())
	if err != nil {
		return err
	}
	if *generated {
		if sets, err = generatedSets(ctx, sets); err != nil {
			return err
		}
	}
	if *wrapped {
		if sets, err = rewrappedSets(ctx, sets); err != nil {
			return err
		}
	}
	switch {
	case *asJSON:
		return measure(ctx, sets, chosen, writeJSON(out))
	case *beside:
		return measure(ctx, sets, chosen, writeBeside(out, shown, len(chosen)))
	}
	return measure(ctx, sets, chosen, writeTable(out, shown))
}

// measure writes a row for every set and rule.
func measure(ctx context.Context, sets []*labelled, chosen []ruleMaker, write func(*eval.Figures) error) error {
	for _, s := range sets {
		if err := s.load(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		for _, maker := range chosen {
			rule, err := maker.new()
			if err != nil {
				return err
			}
			o, err := s.Decide(ctx, rule)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", s.Name, rule.Name(), err)
			}
			if err := write(s.Figures(o, rule.Name())); err != nil {
				return err
			}
		}
		s.unload()
	}
	return nil
}
