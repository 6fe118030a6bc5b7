package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/visible"
	"github.com/firstseen/firstseen/internal/cli/flags"
	"github.com/firstseen/firstseen/internal/engine/ask"
	"github.com/firstseen/firstseen/internal/engine/ending"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
	"github.com/firstseen/firstseen/internal/engine/progress"
)

func newIndexCommand() *cobra.Command {
	return group("index", newCreateCommand(), printing("stats", ask.Stats), newDumpCommand(), newCheckCommand(), newBatchesCommand(),
		newForgetCommand(), printing("compact", compact), newAbandonCommand(), newExportCommand(), newBackupCommand(), newTermsCommand())
}

func newCreateCommand() *cobra.Command {
	var f indexFlags
	cmd := onIndex("index-create", noArgs, func(cmd *cobra.Command, dir string, _ []string) (err error) {
		made, _ := index.ReadMade(dir)
		if index.Exists(dir) && (made == nil || !made.HalfMade) {
			return fmt.Errorf("index %s already exists and keeps its properties; firstseen index stats %s shows them", dir, dir)
		}
		f.dir, f.onFull = dir, onFullDefault
		if err := f.checkIndex(); err != nil {
			return err
		}
		x, remove, err := f.openIndex(cmd.Context(), index.Options{})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, x.Close(), remove()) }()
		if err := x.Begin(index.Policy{Window: f.window}); err != nil {
			return err
		}
		return x.Finish(nil)
	})
	fs := cmd.Flags()
	f.registerMethod(fs)
	f.registerPassages(fs)
	f.registerNew(fs)
	fs.BoolVar(&f.filterOnly, "filter-only", false, "no side table: fixed memory, no earlier document named")
	return cmd
}

// printing returns a command on an index that prints what do returns, as JSON or by a template of help.
func printing[T any](name string, do func(ctx context.Context, dir string) (T, error)) *cobra.Command {
	var out printed
	cmd := onIndex("index-"+name, noArgs, func(cmd *cobra.Command, dir string, _ []string) error {
		value, err := do(cmd.Context(), dir)
		if err != nil {
			return err
		}
		return out.print(cmd, value, name, value)
	})
	out.register(cmd.Flags())
	return cmd
}

func newBatchesCommand() *cobra.Command {
	var out printed
	cmd := onIndex("index-batches", noArgs, func(cmd *cobra.Command, dir string, _ []string) (err error) {
		files, err := ask.OpenTable(dir, "has no batches")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, files.Close()) }()
		if out.asJSON {
			return ask.Dump(cmd.Context(), files, "batches", cmd.OutOrStdout())
		}
		t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "batch\tkept\tforgotten since")
		for _, b := range files.Table.Batches() {
			fmt.Fprintf(t, "%s\t%d\t%d\n", visible.Line(b.Name), b.Documents, b.Documents-b.Live)
		}
		return t.Flush()
	})
	out.register(cmd.Flags())
	return cmd
}

func compact(ctx context.Context, dir string) (_ *index.Compacted, err error) {
	e, err := index.Edit(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	c, err := e.Compact(ctx)
	return &c, err
}

func newBackupCommand() *cobra.Command {
	return onIndex("index-backup", nil, func(cmd *cobra.Command, dir string, args []string) error {
		if len(args) != 1 || args[0] == "" {
			return usageError{errors.New("index backup: give one DEST, a folder that does not exist")}
		}
		return ask.Backup(cmd.Context(), dir, args[0])
	})
}

func newAbandonCommand() *cobra.Command {
	return onIndex("index-abandon", noArgs, func(cmd *cobra.Command, dir string, _ []string) error {
		run, left, err := pipeline.Abandon(cmd.Context(), dir)
		if run != nil && !run.Foreign {
			fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: gave up the interrupted run over %s; the %d documents it kept up to its last checkpoint stay known\n",
				strings.Join(run.Args, " "), run.Progress.Tally.Kept)
		}
		for _, name := range left {
			fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: the only copy of what it wrote is %s\n", name)
		}
		return err
	})
}

