// Package effort measures work in processor time, which other programs do not lengthen.
package effort

import (
	"testing"
	"time"
)

// Of returns the processor time of f, including other work of the process meanwhile.
func Of(f func()) time.Duration {
	begun := CPU()
	f()
	return CPU() - begun
}

const (
	times = 16 // growth of the input
	slack = 6  // largest growth of the time for each item; that of quadratic work is 16
	// Shorter times measure caches and the garbage of others.
	least = time.Millisecond
	tries = 5
)

// Linear reports an error if sixteen times the input takes far longer than linear work would.
// prepare makes the input of a size and returns the work on it.
func Linear(t testing.TB, what string, size int, prepare func(size int) func()) {
	t.Helper()
	one, many := prepare(size), prepare(times*size)
	short, long := time.Duration(1<<62), time.Duration(1<<62)
	for range tries {
		short, long = min(short, Of(one), Of(one)), min(long, Of(many))
		if long <= slack*times*max(short, least) {
			return
		}
	}
	t.Errorf("%s: %d bytes take %v, and %d times as many %v", what, size, short, times, long)
}
