package corpus

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

// longestTime is the longest text that can be a time, in bytes.
const longestTime = 64

// ParseTime is the time that a text tells, zero where it tells none: as RFC 3339 has it, in
// letters of either case, or Unix seconds in digits alone. A blank may stand for the T, and
// without a zone it is UTC, as Python and pandas write times. Fractions of a second are left
// out.
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

// UnixTime is a time in seconds since 1970, without fractions, zero where it is of no year
// that RFC 3339 can tell.
func UnixTime(seconds float64) time.Time {
	if seconds = math.Floor(seconds); !(math.Abs(seconds) <= mostSeconds) {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0).UTC()
}
