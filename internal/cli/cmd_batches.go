package cli

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/visible"
)

func newBatchesCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "batches DIR",
		Short:   "List the batches of an index, and count their documents",
		Long:    batchesLong,
		Example: "  firstseen index batches seen/\n  firstseen index batches seen/ --json",
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a line of JSON for each")
	return onIndex(cmd, noArgs, func(cmd *cobra.Command, dir string, _ []string) (err error) {
		files, err := openTable(dir, "has no batches")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, files.Close()) }()
		return writeBatches(cmd.OutOrStdout(), files.Batches(), asJSON)
	})
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

// noBatch adds the remedy if there is no such batch.
func noBatch(err error) error {
	if errors.Is(err, index.ErrNoBatch) {
		return fmt.Errorf("%w; firstseen index batches lists those there are", err)
	}
	return err
}
