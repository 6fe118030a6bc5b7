package cli

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
)

// envPrefix begins the environment variable of each flag: FIRSTSEEN_OUT_DIR for --out-dir.
const envPrefix = "FIRSTSEEN_"

// fillFlags sets flags missing on the command line, from the environment or else from the file of
// --config. It returns the places of the flags it set.
func fillFlags(cmd *cobra.Command) (places []string, err error) {
	var unset []*pflag.Flag
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed && f.Name != "help" {
			unset = append(unset, f)
		}
	})
	free := map[string]bool{}
	for _, f := range unset {
		name := envPrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		text := os.Getenv(name)
		if free[f.Name] = text == ""; text == "" {
			continue
		}
		if err := cmd.Flags().Set(f.Name, text); err != nil {
			return nil, usageError{fmt.Errorf("%s: %w", name, plain(err))}
		}
		places = append(places, name)
	}
	tellMistyped(cmd)
	path, err := cmd.Flags().GetString("config")
	if err != nil || path == "" {
		return places, err
	}
	more, err := readConfig(cmd, path, free)
	if err == nil {
		err = checkConfig(cmd, path)
	}
	return append(places, more...), err
}

// tellMistyped names variables like those of the command's flags. Others may be another program's.
func tellMistyped(cmd *cobra.Command) {
	for _, variable := range os.Environ() {
		name, text, _ := strings.Cut(variable, "=")
		typed, ours := strings.CutPrefix(name, envPrefix)
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

// configLine matches a flag's name and value: --memory=1GiB, memory 1GiB or memory = 1GiB.
var configLine = regexp.MustCompile(`^(?:--)?([^= \t]*)[ \t]*=?[ \t]*(.*)$`)

// configComment begins with the line or after white space, so a # can be part of a value.
var configComment = regexp.MustCompile(`(^|[ \t])#.*`)

// readConfig sets flags from a file with one flag a line, as on a command line. It skips flags of
// other commands, so that one file serves all.
func readConfig(cmd *cobra.Command, path string, free map[string]bool) (places []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(configComment.ReplaceAllString(strings.TrimPrefix(lines.Text(), corpus.ByteOrderMark), ""))
		if line == "" {
			continue
		}
		place := fmt.Sprintf("%s:%d", path, n)
		parts := configLine.FindStringSubmatch(line)
		name, text := parts[1], parts[2]
		flag := cmd.Flags().Lookup(name)
		switch {
		case flag == nil && !anyHas(cmd, name):
			return nil, usageError{fmt.Errorf("%s: no command has the flag --%s%s", place, name, didYouMean("--", likeFlags(cmd.Flags(), name)))}
		case flag == nil, !free[name]:
			continue
		case text == "" && flag.NoOptDefVal == "":
			return nil, usageError{fmt.Errorf("%s: --%s needs a value, as in --%s=VALUE", place, name, name)}
		case text == "":
			text = flag.NoOptDefVal
		}
		if err := cmd.Flags().Set(name, text); err != nil {
			return nil, usageError{fmt.Errorf("%s: %w", place, plain(err))}
		}
		places = append(places, place)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("--config %s: %w", path, err)
	}
	return places, nil
}
