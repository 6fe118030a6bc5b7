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
	var what func(*cobra.Command, *index.Files, *json.Encoder) error
	cmd := &cobra.Command{
		Use:     "dump DIR",
		Short:   "Print the contents of an index, one line of JSON for each document, key or run",
		Long:    dumpLong,
		Example: "  firstseen index dump seen/\n  firstseen index dump seen/ --what keys | head",
	}
	oneOf(cmd.Flags(), &what, "what", "what to print: documents, keys, runs or batches",
		word("documents", func(cmd *cobra.Command, f *index.Files, out *json.Encoder) error {
			return dumpLines(cmd.Context(), out, f.Documents())
		}),
		word("keys", func(cmd *cobra.Command, f *index.Files, out *json.Encoder) error {
			return dumpLines(cmd.Context(), out, f.Keys())
		}),
		word("runs", func(cmd *cobra.Command, f *index.Files, out *json.Encoder) error {
			return dumpLines(cmd.Context(), out, noErrors(f.Runs()))
		}),
		word("batches", func(cmd *cobra.Command, f *index.Files, out *json.Encoder) error {
			return dumpLines(cmd.Context(), out, noErrors(f.Batches()))
		}))
	return onIndex(cmd, noArgs, func(cmd *cobra.Command, dir string, _ []string) error { return dump(cmd, dir, what) })
}

func dump(cmd *cobra.Command, dir string, write func(*cobra.Command, *index.Files, *json.Encoder) error) error {
	files, err := openTable(dir, "stores neither documents nor their keys")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	buffer := bufio.NewWriterSize(cmd.OutOrStdout(), 64<<10)
	out := visible.NewEncoder(buffer)
	if err := write(cmd, files, out); err != nil {
		return err
	}
	return buffer.Flush()
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

// noErrors yields the given lines, each without an error.
func noErrors[T any](lines []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, line := range lines {
			if !yield(line, nil) {
				return
			}
		}
	}
}
