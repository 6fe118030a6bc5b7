package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/feature"
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
		case removed[name] != "":
			err = fmt.Errorf("--%s is gone: %s", name, removed[name])
		case cmd.Name() == "serve" && notServed[name] != "":
			err = fmt.Errorf("a server has no --%s: %s", name, notServed[name])
		default:
			err = fmt.Errorf("%w%s", err, didYouMean("--", likeFlags(cmd.Flags(), name)))
		}
	}
	return usageError{fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())}
}

// plain explains a wrong value by the values that the flag, or its wrong setting, takes.
func plain(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	if errors.Is(err, errTwice) {
		f := invalid.GetFlag()
		return fmt.Errorf("--%s is given twice, as %q and as %q: give one of them", f.Name, f.Value, invalid.GetValue())
	}
	for inner := invalid; errors.As(inner.Unwrap(), &inner); {
		invalid = inner
	}
	given := givenAs(invalid.GetFlag().Name, invalid.GetValue())
	var wrong mistake
	if errors.As(invalid.Unwrap(), &wrong) {
		return fmt.Errorf("%s: %w", given, wrong)
	}
	return fmt.Errorf("%s: want %s", given, wanted(invalid))
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

// wanted describes the values that a flag takes.
func wanted(invalid *pflag.InvalidValueError) string {
	if errors.Is(invalid, strconv.ErrRange) {
		return "a smaller number"
	}
	switch invalid.GetFlag().Value.Type() {
	case "int", "int64":
		return "a whole number"
	case "duration":
		return "a time such as 1s or 500ms"
	case "float64":
		return "a number"
	case "bool":
		return "nothing, true or false"
	}
	return "another value"
}

// ranges holds the permitted values of flags. A 0 that stands for a flag not given is refused.
var ranges = map[string]struct {
	least, most float64
	want        string
}{
	"threshold": {least: smallestShare, most: 1, want: "a share above 0 and at most 1"},
	"segments":  {least: 1, most: feature.MaxSegments, want: fmt.Sprintf("1 to %d", feature.MaxSegments)},
	"min-width": {least: 1, most: feature.MaxMinWidth, want: fmt.Sprintf("1 to %d", feature.MaxMinWidth)},
	"shingle":   {least: 1, most: feature.MaxShingle, want: fmt.Sprintf("1 to %d", feature.MaxShingle)},
	"distance":  {least: 1, most: feature.MaxDistance, want: fmt.Sprintf("1 to %d", feature.MaxDistance)},
	"jobs":      {least: 1, most: 1 << 31, want: "at least 1"},
	"min-docs":  {least: 1, most: math.MaxUint32, want: "1 to 4294967295"},
	"waiting":   {least: 1, most: 1 << 20, want: "1 to 1048576"},
	"max-bad":   {least: -1, most: 1 << 63, want: "at least 0, or -1 for any number"},

	"max-documents": {least: 1, most: 1 << 31, want: "at least 1"},
	"min-size":      {least: 0, most: 1 << 63, want: "at least 0"},
	"min-units":     {least: 0, most: 1 << 63, want: "at least 0"},
	"drop-below":    {least: 0, most: 1 << 63, want: "at least 0"},
}

// smallestShare is above 0 and below any possible share of a text.
const smallestShare = 1e-300

// checkRanges refuses meaningless numbers, and values that would count as "not given". An empty
// text is most likely an unset variable.
func checkRanges(flags *pflag.FlagSet) error {
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
		r, ok := ranges[f.Name]
		if !ok || err != nil {
			return
		}
		n, parseErr := strconv.ParseFloat(f.Value.String(), 64)
		if parseErr != nil || !(n >= r.least && n <= r.most) {
			err = usageError{fmt.Errorf("%s: want %s", givenAs(f.Name, f.Value.String()), r.want)}
		}
	})
	return err
}

// value is a flag value that a function parses. The function returns the text to show for it.
type value struct {
	kind, text string
	words      []string // for completion
	read       func(text string) (shown string, err error)
}

