package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/parquet"
	"github.com/firstseen/firstseen/internal/report/cut"
	"github.com/firstseen/firstseen/internal/report/derive"
)

type cutFlags struct {
	rereading
	cut    cut.Options
	remove string
	mark   bool
	list   string
}

func newCutCommand() *cobra.Command {
	var f cutFlags
	cmd := command("report-cut", nil, f.run)
	fs := cmd.Flags()
	fs.StringVar(&f.remove, "remove", "", "passages to cut: common, copied or all")
	integer(fs, &f.cut.MinUnits, "min-units", 0, unbounded, "cut only passages of this many words or more")
	fs.BoolVar(&f.mark, "mark", false, "keep the passages, between >>> and <<<")
	integer(fs, &f.cut.DropBelow, "drop-below", 0, unbounded, "drop documents with fewer than this many words left, such as 50")
	fs.BoolVar(&f.cut.KeepCode, "keep-code", false, "leave documents alone if more than one character in eight is a symbol")
	fs.StringVar(&f.list, "list", "", "write what was cut and dropped here: .csv, .tsv or lines of JSON (default the name of --out plus .cuts.jsonl)")
	f.registerOut(fs, "write the documents to this `file`; .gz or .zst compresses; - is standard output")
	return cmd
}

func (f *cutFlags) check(cmd *cobra.Command, args []string) error {
	f.cut.Remove = cut.Kind(f.remove)
	switch {
	case !slices.Contains([]cut.Kind{cut.Common, cut.Copied, cut.All}, f.cut.Remove):
		return usageError{errors.New("report cut: choose the passages to cut with --remove: common (in eight documents or more), copied or all")}
	case f.mark && f.cut.DropBelow > 0:
		return usageError{errors.New("report cut: --mark keeps all documents, and --drop-below drops some: give one of the two")}
	}
	if err := f.open(cmd, args); err != nil {
		return err
	}
	if err := readTwice("cut", f.report); err != nil {
		return err
	}
	if f.list == "" && f.out != input.Stdin {
		f.list = f.out + ".cuts.jsonl"
	}
	if err := checkEnding("--list", f.list, holdsJSON, holdsCSV); err != nil {
		return err
	}
	return output.CheckOutputs(slices.Concat(f.inputs, f.formats.lists, f.report.Inputs), "", f.out, f.list)
}

func (f *cutFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.check(cmd, args); err != nil {
		return err
	}
	if err := f.recognize(f.out, false, false); err != nil {
		return err
	}
	c, err := newCutter(f.found, f.mark)
	if err != nil {
		return err
	}
	plan, err := cut.NewPlan(f.cut, f.report.All(cmd.Context()))
	if err != nil {
		return err
	}
	var bad bads
	write := func(list *table) (err error) {
		bad, err = f.rewrite(cmd, func(r derive.Record) ([]byte, error) { return c.document(plan, list, r) })
		return err
	}
	if f.list == "" {
		err = write(nil)
	} else {
		columns := []string{"id", "start", "end", "units", "of", "of_start", "of_end", "documents", "dropped"}
		err = writeTable(cmd, f.list, columns, write)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: %s\n", cutSummary(&plan.Counts, f.mark))
	return bad.end()
}

// A cutter cuts ranges of their texts out of records.
type cutter struct {
	cut    func(dst, raw, text []byte, ranges [][2]int, mark bool) ([]byte, error)
	mark   bool
	buf    []byte
	ranges [][2]int
}

func newCutter(format corpus.Format, mark bool) (*cutter, error) {
	switch f := format.(type) {
	case jsonl.Format:
		return &cutter{mark: mark, cut: func(dst, raw, _ []byte, ranges [][2]int, mark bool) ([]byte, error) {
			return f.Cut(dst, raw, ranges, mark)
		}}, nil
	case parquet.Format:
		return &cutter{mark: mark, cut: f.Cut}, nil
	}
	return nil, usageError{errors.New("cut writes lines of JSON and Parquet: for other formats, firstseen report attributes lists the passages")}
}

// document returns the record of a kept document without its cuts, and adds these to list, if any.
func (c *cutter) document(plan *cut.Plan, list *table, doc derive.Record) ([]byte, error) {
	if doc.Other || doc.Empty || doc.Line != nil && !doc.Line.Kept {
		return nil, nil
	}
	cuts, drop, err := plan.Document(string(doc.ID), doc.Text, doc.Line)
	if err != nil {
		return nil, err
	}
	c.ranges = c.ranges[:0]
	for i := range cuts {
		q := &cuts[i]
		c.ranges = append(c.ranges, [2]int{q.Start, q.End})
		if list != nil {
			if err := list.write(string(doc.ID), q.FirstChar, q.EndChar, q.Units, q.Passage.Of, q.Passage.OfStart, q.Passage.OfEnd, q.Documents, drop); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case drop:
		return nil, nil
	case len(cuts) == 0:
		return doc.Raw, nil
	}
	if c.buf, err = c.cut(c.buf[:0], doc.Raw, doc.Text, c.ranges, c.mark); err != nil {
		return nil, fmt.Errorf("cutting %q: %w", doc.ID, err)
	}
	return c.buf, nil
}

func cutSummary(n *cut.Counts, mark bool) string {
	what := "cut"
	if mark {
		what = "marked"
	}
	line := fmt.Sprintf("%d passages %s at segment ends, %.1f%% of the words of %d kept documents", n.Cut, what, 100*float64(n.CutWords)/float64(max(n.Words, 1)), n.Documents)
	if n.Dropped > 0 {
		line += fmt.Sprintf("; %d documents dropped", n.Dropped)
	}
	if n.Absent+n.Unsegmented > 0 {
		line += fmt.Sprintf("; left as they are: %d with no whole segment, %d whose earlier document is not written before them", n.Unsegmented, n.Absent)
	}
	return line
}
