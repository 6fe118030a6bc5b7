package cli

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// parseCount reads a number of documents such as 10000000, 10M or 1.5k.
func parseCount(s string) (uint64, error) {
	return parseScaled(s, map[string]float64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "b": 1e9}, "10M or 500k")
}

// parseSize reads a number of bytes such as 1GiB, 512M or 1.5g. Units are powers
// of 1024 unless they end in "B" without "i", as in 1GB.
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
	v, unit := float64(bytes), "B"
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if v < 1024 {
			break
		}
		v, unit = v/1024, u
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) + " " + unit
}

// countText writes a number for people, with three digits.
func countText(n float64) string {
	unit := ""
	for _, u := range []string{"k", "M", "G"} {
		if n < 1000 {
			break
		}
		n, unit = n/1000, u
	}
	return strconv.FormatFloat(n, 'g', 3, 64) + unit
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

// parseSeconds reads a time in whole seconds, such as 48h, 2d or 1w.
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
