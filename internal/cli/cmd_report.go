package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/page"
	"github.com/firstseen/firstseen/internal/cli/flags"
	"github.com/firstseen/firstseen/internal/engine/badrecords"
	"github.com/firstseen/firstseen/internal/engine/ending"
	"github.com/firstseen/firstseen/internal/engine/report/clusters"
	"github.com/firstseen/firstseen/internal/engine/report/cut"
	"github.com/firstseen/firstseen/internal/engine/report/derive"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
	"github.com/firstseen/firstseen/internal/engine/report/table"
)

func newReportCommand() *cobra.Command {
	return group("report", newShowCommand(), newClustersCommand(), newPairsCommand(), newAttributesCommand(), newKeptCommand(), newApplyCommand(), newCutCommand())
}

// newPairsCommand returns a command that writes each document with one source, and the source.
func newPairsCommand() *cobra.Command {
	out, refused := "", false
	cmd := command("report-pairs", needReport, func(cmd *cobra.Command, args []string) error {
		report, err := openReports(cmd, args, out)
		if err != nil {
			return err
		}
		columns := []string{"id", "of", "verdict", "score", "contained", "exact"}
		if refused {
			columns = append(columns, "why")
		}
		return writeTable(cmd, out, columns, func(t *table.Table) error {
			for l, err := range report.All(cmd.Context()) {
				if err == nil && l.Of != nil && (!refused || l.Verdict == "related") {
					row := []any{l.ID, *l.Of, l.Verdict, float64(l.Score), float64(l.Contained), l.Exact, l.Refusal()}
					err = t.Write(row[:len(columns)]...)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
	fs := cmd.Flags()
	fs.StringVarP(&out, "out", "o", input.Stdin, "write the pairs here: .csv, .tsv or lines of JSON; - is standard output")
	flags.OneOf(fs, &refused, "pairs", "the pairs to write: all, or refused (the document is kept, although it has the threshold's share in common), with the reason", []string{"all", "refused"}, false, true)
	return cmd
}

// openReports opens reports, and refuses an output that is no table or is one of the reports.
func openReports(cmd *cobra.Command, args []string, out string) (*lines.Reports, error) {
	if err := checkEnding("--out", out, ending.JSON, ending.CSV); err != nil {
		return nil, err
	}
	report, err := lines.Open(args, cmd.InOrStdin())
	if err != nil {
		return nil, err
	}
	return report, usage(output.CheckOutputs(report.Inputs, "", out))
}

// readTwice refuses reports that cannot be read twice: a pipe would then be empty, or block.
func readTwice(command string, report *lines.Reports) error {
	if report.Once() {
		return usageError{errors.New(command + ": reports are read twice, and one is a pipe: give files")}
	}
	return nil
}

// rereading holds the flags of commands that read a report and the inputs of its run.
type rereading struct {
	inputFlags
	out    string
	report *lines.Reports
	others bool // take the removed documents
}

func (r *rereading) registerOut(fs *pflag.FlagSet, out string) {
	fs.StringVarP(&r.out, "out", "o", "", out)
	r.register(fs)
}

func (r *rereading) registerKeep(fs *pflag.FlagSet, usage string) {
	flags.OneOf(fs, &r.others, "keep", usage, []string{"originals", "duplicates"}, false, true)
}

// open finds the report, which is the first argument, and the inputs.
func (r *rereading) open(cmd *cobra.Command, args []string) (err error) {
	switch {
	case len(args) < 2:
		return usageError{fmt.Errorf("%s: give the report, and after it the inputs of its run", shortPath(cmd))}
	case r.out == "":
		return usageError{fmt.Errorf("%s: name the output with --out", shortPath(cmd))}
	}
	if r.report, err = lines.Open(args[:1], nil); err != nil {
		return err
	}
	if err := r.findInputs(cmd, args[1:]); err != nil {
		return err
	}
	if r.readsPipe() {
		return usageError{errors.New("the inputs are read a second time, and one of them is a pipe: give files")}
	}
	return derive.CheckNames(r.inputs)
}

var errEmptyReport = errors.New("the report is empty: it was cut off, or its run found every document unique; firstseen dedup --out writes the kept records of such a run")

// rewrite writes record's results for good records to --out, unless nil, and returns the bad ones.
func (r *rereading) rewrite(cmd *cobra.Command, record func(derive.Record) ([]byte, error)) (bad *badrecords.Counter, err error) {
	around, err := r.enclosure(r.out, r.inputs, false)
	if err != nil {
		return bad, err
	}
	head, err := r.head(r.out, true)
	if err != nil {
		return bad, err
	}
	bad = &badrecords.Counter{Most: r.maxBad}
	err = writeOutput(cmd, file{name: r.out, around: around, head: head}, func(out *output.Writer) error {
		empty := true
		for one, err := range derive.Records(cmd.Context(), r.documents(), r.report) {
			empty = empty && one.Line == nil
			var raw []byte
			good, err := bad.Check(one.Record, err)
			if good {
				raw, err = record(one)
			}
			if err == nil && raw != nil {
				err = r.found.Keep(out, raw)
			}
			if err != nil {
				return err
			}
		}
		if empty && r.report.End == nil {
			return errEmptyReport
		}
		return nil
	})
	return bad, err
}

func newAttributesCommand() *cobra.Command {
	var r rereading
	cmd := command("report-attributes", nil, func(cmd *cobra.Command, args []string) error {
		if err := readTwice("attributes", r.report); err != nil {
			return err
		}
		names, err := derive.AttributeNames(r.out, args[1:], r.inputs)
		if err != nil {
			return err
		}
		plan, err := cut.NewPlan(cut.Options{}, r.report.All(cmd.Context()))
		if err != nil {
			return err
		}
		bad := badrecords.Counter{Most: r.maxBad}
		opened := func(w *output.Writer) { tellAside(cmd.ErrOrStderr(), w) }
		return derive.Attributes(cmd.Context(), r.documents(), names, r.report, plan.Documents, r.out, opened, bad.Check)
	})
	cmd.PreRunE = r.open
	r.registerOut(cmd.Flags(), "write the tree of attributes below this folder")
	return cmd
}

func newKeptCommand() *cobra.Command {
	var r rereading
	cmd := command("report-kept", nil, func(cmd *cobra.Command, args []string) error {
		if err := checkEnding("--out", r.out, ending.Text); err != nil {
			return err
		}
		err := r.formats.check(r.found, "", false)
		if _, one := r.found.(page.Format); err == nil && !one {
			err = usageError{errors.New("a list of kept files needs inputs that are a document each, such as pages or texts (--format): from these inputs, dedup --out writes the kept records")}
		}
		if err == nil {
			err = usage(output.CheckOutputs(slices.Concat(r.inputs, r.formats.lists, r.report.Inputs), "", r.out))
		}
		if err != nil {
			return err
		}
		bad := badrecords.Counter{Most: r.maxBad, Fate: "are in no list"}
		err = writeOutput(cmd, file{name: r.out}, func(names *output.Writer) error {
			return derive.Kept(cmd.Context(), r.documents(), r.inputs, r.report, r.others, names, bad.Check)
		})
		return cmp.Or(err, bad.End())
	})
	cmd.PreRunE = r.open
	r.registerOut(cmd.Flags(), "write the names here, one a line; - is standard output")
	r.registerKeep(cmd.Flags(), "the files to list: originals, or duplicates, the removed ones")
	return cmd
}

func newClustersCommand() *cobra.Command {
	out, least := "", 2
	var links clusters.Links
	cmd := command("report-clusters", needReport, func(cmd *cobra.Command, args []string) error {
		report, err := openReports(cmd, args, out)
		if err == nil {
			err = readTwice("clusters", report)
		}
		if err != nil {
			return err
		}
		return writeTable(cmd, out, []string{"id", "cluster", "size", "verdict"}, func(t *table.Table) error {
			return clusters.Write(report.All(cmd.Context()), links, func(r *clusters.Row) error {
				if r.Size < least {
					return nil
				}
				return t.Write(r.ID, r.Cluster, r.Size, r.Verdict)
			})
		})
	})
	fs := cmd.Flags()
	fs.StringVarP(&out, "out", "o", input.Stdin, "write the clusters here (default standard output): .csv, .tsv or lines of JSON")
	flags.OneOf(fs, &links, "links", "what joins documents: all (copies and related documents) or duplicates",
		[]string{"all", "duplicates"}, clusters.All, clusters.Duplicates)
	flags.Integer(fs, &least, "min-size", 0, flags.Unbounded, "leave out clusters of fewer documents")
	return cmd
}

func newApplyCommand() *cobra.Command {
	var r rereading
	cmd := command("report-apply", nil, func(cmd *cobra.Command, args []string) error {
		if err := output.CheckOutputs(slices.Concat(r.inputs, r.formats.lists, r.report.Inputs), "", r.out); err != nil {
			return usageError{err}
		}
		if err := r.recognize(r.out, false, false); err != nil {
			return err
		}
		bad, err := r.rewrite(cmd, func(one derive.Record) ([]byte, error) {
			if one.Empty || !one.Other && (one.Line == nil || one.Line.Kept) == r.others {
				return nil, nil
			}
			return one.Raw, nil
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: %d records read, %d of them bad\n", bad.All, bad.Bad)
		return bad.End()
	})
	cmd.PreRunE = r.open
	r.registerOut(cmd.Flags(), "write the kept records to this `file`, as they came; .gz or .zst compresses; - is standard output")
	r.registerKeep(cmd.Flags(), "the records to write: originals, or duplicates, the removed ones")
	return cmd
}

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
	var bad *badrecords.Counter
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
	return bad.End()
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
