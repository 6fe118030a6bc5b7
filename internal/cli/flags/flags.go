// Package flags has values of flags with their parsers: words, numbers within bounds, sizes, times,
// and words with settings. A parser is a function from a text, so a setting has the same as a flag.
package flags

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/internal/base/amount"
)

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

// Outside is the mistake of a number that no command can use.
type Outside struct{ mistake }

// OneOf registers a flag for one of a few words, each with a value. The first is the default.
func OneOf[T any](fs *pflag.FlagSet, to *T, name, usage string, words []string, values ...T) {
	fs.Var(&value{kind: "word", text: words[0], words: words, read: Word(to, words, values...)}, name, usage)
}

// Word returns a parser of one of a few words, each with a value. The first is the default.
func Word[T any](to *T, words []string, values ...T) func(string) error {
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

// OneWord registers a flag that takes one of a few words, which are its values.
func OneWord(fs *pflag.FlagSet, to *string, name, usage string, words ...string) {
	OneOf(fs, to, name, usage, words, words...)
}

// Parsed returns a parser that stores the result of another.
func Parsed[T any](to *T, parse func(text string) (T, error)) func(string) error {
	return func(text string) (err error) {
		*to, err = parse(text)
		return err
	}
}

// Text returns a parser that takes any text.
func Text(to *string) func(string) error {
	return Parsed(to, func(text string) (string, error) { return text, nil })
}

// By registers a flag whose values a function parses.
func By(fs *pflag.FlagSet, read func(text string) error, name, usage string) {
	fs.Var(&value{kind: "string", read: read}, name, usage)
}

// Jobs registers a flag for a number of processors, with the shorthand j. The default is all of them.
func Jobs(fs *pflag.FlagSet, to *int, usage string) {
	*to = runtime.NumCPU()
	fs.VarP(&value{kind: "int", text: fmt.Sprint(*to), read: Whole(to, 1, Unbounded)}, "jobs", "j", usage)
	fs.Lookup("jobs").DefValue = "all" // the same help on any machine
}

// Words returns the words that a flag takes, or nil if it takes others.
func Words(f *pflag.Flag) []string {
	if v, ok := f.Value.(*value); ok {
		return v.words
	}
	return nil
}

// Integer registers a flag for a whole number within bounds. The default is in *to.
func Integer[N int | int64](fs *pflag.FlagSet, to *N, name string, least, most N, usage string) {
	fs.Var(&value{kind: "int", text: fmt.Sprint(*to), read: Whole(to, least, most)}, name, usage)
}

// Whole returns a parser of whole numbers within bounds.
func Whole[N int | int64](to *N, least, most N) func(string) error {
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
			return Outside{mistake("want at least 0, or -1 for any number")}
		case int64(most) == Unbounded:
			return Outside{mistake(fmt.Sprintf("want at least %d", least))}
		}
		return Outside{mistake(fmt.Sprintf("want %d to %d", least, most))}
	}
}

// Unbounded is the most of numbers without a bound of their own.
const Unbounded = 1<<31 - 1

// Share registers a flag for a share of a text. 0 stands for a flag not given.
func Share(fs *pflag.FlagSet, to *float64, name, usage string) {
	fs.Var(&value{kind: "float", read: func(text string) error {
		n, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil:
			return want("a share such as 0.65")
		case !(n >= smallestShare && n <= 1):
			return Outside{mistake("want a share above 0 and at most 1, such as 0.65")}
		}
		*to = n
		return nil
	}}, name, usage)
}

// Size registers a flag for a size within bounds, such as 1GiB. The default is in *to.
func Size[N int | int64](fs *pflag.FlagSet, to *N, name string, least, most uint64, usage string) {
	fs.Var(&value{kind: "size", read: Bytes(to, least, most)}, name, usage)
}

// Bytes returns a parser of sizes within bounds.
func Bytes[N int | int64](to *N, least, most uint64) func(string) error {
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

// Seconds registers a flag for a time, also in days and weeks.
func Seconds(fs *pflag.FlagSet, to *uint32, name, usage string) {
	fs.Var(&value{kind: "time", text: "0", read: Parsed(to, amount.ParseSeconds)}, name, usage)
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

// Once makes flags refuse a second value, except switches and lists.
func Once(fs *pflag.FlagSet) {
	fs.VisitAll(func(f *pflag.Flag) {
		if _, several := f.Value.(pflag.SliceValue); several || f.Value.Type() == "bool" {
			return
		}
		f.Value = &once{Value: f.Value}
	})
}

// Explain explains a wrong value by the values that the flag, or its wrong setting, takes.
func Explain(err error) error {
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

// Hide leaves flags out of the help.
func Hide(fs *pflag.FlagSet, names ...string) {
	for _, name := range names {
		_ = fs.MarkHidden(name) // fails for unknown names only
	}
}
