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
// letters of either case, or Unix seconds in digits alone. Fractions of a second are left
// out.
func ParseTime(text []byte) time.Time {
	if len(text) > longestTime {
		return time.Time{}
	}
	if seconds, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return UnixTime(float64(seconds))
	}
	t, err := time.Parse(time.RFC3339, string(bytes.ToUpper(text)))
	if err != nil {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Second)
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
