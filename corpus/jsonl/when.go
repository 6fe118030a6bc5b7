package jsonl

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

// longestTime is the longest value that can be a time, in bytes.
const longestTime = 64

// readTime is the time that a value tells, zero where it tells none: a string as RFC 3339
// has it, in letters of either case, or Unix seconds, as a number or in a string of digits
// alone. Fractions of a second are left out.
func readTime(raw []byte, v value) time.Time {
	if v.kind != kindString && v.kind != kindNumber || v.end-v.start > longestTime {
		return time.Time{}
	}
	text := bytes.ToUpper(raw[v.start:v.end])
	if seconds, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return fromUnix(float64(seconds))
	}
	if v.kind == kindNumber {
		seconds, _ := strconv.ParseFloat(string(text), 64) // infinite where it is too large
		return fromUnix(seconds)
	}
	t, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Second)
}

// mostSeconds is the end of the year 9999, as RFC 3339 has it.
const mostSeconds = 253402300799

func fromUnix(seconds float64) time.Time {
	if seconds = math.Floor(seconds); seconds < -mostSeconds || seconds > mostSeconds {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0).UTC()
}
