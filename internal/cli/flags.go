package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/feature"
)

// flagError says what is wrong with the flags of a command, and where to look.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		err = fmt.Errorf("%s %s: want %s", flagName(invalid.GetFlag()), invalid.GetValue(), wanted(invalid))
	}
	return usageError{fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())}
}

func flagName(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand
	}
	return "--" + f.Name
}

// wanted says in plain words what values a flag takes.
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

// smallestShare is above 0 and below what any share of a text can be.
const smallestShare = 1e-300

// checkRanges refuses numbers that mean nothing, and values that would be taken
// for "not given": an empty text is most likely a variable that was not set.
func checkRanges(flags *pflag.FlagSet) error {
	var err error
	flags.Visit(func(f *pflag.Flag) {
		if f.Value.String() == "" && err == nil {
			err = usageError{fmt.Errorf("%s is given an empty value: give it another, or leave it out", flagName(f))}
		}
		r, ok := ranges[f.Name]
		if !ok || err != nil {
			return
		}
		n, parseErr := strconv.ParseFloat(f.Value.String(), 64)
		if parseErr != nil || !(n >= r.least && n <= r.most) {
			err = usageError{fmt.Errorf("%s %s: want %s", flagName(f), f.Value, r.want)}
		}
	})
	return err
}
