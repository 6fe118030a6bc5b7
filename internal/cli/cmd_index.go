package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/pipeline"
)

// group makes a command of commands.
func group(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(commands...)
	return cmd
}

func newIndexCommand() *cobra.Command {
	return group("index", "Make an index, look at it, and change it", indexLong,
		newCreateCommand(), newStatsCommand(), newDumpCommand(), newCheckCommand(), newBatchesCommand(),
		newForgetCommand(), newCompactCommand(), newAbandonCommand(), newExportCommand())
}

// earlierCommands are the commands under their names in earlier versions.
func earlierCommands() []*cobra.Command {
	return []*cobra.Command{
		earlier("stats", newStatsCommand(), "index stats DIR"),
		earlier("dump", newDumpCommand(), "index dump DIR"),
		earlier("check", newCheckCommand(), "index check DIR"),
		earlier("batches", newBatchesCommand(), "index batches DIR"),
		earlier("forget", newForgetCommand(), "index forget DIR"),
		earlier("cancel", newCancelCommand(), "index forget DIR --batch NAME"),
		earlier("compact", newCompactCommand(), "index compact DIR"),
		earlier("texts", newReadCommand(), "read"),
		earlier("show", newShowCommand(), "report show"),
		earlier("clusters", newClustersCommand(), "report clusters"),
		newFilterCommand(),
		gone("eval", "in a checkout, go run ./bench eval measures methods on documents whose copies are known"),
		earlier("explain", newCompareCommand(), "compare"),
	}
}

// newFilterCommand is the earlier group of index export.
func newFilterCommand() *cobra.Command {
	cmd := group("filter", "Write the filter of an index for other programs", exportLong,
		earlier("export", newExportCommand(), "index export DIR FILE"),
		gone("import", "firstseen dedup --against DIR asks other indexes, and names their documents"))
	cmd.Hidden = true
	return cmd
}

func newCreateCommand() *cobra.Command {
	var f options
	cmd := &cobra.Command{
		Use:     "create DIR",
		Short:   "Make an empty index, with properties that all its runs share",
		Long:    createLong,
		Example: "  firstseen index create seen/ --docs 50M --window 2d\n  firstseen index create near/ --method simhash:distance=2",
	}
	fs := cmd.Flags()
	f.method.register(fs, &f.Scheme, &f.Rules.Score)
	registerPassages(fs, &f.Scheme)
	hide(fs, "score")
	fs.StringVar(&f.docs, "docs", "", "size the filter for this many documents, such as 10M (default 1M)")
	fs.StringVar(&f.memory, "memory", "", "size the filter by memory, such as 1GiB (10.5 million documents)")
	fs.BoolVar(&f.filterOnly, "filter-only", false, "no side table: fixed memory, no earlier document named")
	registerWindow(fs, &f.Window)
	f.registerKey(fs)
	return onIndex(cmd, noArgs, func(_ *cobra.Command, dir string, _ []string) error { return f.create(dir) })
}

// create makes an index of the properties that the flags name.
func (f *options) create(dir string) (err error) {
	if index.Exists(dir) {
		return fmt.Errorf("index %s exists, and keeps its properties; firstseen index stats %s shows them", dir, dir)
	}
	f.index, f.OnFull = dir, onFullDefault
	t := &task{options: f}
	for _, check := range []func(*task) error{f.taskMethod, f.taskPassages, f.taskWindow, f.taskKey, f.taskFilter} {
		if err := check(t); err != nil {
			return usageError{err}
		}
	}
	x, remove, err := t.openIndex()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close(), remove()) }()
	if err := x.Begin(index.Policy{Window: t.Window.Seconds}); err != nil {
		return err
	}
	return x.Finish(nil)
}

func newAbandonCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "abandon DIR",
		Short:   "Leave an interrupted run unfinished, so that another can begin",
		Long:    abandonLong,
		Example: "  firstseen index abandon seen/",
	}
	return onIndex(cmd, noArgs, func(cmd *cobra.Command, dir string, _ []string) error { return abandon(cmd, dir) })
}

func abandon(cmd *cobra.Command, dir string) (err error) {
	made, err := index.ReadMade(dir)
	if err == nil && made == nil {
		err = fmt.Errorf("%s holds no index that this version can continue", dir)
	}
	if err != nil {
		return err
	}
	x, err := index.Open(dir, index.Options{Scheme: made.Scheme, FilterOnly: made.FilterOnly})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	ledger, err := pipeline.OpenLedger(x, &pipeline.Job{})
	if err != nil {
		return err
	}
	if ledger.Unfinished() == nil {
		return noInterrupted(x, dir)
	}
	if err := giveUp(ledger, cmd.ErrOrStderr()); err != nil {
		return err
	}
	return x.Finish(map[string][]byte{pipeline.LedgerName: nil})
}

// noInterrupted returns the error for an index without a run to abandon.
func noInterrupted(x *index.Index, dir string) error {
	started, err := x.Started()
	switch {
	case err != nil:
		return err
	case started != nil:
		return fmt.Errorf("index %s: a run on it was interrupted before its first checkpoint: nothing of it is remembered, so there is nothing to abandon, and any command can run", dir)
	}
	return fmt.Errorf("index %s has no interrupted run", dir)
}
