package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/cli/flags"
	"github.com/firstseen/firstseen/internal/engine/ending"
	"github.com/firstseen/firstseen/internal/engine/report/cut"
	"github.com/firstseen/firstseen/internal/engine/report/derive"
	"github.com/firstseen/firstseen/internal/engine/report/table"
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
	flags.Integer(fs, &f.cut.MinUnits, "min-units", 0, flags.Unbounded, "cut only passages of this many words or more")
	fs.BoolVar(&f.mark, "mark", false, "keep the passages, between >>> and <<<")
	flags.Integer(fs, &f.cut.DropBelow, "drop-below", 0, flags.Unbounded, "drop documents with fewer than this many words left, such as 50")
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
	if fields := f.formats.jsonl.Fields; fields.HTML != "" || strings.Contains(fields.Text, ",") {
		return usageError{errors.New("report cut: passages are cut out of one field, and not out of a page: make the report with one --text-field")}
	}
	if err := readTwice("cut", f.report); err != nil {
		return err
	}
	if f.list == "" && f.out != input.Stdin {
		f.list = f.out + ".cuts.jsonl"
	}
	if err := checkEnding("--list", f.list, ending.JSON, ending.CSV); err != nil {
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
	c, err := cut.NewCutter(f.found, f.mark)
	if errors.Is(err, cut.ErrFormat) {
		err = usageError{errors.New("cut writes lines of JSON and Parquet: for other formats, firstseen report attributes lists the passages")}
	}
	if err != nil {
		return err
	}
	plan, err := cut.NewPlan(f.cut, f.report.All(cmd.Context()))
	if err != nil {
		return err
	}
	var bad bads
	write := func(list *table.Table) (err error) {
		var row func(id string, q *cut.Cut, dropped bool) error
		if list != nil {
			row = func(id string, q *cut.Cut, dropped bool) error {
				p := q.Passage
				return list.Write(id, q.FirstChar, q.EndChar, q.Units, p.Of, p.OfStart, p.OfEnd, q.Documents, dropped)
			}
		}
		bad, err = f.rewrite(cmd, func(r derive.Record) ([]byte, error) { return c.Document(plan, row, r) })
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
