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
	var dir, what string
	cmd := &cobra.Command{
		Use:     "dump --index DIR",
		Short:   "Print what an index holds, one line of JSON for each document, key or run",
		Long:    dumpLong,
		Example: "  firstseen dump --index seen/\n  firstseen dump --index seen/ --what keys | head",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return usageError{errors.New("dump: give the index with --index DIR")}
			}
			return dump(cmd, dir, what)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&dir, "index", "", "directory of the index")
	cmd.Flags().StringVar(&what, "what", "documents", "what to print: documents, keys, runs or batches")
	return cmd
}

func dump(cmd *cobra.Command, dir, what string) (err error) {
	write, err := choose("--what", what, map[string]func(*index.Files, *json.Encoder) error{
		"documents": func(f *index.Files, out *json.Encoder) error { return dumpLines(cmd.Context(), out, f.Documents()) },
		"keys":      func(f *index.Files, out *json.Encoder) error { return dumpLines(cmd.Context(), out, f.Keys()) },
		"runs": func(f *index.Files, out *json.Encoder) error {
			return dumpLines(cmd.Context(), out, noErrors(f.Runs()))
		},
		"batches": func(f *index.Files, out *json.Encoder) error {
			return dumpLines(cmd.Context(), out, noErrors(f.Batches()))
		},
	})
	if err != nil {
		return usageError{err}
	}
	files, err := openTable(dir, "stores neither documents nor their keys")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	buffer := bufio.NewWriterSize(cmd.OutOrStdout(), 64<<10)
	out := visible.NewEncoder(buffer)
	if err := write(files, out); err != nil {
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
