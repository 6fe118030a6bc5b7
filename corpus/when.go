package corpus

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

// longestTime is the longest text that can be a time, in bytes.
const longestTime = 64

// ParseTime returns the time in a text, zero without one: RFC 3339 in letters of either case, or Unix
// seconds in digits alone. A blank may stand for the T, and a time without zone is UTC, as Python and
// pandas write times. Fractions of a second are dropped.
func ParseTime(text []byte) time.Time {
	if len(text) > longestTime {
		return time.Time{}
	}
	if seconds, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return UnixTime(float64(seconds))
	}
	form := bytes.ToUpper(text)
	if at := len(time.DateOnly); len(form) > at && form[at] == ' ' {
		form[at] = 'T'
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, string(form)); err == nil {
			return t.UTC().Truncate(time.Second)
		}
	}
	return time.Time{}
}

// mostSeconds is the end of the year 9999, as RFC 3339 has it.
const mostSeconds = 253402300799

// UnixTime converts seconds since 1970, without fractions. It is zero outside the years of RFC 3339.
func UnixTime(seconds float64) time.Time {
	if seconds = math.Floor(seconds); !(math.Abs(seconds) <= mostSeconds) {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0).UTC()
}
