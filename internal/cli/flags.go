package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/internal/amount"
)

// flagError reports a mistake in the flags of a command and refers to its help.
func flagError(cmd *cobra.Command, err error) error {
	err = plain(err)
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
		default:
			err = fmt.Errorf("%w%s", err, didYouMean("--", likeFlags(cmd.Flags(), name)))
		}
	}
	if _, is := errors.AsType[outside](err); is { // the message is all that there is to say
		return usageError{err}
	}
	return usageError{fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())}
}

// plain explains a wrong value by the values that the flag, or its wrong setting, takes.
func plain(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	f := invalid.GetFlag()
	if errors.Is(err, errTwice) {
		return fmt.Errorf("--%s is given twice, as %q and as %q: give one of them", f.Name, f.Value, invalid.GetValue())
	}
	given, cause := "--"+f.Name+" "+invalid.GetValue(), invalid.Unwrap()
	if wrong, is := errors.AsType[wrongSetting](cause); is {
		given, cause = wrong.given, wrong.error
	}
	if number, is := errors.AsType[*strconv.NumError](cause); is {
		cause = want(wanted(f.Value.Type(), number))
	}
	return fmt.Errorf("%s: %w", given, cause)
}

// besideValue adds to an error about a missing file: it may be the value of a flag without one.
func besideValue(cmd *cobra.Command, err error) error {
	var missing *fs.PathError
	if !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		bare := f.NoOptDefVal != "" && f.Value.String() == f.NoOptDefVal && f.Value.Type() != "bool"
		if bare && slices.Contains(cmd.Flags().Args(), missing.Path) {
			err = fmt.Errorf("%w; if it is the value of --%s, write --%s=%s", err, f.Name, f.Name, missing.Path)
		}
	})
	return err
}

// likeFlags returns the flags that a mistyped name may stand for.
func likeFlags(flags *pflag.FlagSet, typed string) []string {
	words := &cobra.Command{}
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		word := &cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}}
		if strings.HasPrefix(typed, f.Name) { // --output
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

// errTwice is the error for a second value.
var errTwice = errors.New("given twice")

// once is the value of a flag that may be set once.
type once struct {
	pflag.Value
	given bool
}

// Set takes the first value and refuses another, because either may be meant.
func (o *once) Set(text string) error {
	if o.given {
		return errTwice
	}
	o.given = true
	return o.Value.Set(text)
}

// eachOnce makes the flags of a command refuse a second value, except switches and lists.
func eachOnce(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, several := f.Value.(pflag.SliceValue); several || f.Value.Type() == "bool" {
			return
		}
		f.Value = &once{Value: f.Value}
	})
}

// wanted describes the values that a flag of pflag takes.
func wanted(kind string, err error) string {
	switch {
	case errors.Is(err, strconv.ErrRange):
		return "a smaller number"
	case kind == "int":
		return "a whole number"
	case kind == "float64":
		return "a number"
	}
	return "nothing, true or false"
}

// smallestShare is above 0 and below any possible share of a text.
const smallestShare = 1e-300

