package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// quality measures what rules remove from every corpus below directories.
func quality(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("quality", flag.ContinueOnError)
	keys := fs.String("rules", "default", "the `rules` to measure, by their keys with commas, or all")
	sweep := fs.Bool("thresholds", false, "measure all thresholds with both scores instead")
	generated := fs.Bool("generated", false, "measure sets made of the texts of the corpora instead")
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
	return measure(ctx, sets, chosen, newRowWriter(out, *asJSON))
}

// measure writes a row for every set and rule.
func measure(ctx context.Context, sets []*labelled, chosen []ruleMaker, write func(*figures) error) error {
	for _, s := range sets {
		if err := s.load(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		for _, maker := range chosen {
			rule, err := maker.new()
			if err != nil {
				return err
			}
			o, err := s.decide(ctx, rule)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", s.name, rule.Name(), err)
			}
			if err := write(s.figures(o, rule.Name())); err != nil {
				return err
			}
		}
		s.unload()
	}
	return nil
}

// figures are what a rule did to a set: documents, unless it says otherwise.
type figures struct {
	Corpus    string `json:"corpus"`
	Rule      string `json:"rule"`
	Documents int    `json:"documents"`
	Removed   int    `json:"removed"`
	False     int    `json:"false"`
	Grey      int    `json:"grey"`
	Frame     *int   `json:"frame,omitempty"` // nil: the ids do not tell
	// Pairs: alike ones, those of which both stay, those of which the later one was
	// removed with the other or its copy as witness.
	Alike int `json:"alike"`
	Left  int `json:"left"`
	Found int `json:"found"`
	// LeftOf is by label how many of the alike pairs stay, and how many there are.
	LeftOf map[string][2]int `json:"left_of,omitempty"`
	// Pairs that are labelled as unlike, and those removed with each other.
	Negatives        int `json:"negatives"`
	NegativesRemoved int `json:"negatives_removed"`
	Mosaics          int `json:"mosaics"`
	Related          int `json:"related"`
	// Means over all removals, 0 to 1.
	Jaccard     float64 `json:"jaccard"`
	Containment float64 `json:"containment"`
	LCS         float64 `json:"lcs"`
	// Bytes remembered of a kept document.
	Bytes float64 `json:"bytes"`
}

// newRowWriter writes rows as a table of Markdown, or as JSON.
func newRowWriter(out io.Writer, asJSON bool) func(*figures) error {
	if asJSON {
		enc := json.NewEncoder(out)
		return func(r *figures) error { return enc.Encode(r) }
	}
	header := false
	return func(r *figures) error {
		if !header {
			header = true
			columns := strings.Split("corpus|rule|documents|removed|false|grey|frame|left|recall|negatives removed|mosaics|related|Jaccard|containment|lcs|bytes", "|")
			writeCells(out, columns)
			fmt.Fprintln(out, strings.Repeat("|---", len(columns))+"|")
		}
		return writeCells(out, r.cells())
	}
}

func writeCells(out io.Writer, cells []string) error {
	_, err := fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
	return err
}

func (r *figures) cells() []string {
	frame := "-"
	if r.Frame != nil {
		frame = fmt.Sprint(*r.Frame)
	}
	return []string{
		r.Corpus, r.Rule, fmt.Sprint(r.Documents), fmt.Sprint(r.Removed),
		fmt.Sprintf("%d (%.2f%%)", r.False, percent(r.False, r.Removed)), fmt.Sprint(r.Grey), frame,
		ifAny(r.Alike, "%.1f%%", percent(r.Left, r.Alike)),
		ifAny(r.Alike, "%.4f of %d", percent(r.Found, r.Alike)/100, r.Alike),
		ifAny(r.Negatives, "%d of %d", r.NegativesRemoved, r.Negatives),
		fmt.Sprint(r.Mosaics), fmt.Sprint(r.Related),
		fmt.Sprintf("%.3f", r.Jaccard), fmt.Sprintf("%.3f", r.Containment), fmt.Sprintf("%.3f", r.LCS),
		fmt.Sprintf("%.0f", r.Bytes),
	}
}

// percent is 0 of none.
func percent(part, whole int) float64 { return 100 * float64(part) / float64(max(whole, 1)) }

// ifAny formats the cell of a set that has such pairs.
func ifAny(pairs int, format string, args ...any) string {
	if pairs == 0 {
		return "-"
	}
	return fmt.Sprintf(format, args...)
}
