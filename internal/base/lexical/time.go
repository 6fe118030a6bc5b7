package lexical

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

const longestTime = 64

// ParseTime returns the time in a text, or the zero time. It accepts RFC 3339 in upper or lower
// case, and Unix seconds in digits, perhaps after a sign. As in Python and pandas, a blank may
// replace the T, and a time without a zone is UTC. Fractions of a second are dropped.
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

// mostSeconds is the end of the year 9999, the last in RFC 3339.
const mostSeconds = 253402300799

// UnixTime converts seconds since 1970 and rounds fractions down. It returns the zero time after
// the year 9999, and as long before 1970.
func UnixTime(seconds float64) time.Time {
	if seconds = math.Floor(seconds); !(math.Abs(seconds) <= mostSeconds) {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0).UTC()
}