// checkGiven refuses values that would count as "not given", and files in place of indexes. An empty
// text is most likely an unset variable.
func checkGiven(flags *pflag.FlagSet) error {
	var err error
	flags.Visit(func(f *pflag.Flag) {
		if f.Value.String() == "" && err == nil {
			err = usageError{fmt.Errorf("--%s is given an empty value: give it another, or leave it out", f.Name)}
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

// value is a flag value that a function parses.
type value struct {
	kind, text string
	words      []string // for completion
	read       func(text string) error
}

// Set parses a value.
func (v *value) Set(text string) error {
	err := v.read(text)
	if err == nil {
		v.text = text
	}
	return err
}

func (v *value) String() string { return v.text }

func (v *value) Type() string { return v.kind }

// A mistake in a value names its fault, or the values that the flag takes.
type mistake string

func (m mistake) Error() string { return string(m) }

// want returns the mistake of a value other than those that the flag takes.
func want(values string) error { return mistake("want " + values) }

// outside is the mistake of a number that no command can use.
type outside struct{ mistake }

// oneOf registers a flag for one of a few words, each with a value. The first is the default.
func oneOf[T any](fs *pflag.FlagSet, to *T, name, usage string, words []string, values ...T) {
	fs.Var(&value{kind: "word", text: words[0], words: words, read: word(to, words, values...)}, name, usage)
}

// word returns a parser of one of a few words, each with a value. The first is the default.
func word[T any](to *T, words []string, values ...T) func(string) error {
	*to = values[0]
	return func(text string) error {
		i := slices.Index(words, text)
		if i < 0 {
			return want("one of " + strings.Join(words, ", "))
		}
		*to = values[i]
		return nil
	}
}

// oneWord registers a flag that takes one of a few words, which are its values.
func oneWord(fs *pflag.FlagSet, to *string, name, usage string, words ...string) {
	oneOf(fs, to, name, usage, words, words...)
}

// readBy registers a flag whose values a function parses.
func readBy(fs *pflag.FlagSet, read func(text string) error, name, usage string) {
	fs.Var(&value{kind: "string", read: read}, name, usage)
}

// integer registers a flag for a whole number within bounds. The default is in *to.
func integer[N int | int64](fs *pflag.FlagSet, to *N, name string, least, most N, usage string) {
	fs.Var(&value{kind: "int", text: fmt.Sprint(*to), read: whole(to, least, most)}, name, usage)
}

// whole returns a parser of whole numbers within bounds.
func whole[N int | int64](to *N, least, most N) func(string) error {
	return func(text string) error {
		n, err := strconv.ParseInt(text, 0, strconv.IntSize)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return want("a smaller number")
		case err != nil:
			return want("a whole number")
		case n >= int64(least) && n <= int64(most):
			*to = N(n)
			return nil
		case least < 0:
			return outside{mistake("want at least 0, or -1 for any number")}
		case int64(most) == unbounded:
			return outside{mistake(fmt.Sprintf("want at least %d", least))}
		}
		return outside{mistake(fmt.Sprintf("want %d to %d", least, most))}
	}
}

// unbounded is the most of numbers without a bound of their own.
const unbounded = 1<<31 - 1

// share registers a flag for a share of a text. 0 stands for a flag not given.
func share(fs *pflag.FlagSet, to *float64, name, usage string) {
	fs.Var(&value{kind: "float", read: func(text string) error {
		n, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil:
			return want("a number")
		case !(n >= smallestShare && n <= 1):
			return outside{mistake("want a share above 0 and at most 1")}
		}
		*to = n
		return nil
	}}, name, usage)
}

// inBytes registers a flag for a size within bounds, such as 1GiB. The default is in *to.
func inBytes[N int | int64](fs *pflag.FlagSet, to *N, name string, least, most uint64, usage string) {
	fs.Var(&value{kind: "size", read: bytesOf(to, least, most)}, name, usage)
}

// bytesOf returns a parser of sizes within bounds.
func bytesOf[N int | int64](to *N, least, most uint64) func(string) error {
	return func(text string) error {
		n, err := amount.ParseSize(text)
		switch {
		case err != nil:
			return want("a size above 0, such as 1GiB or 512M")
		case n < least || n > most:
			return want("from " + amount.Size(least) + " to " + amount.Size(most))
		}
		*to = N(n)
		return nil
	}
}

// inSeconds registers a flag for a time, also in days and weeks.
func inSeconds(fs *pflag.FlagSet, to *uint32, name, usage string) {
	fs.Var(&value{kind: "time", text: "0", read: func(text string) (err error) {
		*to, err = amount.ParseSeconds(text)
		return err
	}}, name, usage)
}

func hide(fs *pflag.FlagSet, names ...string) {
	for _, name := range names {
		_ = fs.MarkHidden(name) // fails for unknown names only
	}
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

// checkFlags returns the first error of several checks, as a usage error.
func checkFlags(checks ...func() error) error {
	if err := inTurn(checks...); err != nil {
		return usageError{err}
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

func registerJobs(fs *pflag.FlagSet, jobs *int, usage string) {
	*jobs = runtime.NumCPU()
	fs.VarP(&value{kind: "int", text: fmt.Sprint(*jobs), read: whole(jobs, 1, unbounded)}, "jobs", "j", usage)
	fs.Lookup("jobs").DefValue = "all" // the same help on any machine
}