// Set parses a value.
func (v *value) Set(text string) error {
	shown, err := v.read(text)
	if err == nil {
		v.text = shown
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

// oneOf registers a flag for one of a few words, each with a value. The first is the default.
func oneOf[T any](fs *pflag.FlagSet, to *T, name, usage string, words []string, values ...T) {
	v := &value{kind: "word", text: words[0], words: words}
	v.read = func(text string) (string, error) {
		i := slices.Index(words, text)
		if i < 0 {
			return "", want("one of " + strings.Join(words, ", "))
		}
		*to = values[i]
		return text, nil
	}
	*to = values[0]
	fs.Var(v, name, usage)
}

// oneWord registers a flag that takes one of a few words, which are its values.
func oneWord(fs *pflag.FlagSet, to *string, name, usage string, words ...string) {
	oneOf(fs, to, name, usage, words, words...)
}

// readBy registers a flag whose values a function parses, and parses its default at once.
func readBy(fs *pflag.FlagSet, read func(text string) error, name, byDefault, usage string) {
	if byDefault != "" {
		if err := read(byDefault); err != nil {
			panic(err) // a default is valid
		}
	}
	fs.Var(&value{kind: "string", text: byDefault, read: func(text string) (string, error) {
		if err := read(text); err != nil {
			return "", mistake(err.Error())
		}
		return text, nil
	}}, name, usage)
}

// inBytes registers a flag for a size within bounds, such as 1GiB. The default is in *to.
func inBytes[N int | int64](fs *pflag.FlagSet, to *N, name string, least, most uint64, usage string) {
	v := &value{kind: "size", read: func(text string) (string, error) {
		n, err := parseSize(text)
		switch {
		case err != nil:
			return "", want("a size above 0, such as 1GiB or 512M")
		case n < least || n > most:
			return "", want("from " + sizeText(least) + " to " + sizeText(most))
		}
		*to = N(n)
		return sizeText(n), nil
	}}
	if *to != 0 {
		v.text = sizeText(uint64(*to))
	}
	fs.Var(v, name, usage)
}

// inSeconds registers a flag for a time, also in days and weeks.
func inSeconds(fs *pflag.FlagSet, to *uint32, name, usage string) {
	fs.Var(&value{kind: "time", text: "0", read: func(text string) (_ string, err error) {
		*to, err = parseSeconds(text)
		return (time.Duration(*to) * time.Second).String(), err
	}}, name, usage)
}

func hide(fs *pflag.FlagSet, names ...string) {
	for _, name := range names {
		_ = fs.MarkHidden(name) // fails for unknown names only
	}
}

// parseCount parses a number of documents such as 10000000, 10M or 1.5k.
func parseCount(s string) (uint64, error) {
	return parseScaled(s, map[string]float64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "b": 1e9}, "10M or 500k")
}

// parseSize parses a number of bytes such as 1GiB, 512M or 1.5g. Units are powers of 1024 unless
// they end in "B" without "i", as in 1GB.
func parseSize(s string) (uint64, error) {
	units := map[string]float64{"": 1, "b": 1}
	for i, u := range []string{"k", "m", "g", "t"} {
		units[u] = math.Pow(1024, float64(i+1))
		units[u+"ib"] = units[u]
		units[u+"b"] = math.Pow(1000, float64(i+1))
	}
	return parseScaled(s, units, "1GiB or 512M")
}

func sizeText(bytes uint64) string {
	v, unit := scaled(float64(bytes), 1024, "B", "KiB", "MiB", "GiB", "TiB")
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) + " " + unit
}

// countText formats a number with three digits.
func countText(n float64) string {
	v, unit := scaled(n, 1000, "", "k", "M", "G")
	return strconv.FormatFloat(v, 'g', 3, 64) + unit
}

// scaled returns a number in its largest unit. Each unit is base times the one before.
func scaled(n, base float64, units ...string) (float64, string) {
	for len(units) > 1 && n >= base {
		n, units = n/base, units[1:]
	}
	return n, units[0]
}

func parseScaled(s string, units map[string]float64, example string) (uint64, error) {
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	unit, ok := units[strings.ToLower(strings.TrimSpace(s[len(digits):]))]
	n, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil || !(n > 0) || n*unit > 1<<62 {
		return 0, fmt.Errorf("%q is not a number above 0 such as %s", s, example)
	}
	if n*unit < 1 {
		return 0, fmt.Errorf("%q is less than 1: want a number such as %s", s, example)
	}
	return uint64(n * unit), nil
}

var dayUnits = regexp.MustCompile(`([0-9.]+)([dw])`)

// parseSeconds parses a time in whole seconds, such as 48h, 2d or 1w.
func parseSeconds(text string) (uint32, error) {
	hours := dayUnits.ReplaceAllStringFunc(text, func(part string) string {
		n, err := strconv.ParseFloat(part[:len(part)-1], 64)
		if err != nil {
			return part
		}
		if n *= 24; strings.HasSuffix(part, "w") {
			n *= 7
		}
		return strconv.FormatFloat(n, 'f', -1, 64) + "h"
	})
	length, err := time.ParseDuration(hours)
	if err != nil {
		return 0, want("a time such as 48h, 2d or 1w")
	}
	const most = math.MaxUint32 * time.Second
	if length < 0 || length%time.Second != 0 || length > most {
		return 0, want(fmt.Sprintf("whole seconds, such as 48h, and at most %v", most))
	}
	return uint32(length / time.Second), nil
}
