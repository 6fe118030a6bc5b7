// Package owners has the names by which a server and a follower store their state in an index.
package owners

import "github.com/firstseen/firstseen/internal/base/journal"

const (
	// Served names the owner's value that records which journals the index includes; docs/format.md,
	// "A server's journal".
	Served = "served"
	// Followed names the owner's value of an index that follows a log; docs/format.md, "A log".
	Followed = "followed"

	prefix = "served" // of a server's journal
)

// Journal returns the name of a server's journal by its generation.
func Journal(generation uint64) string { return journal.Name(prefix, generation) }

// Journals returns the generations of a server's journals in dir, ascending.
func Journals(dir string) ([]uint64, error) { return journal.Generations(dir, prefix) }
