package jsonl

import (
	"strconv"
	"time"

	"github.com/firstseen/firstseen/corpus"
)

// readTime returns the time in a value, zero without one: a string for [corpus.ParseTime], or a
// number of Unix seconds.
func readTime(raw []byte, v value) time.Time {
	switch text := raw[v.start:v.end]; {
	case v.kind == kindString:
		return corpus.ParseTime(text)
	case v.kind == kindNumber && len(text) <= 64:
		seconds, _ := strconv.ParseFloat(string(text), 64) // infinite if it is too large
		return corpus.UnixTime(seconds)
	}
	return time.Time{}
}
