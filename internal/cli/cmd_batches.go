package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/visible"
)

func newBatchesCommand() *cobra.Command {
	var dir string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "batches --index DIR",
		Short:   "List the batches of an index, with how many documents each has",
		Long:    batchesLong,
		Example: "  firstseen batches --index seen/\n  firstseen batches --index seen/ --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if dir == "" {
				return usageError{errors.New("batches: give the index with --index DIR")}
			}
			files, err := openTable(dir, "has no batches")
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, files.Close()) }()
			return writeBatches(cmd.OutOrStdout(), files.Batches(), asJSON)
		},
	}
	cmd.Flags().StringVar(&dir, "index", "", "directory of the index")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a line of JSON for each")
	return cmd
}

func writeBatches(w io.Writer, batches []index.BatchLine, asJSON bool) error {
	if asJSON {
		out := visible.NewEncoder(w)
		for _, b := range batches {
			if err := out.Encode(b); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "batch\tkept\tforgotten since")
	for _, b := range batches {
		fmt.Fprintf(t, "%s\t%d\t%d\n", visible.Line(b.Batch), b.Documents, b.Documents-b.Live)
	}
	return t.Flush()
}

// openTable opens an index to be looked at, and wants it to have a table.
func openTable(dir, lacks string) (*index.Files, error) {
	files, err := index.OpenFiles(dir)
	if err != nil {
		return nil, err
	}
	if files.Table == nil {
		return nil, errors.Join(fmt.Errorf("index %s: an index without a side table %s", dir, lacks), files.Close())
	}
	return files, nil
}

// removedFor is firstseen cancel's line about a document removed for the sake of a cancelled one.
// The JSON form is a contract.
type removedFor struct {
	Removed string `json:"removed"`         // its id
	Batch   string `json:"batch,omitempty"` // it came with
	Of      string `json:"of"`              // id of the cancelled document
}

// cancelled is the last line of firstseen cancel. The JSON form is a contract.
type cancelled struct {
	Cancelled string `json:"cancelled"` // the batch
	Documents int    `json:"documents"` // taken back
}

func newCancelCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:     "cancel --index DIR NAME",
		Short:   "Take a whole batch back, and list what was removed for its sake",
		Long:    cancelLong,
		Example: "  firstseen cancel --index seen/ monday > again.jsonl",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New("cancel: give the name of one batch; firstseen batches lists them")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return cancelBatch(cmd, dir, args[0]) },
	}
	cmd.Flags().StringVar(&dir, "index", "", "directory of the index")
	return cmd
}

// cancelBatch writes the list before it takes anything back: a user stopped in between has the list
// and repeats the command.
func cancelBatch(cmd *cobra.Command, dir, name string) (err error) {
	if dir == "" {
		return usageError{errors.New("cancel: give the index with --index DIR")}
	}
	e, err := index.Edit(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	buffer := bufio.NewWriter(cmd.OutOrStdout())
	out := visible.NewEncoder(buffer)
	err = e.Victims(name, func(v index.Victim) error {
		return errors.Join(cmd.Context().Err(), out.Encode(removedFor{v.ID, v.Batch, v.Of}))
	})
	if err != nil {
		return err
	}
	if err := buffer.Flush(); err != nil {
		return err
	}
	n, err := e.Cancel(name)
	if err != nil {
		return noBatch(err)
	}
	if err := out.Encode(cancelled{name, n}); err != nil {
		return err
	}
	return buffer.Flush()
}

// noBatch adds the remedy if there is no such batch.
func noBatch(err error) error {
	if errors.Is(err, index.ErrNoBatch) {
		return fmt.Errorf("%w; firstseen batches lists those there are", err)
	}
	return err
}
