package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/page"
	"github.com/firstseen/firstseen/internal/cli/flags"
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
	if err := output.CheckOutputs(report.Inputs, "", out); err != nil {
		return nil, usageError{err}
	}
	return report, nil
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
func (r *rereading) rewrite(cmd *cobra.Command, record func(derive.Record) ([]byte, error)) (bad bads, err error) {
	around, err := r.enclosure(r.out, r.inputs, false)
	if err != nil {
		return bad, err
	}
	head, err := r.head(r.out, true)
	if err != nil {
		return bad, err
	}
	err = writeOutput(cmd, file{name: r.out, around: around, head: head}, func(out *output.Writer) error {
		empty := true
		for one, err := range derive.Records(cmd.Context(), r.documents(), r.report) {
			empty = empty && one.Line == nil
			var raw []byte
			good, err := bad.check(one.Record, err, r.maxBad)
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
		var bad bads
		opened := func(w *output.Writer) { tellAside(cmd.ErrOrStderr(), w) }
		return derive.Attributes(cmd.Context(), r.documents(), names, r.report, plan.Documents, r.out, opened, func(record corpus.Record) error {
			_, err := bad.check(record, nil, r.maxBad)
			return err
		})
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
		if err != nil {
			return err
		}
		if err := output.CheckOutputs(slices.Concat(r.inputs, r.formats.lists, r.report.Inputs), "", r.out); err != nil {
			return usageError{err}
		}
		bad := bads{fate: "are in no list"}
		err = writeOutput(cmd, file{name: r.out}, func(names *output.Writer) error {
			return derive.Kept(cmd.Context(), r.documents(), r.inputs, r.report, r.others, names, func(record corpus.Record, err error) (bool, error) {
				return bad.check(record, err, r.maxBad)
			})
		})
		return cmp.Or(err, bad.end())
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
		fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: %d records read, %d of them bad\n", bad.all, bad.n)
		return bad.end()
	})
	cmd.PreRunE = r.open
	r.registerOut(cmd.Flags(), "write the kept records to this `file`, as they came; .gz or .zst compresses; - is standard output")
	r.registerKeep(cmd.Flags(), "the records to write: originals, or duplicates, the removed ones")
	return cmd
}
