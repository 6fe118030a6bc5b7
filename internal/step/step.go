// Package step marks the places between two steps of a work that a crash must not tear. Tests can
// stop a process at each of these places.
package step

// Hook is called with the name of each step done. It is for tests: nil in every program, set before
// the work begins. Done returns its result; it may also end the process.
var Hook func(name string) error

// Done marks a step as done before the next begins. Its error is to be treated as that of the next
// step.
func Done(name string) error {
	if Hook == nil {
		return nil
	}
	return Hook(name)
}

// Committed is called with the file of a side table for each of its transactions on the disk. That
// includes those within a flush, a merge or a sweep, which are no steps. It is for tests, as Hook
// is.
var Committed func(file string)
