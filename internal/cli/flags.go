package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/feature"
)

// flagError reports a mistake in the flags of a command and refers to its help.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.Is(err, errTwice) && errors.As(err, &invalid):
		f := invalid.GetFlag()
		err = fmt.Errorf("--%s is given twice, as %q and as %q: give one of them", f.Name, f.Value, invalid.GetValue())
	case errors.As(err, &invalid):
		err = invalidValue(invalid)
	case errors.As(err, &unknown) && removed[unknown.GetSpecifiedName()] != "":
		err = fmt.Errorf("--%s is gone: %s", unknown.GetSpecifiedName(), removed[unknown.GetSpecifiedName()])
	case errors.As(err, &unknown):
		err = fmt.Errorf("%w%s", err, didYouMean("--", likeFlags(cmd.Flags(), unknown.GetSpecifiedName())))
	}
	return usageError{fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())}
}

// invalidValue reports the wanted values of a flag or, if a setting is wrong, of the setting.
func invalidValue(invalid *pflag.InvalidValueError) error {
	for inner := invalid; errors.As(inner.Unwrap(), &inner); {
		invalid = inner
	}
	given := givenAs(invalid.GetFlag().Name, invalid.GetValue())
	var want wantError
	var setting settingError
	switch {
	case errors.As(invalid.Unwrap(), &want):
		return fmt.Errorf("%s: %w", given, want)
	case errors.As(invalid.Unwrap(), &setting):
		return fmt.Errorf("%s: %w", given, setting)
	}
	return fmt.Errorf("%s: want %s", given, wanted(invalid))
}

// likeFlags returns the flags that a mistyped one may stand for.
func likeFlags(flags *pflag.FlagSet, typed string) []string {
	words := &cobra.Command{}
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		word := &cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}, Hidden: f.Hidden}
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

// didYouMean is the end of a message about an unknown word.
func didYouMean(dashes string, words []string) string {
	if len(words) == 0 {
		return ""
	}
	return "; did you mean " + dashes + strings.Join(words, " or "+dashes) + "?"
}

// errTwice refuses a second value.
var errTwice = errors.New("given twice")

// once is the value of a flag that takes one.
type once struct {
	pflag.Value
	given bool
}

// Set takes the first value and refuses another, because either of the two may be meant.
func (o *once) Set(text string) error {
	if o.given {
		return errTwice
	}
	o.given = true
	return o.Value.Set(text)
}

// eachOnce makes the flags of a command refuse a second value. Flags that
// are on or off, and those with several values, are exempt.
func eachOnce(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, several := f.Value.(pflag.SliceValue); several || f.Value.Type() == "bool" {
			return
		}
		f.Value = &once{Value: f.Value}
		if f.DefValue == "0s" { // a sign to the help that there is no default
			f.DefValue = "0"
		}
	})
}

// wanted returns in plain words the values that a flag takes.
func wanted(invalid *pflag.InvalidValueError) string {
	if errors.Is(invalid, strconv.ErrRange) {
		return "a smaller number"
	}
	switch invalid.GetFlag().Value.Type() {
	case "int", "int64":
		return "a whole number"
	case "duration":
		return "a time such as 1s or 500ms"
	case "time":
		return "a time such as 48h, 2d or 1w"
	case "float64":
		return "a number"
	case "bool":
		return "nothing, true or false"
	}
	return "another value"
}

// ranges are the values that may be given to a flag. Zero in its place means that
// the flag was not given, so it is refused here.
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
	"max-bad":   {least: -1, most: 1 << 63, want: "at least 0, or -1 for any number"},
}

// smallestShare is above 0 and below any possible share of a text.
const smallestShare = 1e-300

// checkRanges refuses numbers that mean nothing, and values that would be taken
// for "not given": an empty text is most likely a variable that was not set.
func checkRanges(flags *pflag.FlagSet) error {
	var err error
	flags.Visit(func(f *pflag.Flag) {
		if f.Value.String() == "" && err == nil {
			err = usageError{fmt.Errorf("--%s is given an empty value: give it another, or leave it out", f.Name)}
		}
		if err == nil {
			err = notAFolder(f)
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

// A choice is the value of a flag that takes one of a few words.
type choice[T any] struct {
	to    *T
	given string
	words []choiceWord[T]
}

type choiceWord[T any] struct {
	text  string
	value T
}

// word is a word of a choice, and its value.
func word[T any](text string, value T) choiceWord[T] { return choiceWord[T]{text, value} }

// oneOf registers a flag that takes one of a few words. The first is the default.
func oneOf[T any](fs *pflag.FlagSet, to *T, name, usage string, words ...choiceWord[T]) {
	*to = words[0].value
	fs.Var(&choice[T]{to: to, given: words[0].text, words: words}, name, usage)
}

// oneWord registers a flag that takes one of a few words, which are its values.
func oneWord(fs *pflag.FlagSet, to *string, name, usage string, words ...string) {
	var choices []choiceWord[string]
	for _, w := range words {
		choices = append(choices, word(w, w))
	}
	oneOf(fs, to, name, usage, choices...)
}

// Set takes a word.
func (c *choice[T]) Set(text string) error {
	for _, w := range c.words {
		if w.text == text && text != "" {
			*c.to, c.given = w.value, text
			return nil
		}
	}
	return wantError("one of " + strings.Join(c.Words(), ", "))
}

func (c *choice[T]) String() string { return c.given }

func (c *choice[T]) Type() string { return "word" }

// Words returns the words that may be given.
func (c *choice[T]) Words() (words []string) {
	for _, w := range c.words {
		if w.text != "" {
			words = append(words, w.text)
		}
	}
	return words
}

// A wantError names the values that a flag takes.
type wantError string

func (e wantError) Error() string { return "want " + string(e) }

// parsed is the value of a flag that a function reads.
type parsed struct {
	text string
	read func(text string) error
}

// readBy registers a flag whose values a function reads, the default at once.
func readBy(fs *pflag.FlagSet, read func(text string) error, name, byDefault, usage string) {
	if err := read(byDefault); err != nil {
		panic(err) // a default is valid
	}
	fs.Var(&parsed{text: byDefault, read: read}, name, usage)
}

// Set takes a value.
func (p *parsed) Set(text string) error {
	if err := p.read(text); err != nil {
		return settingError(err.Error())
	}
	p.text = text
	return nil
}

func (p *parsed) String() string { return p.text }

func (p *parsed) Type() string { return "string" }

// byteSize is the value of a flag in bytes, such as 1GiB, within bounds.
type byteSize[N int | int64] struct {
	to          *N
	least, most uint64
}

// Set reads a number of bytes.
func (b *byteSize[N]) Set(text string) error {
	n, err := parseSize(text)
	switch {
	case err != nil:
		return wantError("a size above 0, such as 1GiB or 512M")
	case n < b.least || n > b.most:
		return wantError("from " + sizeText(b.least) + " to " + sizeText(b.most))
	}
	*b.to = N(n)
	return nil
}

func (b *byteSize[N]) String() string {
	if b.to == nil || *b.to == 0 {
		return ""
	}
	return sizeText(uint64(*b.to))
}

func (b *byteSize[N]) Type() string { return "size" }

// hide keeps flags out of the help.
func hide(fs *pflag.FlagSet, names ...string) {
	for _, name := range names {
		_ = fs.MarkHidden(name) // fails for unknown names only
	}
}
