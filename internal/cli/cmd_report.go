package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/page"
	"github.com/firstseen/firstseen/internal/report/clusters"
	"github.com/firstseen/firstseen/internal/report/cut"
	"github.com/firstseen/firstseen/internal/report/derive"
	"github.com/firstseen/firstseen/internal/report/lines"
)

func newReportCommand() *cobra.Command {
	return group("report", newShowCommand(), newClustersCommand(), newPairsCommand(), newAttributesCommand(), newKeptCommand(), newApplyCommand(), newCutCommand())
}

// newPairsCommand returns a command that writes each document with one source, and the source.
func newPairsCommand() *cobra.Command {
	out := ""
	cmd := command("report-pairs", needReport, func(cmd *cobra.Command, args []string) error {
		report, err := openReports(cmd, args, out)
		if err != nil {
			return err
		}
		return writeTable(cmd, out, []string{"id", "of", "verdict", "score", "contained", "exact"}, func(t *table) error {
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
	})
	cmd.Flags().StringVarP(&out, "out", "o", input.Stdin, "write the pairs here: .csv, .tsv or lines of JSON; - is standard output")
	return cmd
}

// openReports opens reports, and refuses an output that is no table or is one of the reports.
func openReports(cmd *cobra.Command, args []string, out string) (*lines.Reports, error) {
	if err := checkEnding("--out", out, holdsJSON, holdsCSV); err != nil {
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
	oneOf(fs, &r.others, "keep", usage, []string{"originals", "duplicates"}, false, true)
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
		names, err := attributeNames(r.out, args[1:], r.inputs)
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

// treeNames returns the names of inputs in a tree of outputs: their path in a given folder, else
// their name. Equal names are an error.
func treeNames(args []string, inputs []input.Input) ([]string, error) {
	args, _, err := readLists(args)
	if err != nil {
		return nil, err
	}
	var roots []string
	for _, arg := range args {
		matches := []string{arg}
		if _, err := os.Stat(arg); err != nil {
			matches, _ = filepath.Glob(arg) // it was a pattern
		}
		for _, m := range matches {
			if info, err := os.Stat(m); err == nil && info.IsDir() {
				roots = append(roots, m)
			}
		}
	}
	names := make([]string, len(inputs))
	whose := map[string]string{}
	for i, in := range inputs {
		file := in.File() // the archive, for its members
		names[i] = filepath.Base(file) + in.Path[len(file):]
		for _, root := range roots {
			if inside, err := filepath.Rel(root, in.Path); err == nil && filepath.IsLocal(inside) {
				names[i] = inside
				break
			}
		}
		if other, twice := whose[names[i]]; twice {
			return nil, fmt.Errorf("%s and %s would have the same name in the tree, %s: give the folder that holds both", other, in.Path, names[i])
		}
		whose[names[i]] = in.Path
	}
	return names, nil
}

// attributeNames returns the names of inputs in a tree of attributes. It refuses a tree that would
// overwrite an input, or cannot be made.
func attributeNames(dir string, args []string, inputs []input.Input) ([]string, error) {
	names, err := treeNames(args, inputs)
	if err != nil || dir == "" {
		return names, err
	}
	real := map[string]string{} // real paths of folders
	path := func(name string) string {
		folder, base := filepath.Split(name)
		if _, known := real[folder]; !known {
			real[folder], _ = filepath.EvalSymlinks(cmp.Or(folder, "."))
			if abs, err := filepath.Abs(real[folder]); err == nil && real[folder] != "" {
				real[folder] = abs
			}
		}
		return filepath.Join(real[folder], base)
	}
	read := map[string]bool{}
	for _, in := range inputs {
		read[path(in.File())] = true
	}
	attributes := make([]string, len(names))
	for i, name := range names {
		attributes[i] = derive.AttributesName(name)
		if to := filepath.Join(dir, attributes[i]); read[path(to)] {
			return nil, fmt.Errorf("%s is an input, and the tree in %s would overwrite it: choose another folder", to, dir)
		}
	}
	if err := output.CheckTreeNames(dir, attributes, inputs); err != nil {
		return nil, err
	}
	return names, output.CheckTreeFolders(dir, attributes)
}

func newKeptCommand() *cobra.Command {
	var r rereading
	cmd := command("report-kept", nil, func(cmd *cobra.Command, args []string) error {
		if err := checkEnding("--out", r.out, holdsText); err != nil {
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
		bad, err := r.list(cmd)
		return cmp.Or(err, bad.end())
	})
	cmd.PreRunE = r.open
	r.registerOut(cmd.Flags(), "write the names here, one a line; - is standard output")
	r.registerKeep(cmd.Flags(), "the files to list: originals, or duplicates, the removed ones")
	return cmd
}

// list writes the names of the kept or the removed files. Each file has one document or none. It
// returns the bad records.
func (r *rereading) list(cmd *cobra.Command) (bad bads, err error) {
	inputs, duplicates := r.inputs, r.others
	bad.fate = "are in no list"
	// A file given twice, also by its folder, is its own copy: it is removed if removed each time.
	given := map[string]int{}
	for _, in := range inputs {
		given[filepath.Clean(in.Path)]++
	}
	err = writeOutput(cmd, file{name: r.out}, func(names *output.Writer) error {
		for one, err := range derive.Records(cmd.Context(), r.documents(), r.report) {
			good, err := bad.check(one.Record, err, r.maxBad)
			if err != nil {
				return err
			}
			removed := one.Line != nil && !one.Line.Kept
			if !good || removed != duplicates {
				continue
			}
			path := inputs[one.Block.Input].Path
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
		return writeTable(cmd, out, []string{"id", "cluster", "size", "verdict"}, func(t *table) error {
			return clusters.Write(report.All(cmd.Context()), links, func(r *clusters.Row) error {
				if r.Size < least {
					return nil
				}
				return t.write(r.ID, r.Cluster, r.Size, r.Verdict)
			})
		})
	})
	fs := cmd.Flags()
	fs.StringVarP(&out, "out", "o", input.Stdin, "write the clusters here (default standard output): .csv, .tsv or lines of JSON")
	oneOf(fs, &links, "links", "what joins documents: all (copies and related documents) or duplicates",
		[]string{"all", "duplicates"}, clusters.All, clusters.Duplicates)
	integer(fs, &least, "min-size", 0, unbounded, "leave out clusters of fewer documents")
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
