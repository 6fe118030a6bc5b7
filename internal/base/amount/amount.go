// Package amount reads and formats numbers as users write them: 10M documents, 1GiB, 2d.
package amount

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ParseCount parses a number of documents such as 10000000, 10M or 1.5k.
func ParseCount(s string) (uint64, error) {
	return parseScaled(s, map[string]float64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "b": 1e9}, "10M or 500k")
}

// ParseSize parses a number of bytes such as 1GiB, 512M or 1.5g. Units are powers of 1024 unless
// they end in "B" without "i", as in 1GB.
func ParseSize(s string) (uint64, error) {
	units := map[string]float64{"": 1, "b": 1}
	for i, u := range []string{"k", "m", "g", "t"} {
		units[u] = math.Pow(1024, float64(i+1))
		units[u+"ib"] = units[u]
		units[u+"b"] = math.Pow(1000, float64(i+1))
	}
	return parseScaled(s, units, "1GiB or 512M")
}

// Size formats a number of bytes in its largest unit.
func Size(bytes uint64) string {
	v, unit := scaled(float64(bytes), 1024, "B", "KiB", "MiB", "GiB", "TiB")
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) + " " + unit
}

// Count formats a number with three digits.
func Count(n float64) string {
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

// ParseSeconds parses a time in whole seconds, such as 48h, 2d or 1w.
func ParseSeconds(text string) (uint32, error) {
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
		return 0, errors.New("want a time such as 48h, 2d or 1w")
	}
	const most = math.MaxUint32 * time.Second
	if length < 0 || length%time.Second != 0 || length > most {
		return 0, fmt.Errorf("want whole seconds, such as 48h, and at most %v", most)
	}
	return uint32(length / time.Second), nil
}
