package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/bench/eval"
)

type column struct {
	name string
	cell func(*eval.Figures) string
}

// columns lists all columns. Shares are of the removals, or of the pairs.
var columns = []column{
	{"corpus", func(f *eval.Figures) string { return f.Corpus }},
	{"rule", func(f *eval.Figures) string { return f.Rule }},
	{"documents", func(f *eval.Figures) string { return fmt.Sprint(f.Documents) }},
	{"removed", func(f *eval.Figures) string { return fmt.Sprint(f.Removed) }},
	{"false", func(f *eval.Figures) string { return fmt.Sprintf("%d (%.2f%%)", f.False, percent(f.False, f.Removed)) }},
	{"grey", func(f *eval.Figures) string { return fmt.Sprint(f.Grey) }},
	{"long", func(f *eval.Figures) string { return fmt.Sprint(f.Long) }},
	{"frame", frameCell},
	{"left", func(f *eval.Figures) string { return ifAny(f.Alike, "%.1f%%", percent(f.Left, f.Alike)) }},
	{"recall", func(f *eval.Figures) string {
		return ifAny(f.Alike, "%.4f of %d", percent(f.Found, f.Alike)/100, f.Alike)
	}},
	{"negatives removed", func(f *eval.Figures) string { return ifAny(f.Negatives, "%d of %d", f.NegativesRemoved, f.Negatives) }},
	{"mosaics", func(f *eval.Figures) string { return fmt.Sprint(f.Mosaics) }},
	{"related", func(f *eval.Figures) string { return fmt.Sprint(f.Related) }},
	{"Jaccard", func(f *eval.Figures) string { return fmt.Sprintf("%.3f", f.Jaccard) }},
	{"containment", func(f *eval.Figures) string { return fmt.Sprintf("%.3f", f.Containment) }},
	{"lcs", func(f *eval.Figures) string { return fmt.Sprintf("%.3f", f.LCS) }},
	{"bytes", func(f *eval.Figures) string { return fmt.Sprintf("%.0f", f.Bytes) }},
}

func frameCell(f *eval.Figures) string {
	if f.Frame == nil {
		return "-"
	}
	return fmt.Sprint(*f.Frame)
}

// chooseColumns returns the columns with these comma-separated names, or all for "".
func chooseColumns(names string) (chosen []column, err error) {
	if names == "" {
		return columns, nil
	}
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(columns, func(c column) bool { return c.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no column %q", name)
		}
		chosen = append(chosen, columns[i])
	}
	return chosen, nil
}

// writeTable writes the head of a Markdown table and returns a function that writes a row.
func writeTable(out io.Writer, columns []column) func(*eval.Figures) error {
	var names []string
	for _, c := range columns {
		names = append(names, c.name)
	}
	writeHead(out, names)
	return func(f *eval.Figures) error { return writeCells(out, cellsOf(f, columns)) }
}

// writeBeside returns a function that writes a table with a row per set and a cell per rule.
func writeBeside(out io.Writer, columns []column, rules int) func(*eval.Figures) error {
	head, cells := []string{"corpus"}, []string(nil)
	return func(f *eval.Figures) error {
		if cells == nil {
			cells = []string{f.Corpus}
		}
		cells = append(cells, strings.Join(cellsOf(f, columns), " / "))
		if len(head) <= rules {
			if head = append(head, f.Rule); len(head) > rules {
				writeHead(out, head)
			}
		}
		if len(cells) <= rules {
			return nil
		}
		row := cells
		cells = nil
		return writeCells(out, row)
	}
}

func cellsOf(f *eval.Figures, columns []column) (cells []string) {
	for _, c := range columns {
		cells = append(cells, c.cell(f))
	}
	return cells
}

func writeHead(out io.Writer, names []string) {
	writeCells(out, names)
	fmt.Fprintln(out, strings.Repeat("|---", len(names))+"|")
}

func writeCells(out io.Writer, cells []string) error {
	_, err := fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
	return err
}

// writeJSON returns a function that writes a line of JSON.
func writeJSON(out io.Writer) func(*eval.Figures) error {
	enc := json.NewEncoder(out)
	return func(f *eval.Figures) error { return enc.Encode(f) }
}

// percent returns 0 if whole is 0.
func percent(part, whole int) float64 { return 100 * float64(part) / float64(max(whole, 1)) }

// ifAny formats a cell, or returns "-" if there are no pairs.
func ifAny(pairs int, format string, args ...any) string {
	if pairs == 0 {
		return "-"
	}
	return fmt.Sprintf(format, args...)
}
