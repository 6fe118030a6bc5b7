// Package storetest holds an implementation of dedup.Store to its contract. A store
// has one test of this kind:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) dedup.Store { return open(t) })
//	}
//
// What passes gives the verdicts that any other store gives. Durability is no part
// of the contract, and not looked at.
package storetest

import (
	"testing"

	"github.com/firstseen/firstseen/dedup"
)

// Run runs the whole suite, each part on a new and empty store that open returns.
// A store with a Close method is closed at the end, and has to have Closed.
func Run(t *testing.T, open func(t *testing.T) dedup.Store) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			defer closeQuietly(s)
			if err := c.check(s); err != nil {
				t.Error(err)
			}
		})
	}
}

// A check is a part of the suite: it returns the faults of an empty store.
type check struct {
	name  string
	check func(s dedup.Store) error
}

var checks = []check{
	{"an empty store", empty},
	{"numbers", numbers},
	{"records", records},
	{"records are copies", recordsAreCopies},
	{"ids that are empty or equal", sameIDs},
	{"a number never given out", unknownNumbers},
	{"keys that nobody holds", unknownKeys},
	{"a key twice in a document", keyTwice},
	{"the earliest holders", earliestHolders},
	{"holders within a batch", holdersInBatch},
	{"documents without keys", noKeys},
	{"documents that only count", onlyCounting},
	{"extreme keys", extremeKeys},
	{"what is left of a batch of nothing", emptyBatches},
	{"slices used again", slicesReused},
	{"batches equal single calls", batchesEqualSingles},
	{"a large look-up", largeLookup},
	{"many documents", manyDocuments},
	{"several readers", severalReaders},
	{"a closed store", closed},
}

func closeQuietly(s dedup.Store) {
	if c, ok := s.(interface{ Close() error }); ok {
		_ = c.Close() // the check of closing has looked at it
	}
}
