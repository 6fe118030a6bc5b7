package jsonl

import (
	"strconv"
	"time"

	"github.com/firstseen/firstseen/corpus"
)

// readTime is the time that a value tells, zero where it tells none: a string that
// [corpus.ParseTime] reads, or a number of Unix seconds.
func readTime(raw []byte, v value) time.Time {
	switch text := raw[v.start:v.end]; {
	case v.kind == kindString:
		return corpus.ParseTime(text)
	case v.kind == kindNumber && len(text) <= 64:
		seconds, _ := strconv.ParseFloat(string(text), 64) // infinite where it is too large
		return corpus.UnixTime(seconds)
	}
	return time.Time{}
}
