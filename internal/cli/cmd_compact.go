package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/index"
)

func newCompactCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "compact DIR",
		Short:   "Drop forgotten documents from an index, and give their space back",
		Long:    compactLong,
		Example: "  firstseen index compact seen/",
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return onIndex(cmd, noArgs, func(cmd *cobra.Command, dir string, _ []string) (err error) {
		e, err := index.Edit(dir)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, e.Close()) }()
		c, err := e.Compact(cmd.Context())
		if err != nil {
			return err
		}
		if asJSON {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(c)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "table    %s, was %s; %d entries, was %d; %d documents live, %d forgotten\n",
			sizeText(uint64(c.After.Bytes)), sizeText(uint64(c.Before.Bytes)), c.After.Entries, c.Before.Entries,
			c.After.Live(), c.After.Forgotten)
		return err
	})
}
