package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"iter"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/visible"
)

func newDumpCommand() *cobra.Command {
	what := ""
	cmd := onIndex("index-dump", noArgs, func(cmd *cobra.Command, dir string, _ []string) error {
		files, err := openTable(dir, "stores neither documents nor their keys")
		if err != nil {
			return err
		}
		buffer := bufio.NewWriterSize(cmd.OutOrStdout(), 64<<10)
		err = dump(cmd.Context(), files, what, visible.NewEncoder(buffer))
		return errors.Join(flushed(buffer, err), files.Close())
	})
	oneWord(cmd.Flags(), &what, "what", "what to print: documents, keys, runs or batches", "documents", "keys", "runs", "batches")
	return cmd
}

func dump(ctx context.Context, files *index.Files, what string, out *json.Encoder) error {
	switch what {
	case "keys":
		return dumpLines(ctx, out, files.Keys())
	case "runs":
		return encodeAll(out, files.Table.Runs())
	case "batches":
		return encodeAll(out, files.Table.Batches())
	}
	return dumpLines(ctx, out, files.Documents())
}

func dumpLines[T any](ctx context.Context, out *json.Encoder, lines iter.Seq2[T, error]) error {
	n := 0
	for line, err := range lines {
		if n++; err == nil && n%1024 == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if err := out.Encode(line); err != nil {
			return err
		}
	}
	return nil
}
