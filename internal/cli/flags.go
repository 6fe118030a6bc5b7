package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/cli/flags"
)

// flagError reports a mistake in the flags of a command and refers to its help.
func flagError(cmd *cobra.Command, err error) error {
	err = flags.Explain(err)
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		file := "-" + unknown.GetSpecifiedShortnames()
		if file == "-" {
			file = "--" + name
		}
		_, missing := os.Lstat(file)
		switch {
		case missing == nil: // from a glob
			err = fmt.Errorf("%s is taken for a flag: give the file as ./%s", file, file)
		case cmd.Name() == "serve" && notServed[name] != "":
			err = fmt.Errorf("a server has no --%s: %s", name, notServed[name])
		case slices.Contains([]string{"in", "input", "inputs", "file", "files"}, name):
			err = fmt.Errorf("%w: an input needs no flag, give its name alone", err)
		default: // -threshold is a flag with a dash too few
			err = fmt.Errorf("%w%s", err, didYouMean("--", likeFlags(cmd.Flags(), cmp.Or(unknown.GetSpecifiedShortnames(), name))))
		}
	}
	if _, is := errors.AsType[flags.Outside](err); !is { // else the message is all that there is to say
		err = fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())
	}
	return usageError{err}
}

// aboutMissing adds to an error about a missing file that the command line names.
func aboutMissing(cmd *cobra.Command, err error) error {
	var missing *fs.PathError
	if !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	input := slices.Contains(cmd.Flags().Args(), missing.Path)
	switch {
	case input && cmd.Name() == "query":
		err = fmt.Errorf("%w; check the name, or give --id if it is the id of a document", err)
	case input && cmd.Name() == "plan":
		err = fmt.Errorf("%w; check the name, or give --docs %s if it is a number of documents", err, missing.Path)
	case input:
		err = fmt.Errorf("%w; check the name", err)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		bare := f.NoOptDefVal != "" && f.Value.String() == f.NoOptDefVal && f.Value.Type() != "bool"
		switch {
		case bare && input:
			err = fmt.Errorf("%w; if it is the value of --%s, write --%s=%s", err, f.Name, f.Name, missing.Path)
		case f.Value.String() == missing.Path:
			err = fmt.Errorf("--%s: %w; check the name", f.Name, missing)
		}
	})
	return err
}

// calledElsewhere has the flags by their names in other programs.
var calledElsewhere = map[string]string{"threads": "jobs", "workers": "jobs", "num-workers": "jobs", "processes": "jobs", "similarity": "threshold", "text-column": "text-field", "id-column": "id-field"}

// likeFlags returns the flags that a mistyped name may stand for.
func likeFlags(flags *pflag.FlagSet, typed string) []string {
	words := &cobra.Command{}
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		word := &cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}}
		if strings.HasPrefix(typed, f.Name) || calledElsewhere[typed] == f.Name { // --output
			word.SuggestFor = []string{typed}
		}
		words.AddCommand(word)
	})
	return suggestions(words, typed)
}

// suggestions returns the subcommands that a mistyped word may stand for.
func suggestions(cmd *cobra.Command, typed string) []string {
	cmd.SuggestionsMinimumDistance = min(2, (len(typed)-1)/2)
	words := cmd.SuggestionsFor(typed)
	slices.Sort(words)
	return slices.Compact(words)
}

// didYouMean returns the end of a message about an unknown word.
func didYouMean(dashes string, words []string) string {
	if len(words) == 0 {
		return ""
	}
	return "; did you mean " + dashes + strings.Join(words, " or "+dashes) + "?"
}

// checkGiven refuses values that would count as "not given", and files in place of indexes. An empty
// text is most likely an unset variable.
func checkGiven(flags *pflag.FlagSet) error {
	var err error
	flags.Visit(func(f *pflag.Flag) {
		if f.Value.String() == "" && err == nil {
			err = usageError{fmt.Errorf("--%s is given an empty value: give it another, or leave it out", f.Name)}
		}
		if f.Shorthand != "" && f.Shorthand+f.Value.String() == f.Name { // -out FILE would write a file called ut
			err = usageError{fmt.Errorf("-%s is read as -%s %s: write --%s", f.Name, f.Shorthand, f.Value, f.Name)}
		}
		dirs := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			dirs = list.GetSlice()
		}
		for _, dir := range dirs {
			if fileErr := isFolder(dir); fileErr != nil && err == nil && (f.Name == "index" || f.Name == "against") {
				err = usageError{fmt.Errorf("--%s %w", f.Name, fileErr)}
			}
		}
	})
	return err
}

// conflict is a meaningless combination of flags, and whether it was given.
type conflict struct {
	is   bool
	says string
}

// meaning returns the first conflict that was given, as a usage error.
func meaning(conflicts ...conflict) error {
	for _, c := range conflicts {
		if c.is {
			return usageError{errors.New(c.says)}
		}
	}
	return nil
}

func inTurn(functions ...func() error) error {
	for _, f := range functions {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

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
