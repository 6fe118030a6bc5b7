// Package step marks the points between two steps of work that a crash must not tear. Tests can
// stop a process at each.
package step

// Hook is called with the name of each finished step. It is for tests: nil in every program, and
// set before the work begins. Done returns its result; it may also end the process.
var Hook func(name string) error

// Done marks a step as finished before the next begins. Its error counts as one of the next step.
func Done(name string) error {
	if Hook == nil {
		return nil
	}
	return Hook(name)
}

// Committed is called with the file of a side table for each of its transactions on disk. Those in
// a flush, a merge or a sweep are included, but are no steps. Like Hook, it is for tests.
var Committed func(file string)
