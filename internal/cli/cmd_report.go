package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/report/clusters"
	"github.com/firstseen/firstseen/internal/report/cut"
	"github.com/firstseen/firstseen/internal/report/derive"
	"github.com/firstseen/firstseen/internal/report/lines"
)

func newReportCommand() *cobra.Command {
	return group("report", newShowCommand(), newClustersCommand(), newPairsCommand(), newAttributesCommand(), newKeptCommand(), newApplyCommand())
}

func newPairsCommand() *cobra.Command {
	out := ""
	cmd := command("report-pairs", needReport, func(cmd *cobra.Command, args []string) error {
		report, err := openReports(cmd, args, map[string]string{"--out": out})
		if err != nil {
			return err
		}
		return writePairs(cmd, report, out)
	})
	cmd.Flags().StringVarP(&out, "out", "o", input.Stdin, "write the pairs here: .csv, .tsv or lines of JSON; - is standard output")
	return cmd
}

// openReports opens reports, and refuses outputs that are no tables or are one of the reports.
func openReports(cmd *cobra.Command, args []string, outputs map[string]string) (*lines.Reports, error) {
	var names []string
	for flag, name := range outputs {
		if err := checkEnding(flag, name, holdsJSON, holdsCSV); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	report, err := lines.Open(args, cmd.InOrStdin())
	if err != nil {
		return nil, err
	}
	if err := output.CheckOutputs(report.Inputs, "", names...); err != nil {
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
	options
	report *lines.Reports
}

func (r *rereading) register(cmd *cobra.Command, out string) {
	fs := cmd.Flags()
	fs.StringVarP(&r.Out, "out", "o", "", out)
	r.registerInputs(fs)
}

// open finds the report, which is the first argument, and the inputs.
func (r *rereading) open(cmd *cobra.Command, args []string) (err error) {
	switch {
	case len(args) < 2:
		return usageError{fmt.Errorf("%s: give the report, and after it the inputs of its run", shortPath(cmd))}
	case r.Out == "":
		return usageError{fmt.Errorf("%s: name the output with --out", shortPath(cmd))}
	}
	if r.report, err = lines.Open(args[:1], nil); err != nil {
		return err
	}
	if err := r.findInputs(cmd, args[1:]); err != nil {
		return err
	}
	if r.ReadsPipe() {
		return usageError{errors.New("the inputs are read a second time, and one of them is a pipe: give files")}
	}
	return derive.CheckNames(r.Inputs)
}

var errEmptyReport = errors.New("the report is empty: it was cut off, or its run found every document unique; firstseen dedup --out writes the kept records of such a run")

// rewrite writes record's results for good records to --out, unless nil, and returns the bad ones.
func (r *rereading) rewrite(cmd *cobra.Command, record func(derive.Record) ([]byte, error)) (bad bads, err error) {
	to := file{name: r.Out, around: r.Enclosure, head: r.Head}
	err = writeOutput(cmd, to, func(out *output.Writer) error {
		empty := true
		for one, err := range derive.Records(cmd.Context(), r.documents(), r.report) {
			empty = empty && one.Line == nil
			var raw []byte
			good, err := bad.check(one.Record, err, r.MaxBad)
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
		names, err := attributeNames(r.Out, args[1:], r.Inputs)
		if err != nil {
			return err
		}
		return writeAttributes(cmd, &r.options, names, r.report, r.Out)
	})
	cmd.PreRunE = r.open
	r.register(cmd, "write the tree of attributes below this folder")
	return cmd
}

func writeAttributes(cmd *cobra.Command, f *options, names []string, report *lines.Reports, dir string) error {
	plan, err := cut.NewPlan(cut.Options{}, report.All(cmd.Context()))
	if err != nil {
		return err
	}
	var bad bads
	opened := func(w *output.Writer) { tellAside(cmd.ErrOrStderr(), w) }
	return derive.Attributes(cmd.Context(), f.documents(), names, report, plan.Documents, dir, opened, func(r corpus.Record) error {
		_, err := bad.check(r, nil, f.MaxBad)
		return err
	})
}

func newKeptCommand() *cobra.Command {
	var r rereading
	cmd := command("report-kept", nil, func(cmd *cobra.Command, args []string) error {
		if err := checkEnding("--out", r.Out, holdsText); err != nil {
			return err
		}
		err := r.formats.check(r.found, "", false)
		if err == nil && !isPage(r.found) {
			err = usageError{errNotPages}
		}
		if err != nil {
			return err
		}
		if err := output.CheckOutputs(slices.Concat(r.Inputs, r.formats.lists, r.report.Inputs), "", r.Out); err != nil {
			return usageError{err}
		}
		bad, err := writeKept(cmd, &r.options, r.report, r.Out)
		return cmp.Or(err, bad.end())
	})
	cmd.PreRunE = r.open
	r.register(cmd, "write the names here, one a line; - is standard output")
	registerKeep(cmd.Flags(), &r.Others, "the files to list: originals, or duplicates, the removed ones")
	return cmd
}

// writeKept writes the names of the kept or the removed files. Each file has one document or none.
// It returns the bad records.
func writeKept(cmd *cobra.Command, f *options, report *lines.Reports, name string) (bad bads, err error) {
	inputs, duplicates := f.Inputs, f.Others
	bad.fate = "are in no list"
	// A file given twice, also by its folder, is its own copy: it is removed if removed each time.
	given := map[string]int{}
	for _, in := range inputs {
		given[filepath.Clean(in.Path)]++
	}
	err = writeOutput(cmd, file{name: name}, func(names *output.Writer) error {
		for r, err := range derive.Records(cmd.Context(), f.documents(), report) {
			good, err := bad.check(r.Record, err, f.MaxBad)
			if err != nil {
				return err
			}
			removed := r.Line != nil && !r.Line.Kept
			if !good || removed != duplicates {
				continue
			}
			path := inputs[r.Block.Input].Path
			file := filepath.Clean(path)
			if given[file]--; duplicates && given[file] > 0 {
				continue
			}
			if strings.Contains(path, "\n") {
				return fmt.Errorf("the list has one name a line, and %q contains a line break: rename that file and run firstseen dedup again", path)
			}
			if _, err := fmt.Fprintln(names, path); err != nil {
				return err
			}
		}
		return nil
	})
	return bad, err
}

func newClustersCommand() *cobra.Command {
	var out, pairs string
	var links clusters.Links
	least := 0
	cmd := command("report-clusters", needReport, func(cmd *cobra.Command, args []string) error {
		if out == "" && pairs == "" {
			out = input.Stdin
		}
		report, err := openReports(cmd, args, map[string]string{"--out": out, "--pairs": pairs})
		if err != nil {
			return err
		}
		if out != "" {
			if err := readTwice("clusters", report); err != nil {
				return err
			}
			if err := writeClusters(cmd, report, out, links, least); err != nil {
				return err
			}
		}
		if pairs != "" {
			return writePairs(cmd, report, pairs)
		}
		return nil
	})
	fs := cmd.Flags()
	fs.StringVarP(&out, "out", "o", "", "write the clusters here (default standard output): .csv, .tsv or lines of JSON")
	fs.StringVar(&pairs, "pairs", "", "write pairs here: each document with the one that it repeats")
	hide(fs, "pairs")
	registerLinks(fs, &links)
	fs.IntVar(&least, "min-size", 2, "leave out clusters of fewer documents")
	return cmd
}

func registerLinks(fs *pflag.FlagSet, links *clusters.Links) {
	oneOf(fs, links, "links", "what joins documents: all (copies and related documents) or duplicates",
		[]string{"all", "duplicates"}, clusters.All, clusters.Duplicates)
}

func writeClusters(cmd *cobra.Command, report *lines.Reports, name string, links clusters.Links, least int) error {
	return writeTable(cmd, name, []string{"id", "cluster", "size", "verdict"}, func(t *table) error {
		return clusters.Write(report.All(cmd.Context()), links, func(r *clusters.Row) error {
			if r.Size < least {
				return nil
			}
			return t.write(r.ID, r.Cluster, r.Size, r.Verdict)
		})
	})
}

// writePairs writes each document of a report that has one source, with the source.
func writePairs(cmd *cobra.Command, report *lines.Reports, name string) error {
	return writeTable(cmd, name, []string{"id", "of", "verdict", "score", "contained", "exact"}, func(t *table) error {
		for l, err := range report.All(cmd.Context()) {
			if err == nil && l.Of != nil {
				err = t.write(l.ID, *l.Of, l.Verdict, float64(l.Score), float64(l.Contained), l.Exact)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func newApplyCommand() *cobra.Command {
	var r rereading
	cmd := command("report-apply", nil, func(cmd *cobra.Command, args []string) error {
		if err := output.CheckOutputs(slices.Concat(r.Inputs, r.formats.lists, r.report.Inputs), "", r.Out); err != nil {
			return usageError{err}
		}
		if err := inTurn(r.recognize, r.enclose, r.lead); err != nil {
			return err
		}
		bad, err := r.rewrite(cmd, func(one derive.Record) ([]byte, error) {
			if one.Empty || !one.Other && (one.Line == nil || one.Line.Kept) == r.Others {
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
	r.register(cmd, "write the kept records to this `file`, as they came; .gz or .zst compresses; - is standard output")
	registerKeep(cmd.Flags(), &r.Others, "the records to write: originals, or duplicates, the removed ones")
	return cmd
}
