package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/engine/forget"
)

func newForgetCommand() *cobra.Command {
	var asked forget.Asked
	cmd := onIndex("index-forget", nil, func(cmd *cobra.Command, dir string, ids []string) (err error) {
		if asked.IDs = ids; len(ids) == 0 && asked.Name == "" && asked.Batch == "" {
			return usageError{errors.New("forget: give ids of documents, --from FILE or --batch NAME")}
		}
		if asked.Name != "" {
			list, err := openInput(cmd, asked.Name)
			if err != nil {
				return fmt.Errorf("reading the ids: %w", err)
			}
			defer list.Close() // only read
			asked.List = list
		}
		edit, err := index.Edit(dir)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, edit.Close()) }()
		none, err := forget.Run(cmd.Context(), edit, asked, cmd.OutOrStdout())
		if err == nil && none > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: %d of the ids are not in the index\n", none)
		}
		return err
	})
	fs := cmd.Flags()
	fs.StringVar(&asked.Name, "from", "", "forget the ids in this file too, one a line; - is standard input")
	fs.StringVar(&asked.Batch, "batch", "", "forget all documents of this batch, and its name; first list the documents removed because of it")
	return cmd
}
