// Package effort measures work by the time of processors, which other programs at work
// do not lengthen as they do the time that passes.
package effort

import (
	"testing"
	"time"
)

// Of returns the processor time that f takes. If the process does other work at the same time, the
// value is too high.
func Of(f func()) time.Duration {
	begun := CPU()
	f()
	return CPU() - begun
}

const (
	times = 16 // so much more input
	slack = 6  // linear work may take so much more for each of its items; quadratic work takes 16
	// Below it, caches and the garbage of others are measured.
	least = time.Millisecond
	tries = 5
)

// Linear wants work on sixteen times as much input to take no more than linear work
// would, by far. prepare makes the input of a size and returns the work on it.
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
