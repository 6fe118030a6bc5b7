package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/cli/flags"
)

// fillFlags sets flags missing on the command line, from the environment or else from the file of
// --config. It returns the places of the flags it set.
func fillFlags(cmd *cobra.Command) (places []string, err error) {
	places, free, err := flags.Environment(cmd.Flags())
	if err != nil {
		return nil, usageError{err}
	}
	tellMistyped(cmd)
	path, err := cmd.Flags().GetString("config")
	if err != nil || path == "" {
		return places, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	defer file.Close() // only read
	more, err := flags.File(cmd.Flags(), file, path, free, func(name string) error {
		if anyHas(cmd, name) {
			return nil // one file serves all commands
		}
		return fmt.Errorf("no command has the flag --%s%s", name, didYouMean("--", likeFlags(cmd.Flags(), name)))
	})
	if _, unread := errors.AsType[*fs.PathError](err); unread {
		return nil, fmt.Errorf("--config %s: %w", path, err)
	}
	if err != nil {
		return nil, usageError{err}
	}
	return append(places, more...), checkConfig(cmd, path)
}

// tellMistyped names variables like those of the command's flags. Others may be another program's.
func tellMistyped(cmd *cobra.Command) {
	for _, variable := range os.Environ() {
		name, text, _ := strings.Cut(variable, "=")
		typed, ours := strings.CutPrefix(name, flags.Prefix)
		flag := strings.ToLower(strings.ReplaceAll(typed, "_", "-"))
		if !ours || text == "" || anyHas(cmd, flag) {
			continue
		}
		if like := likeFlags(cmd.Flags(), flag); len(like) > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: %s matches no flag and has no effect%s\n", name, didYouMean("--", like))
		}
	}
}

// anyHas reports whether a command of the program has the flag.
func anyHas(cmd *cobra.Command, name string) bool {
	return slices.ContainsFunc(slices.Collect(commands(cmd.Root())), func(c *cobra.Command) bool {
		return c.Flags().Lookup(name) != nil || c.PersistentFlags().Lookup(name) != nil
	})
}

// checkConfig refuses an output that would overwrite the file of flags.
func checkConfig(cmd *cobra.Command, path string) error {
	config := []input.Input{{Path: path, Name: "of --config"}}
	for _, name := range []string{"out", "report", "rejects", "summary", "list"} {
		f := cmd.Flags().Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		if err := output.CheckOutputs(config, "", f.Value.String()); err != nil {
			return usageError{err}
		}
	}
	return nil
}