func newExportCommand() *cobra.Command {
	return onIndex("index-export", nil, func(cmd *cobra.Command, dir string, args []string) (err error) {
		if len(args) != 1 {
			return usageError{errors.New(`index export: give one FILE, or "-" for standard output`)}
		}
		if err := checkEnding("index export", args[0], ending.Filter); err != nil {
			return err
		}
		if err := output.CheckOutputs(nil, dir, args[0]); err != nil {
			return err
		}
		scheme := ""
		err = writeOutput(cmd, file{name: args[0]}, func(w *output.Writer) (err error) {
			scheme, err = index.Export(cmd.Context(), dir, w)
			return err
		})
		key, keyErr := index.ReadKey(dir)
		if err == nil {
			fmt.Fprintln(cmd.ErrOrStderr(), "firstseen: the keys are made by the scheme", scheme)
			if key != nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: index %s has a secret: its keys match only those of indexes with the same secret\n", dir)
			}
		}
		return errors.Join(err, keyErr)
	})
}

// onIndex returns a command on the index named by its first argument, or else by the hidden flag
// --index, for the environment and --config.
func onIndex(name string, args cobra.PositionalArgs, run func(cmd *cobra.Command, dir string, args []string) error) *cobra.Command {
	dir := ""
	cmd := command(name, nil, func(cmd *cobra.Command, rest []string) error {
		if dir == "" && (len(rest) == 0 || rest[0] == "") {
			return usageError{fmt.Errorf("%s: give the folder of the index: %s", shortPath(cmd), cmd.UseLine())}
		}
		tooMany := args != nil && args(cmd, rest) != nil
		if dir == "" || len(rest) > 0 && (tooMany || index.Exists(rest[0])) { // the environment may name another
			dir, rest = rest[0], rest[1:]
		}
		if err := isFolder(dir); err != nil {
			return err
		}
		if args != nil {
			if err := args(cmd, rest); err != nil {
				return err
			}
		}
		return run(cmd, dir, rest)
	})
	cmd.Flags().StringVar(&dir, "index", "", "directory of the index")
	flags.Hide(cmd.Flags(), "index")
	return cmd
}

// shortPath returns the name of a command without the program's.
func shortPath(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "firstseen ") }

func newDumpCommand() *cobra.Command {
	what := ""
	cmd := onIndex("index-dump", noArgs, func(cmd *cobra.Command, dir string, _ []string) error {
		files, err := ask.OpenTable(dir, "stores neither documents nor their keys")
		if err != nil {
			return err
		}
		return errors.Join(ask.Dump(cmd.Context(), files, what, cmd.OutOrStdout()), files.Close())
	})
	flags.OneWord(cmd.Flags(), &what, "what", "what to print: documents, keys, runs or batches", "documents", "keys", "runs", "batches")
	return cmd
}

func newCheckCommand() *cobra.Command {
	var out printed
	rebuild, quiet := false, false
	cmd := onIndex("index-check", noArgs, func(cmd *cobra.Command, dir string, _ []string) (err error) {
		var found *index.Checked
		if !rebuild {
			found, err = ask.Check(cmd.Context(), dir) // of the server that holds the index
		}
		if found == nil && err == nil {
			o := index.CheckOptions{Rebuild: rebuild, State: pipeline.LedgerName}
			stop := func() {}
			if !quiet {
				o.Progress, stop = progress.OfCheck(cmd.ErrOrStderr())
			}
			found, err = index.Check(cmd.Context(), dir, o)
			stop()
		}
		if err != nil {
			return err
		}
		err = out.print(cmd, found, "check", struct {
			*index.Checked
			Shown []string
		}{found, shown(found.Findings)})
		if err == nil && !found.Sound {
			err = fmt.Errorf("index %s: it is not sound; each finding names its remedy", dir)
		}
		return err
	})
	fs := cmd.Flags()
	fs.BoolVar(&rebuild, "rebuild", false, "rebuild the filter if it is missing, old or damaged")
	out.register(fs)
	fs.BoolVarP(&quiet, "quiet", "q", false, "no progress on standard error")
	return cmd
}

// mostFindings is the most findings of a file shown as text.
const mostFindings = 20

// shown returns the findings as lines, at most mostFindings of each file.
func shown(findings []index.Finding) (lines []string) {
	counts := map[string]int{}
	for _, f := range findings {
		counts[f.File]++
		switch n := counts[f.File]; {
		case n <= mostFindings:
			lines = append(lines, fmt.Sprintf("%s: %s: %s; %s", f.File, f.State, f.What, f.Remedy))
		case n == mostFindings+1:
			lines = append(lines, fmt.Sprintf("%s: more findings are not shown; --json shows all", f.File))
		}
	}
	return lines
}
