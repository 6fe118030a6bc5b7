// Package peers has the methods that others use to tell copies, each in its plain
// form, to be compared with firstseen on the same documents.
package peers

import "github.com/firstseen/firstseen/alike"

// A Rule decides about documents one after the other, in order, and names for each
// one it removes an earlier one that stands for it.
type Rule interface {
	// Name says which method it is, with its settings.
	Name() string
	// Decide judges the next document and, unless it is removed, remembers it. The
	// witness of a removal is the number of a kept document, counted from 0 over
	// all that were judged.
	Decide(doc Doc) (witness int, removed bool, err error)
	// Size is how many bytes it has to remember of all documents kept: 8 for each
	// key it looks up and 4 for the number that stands there, and the signatures it
	// compares. Ids, and the free room of tables, are not counted.
	Size() int64
}

// A Doc is a document to judge.
type Doc struct{ ID, Text string }

// keyBytes is what one entry of a table takes.
const keyBytes = 8 + 4

// shingles are the hashes of the runs of five units in a text, in order, a run as
// often as it stands there; one of all units where there are fewer than five.
func shingles(text string) []uint64 {
	var units, hashes []uint64
	for unit := range alike.Units(text) {
		units = append(units, hashString(unit))
	}
	n := min(len(units), alike.ShingleUnits)
	for i := 0; n > 0 && i+n <= len(units); i++ {
		h := uint64(0)
		for _, u := range units[i : i+n] {
			h = mix(h*multiplier + u)
		}
		hashes = append(hashes, h)
	}
	return hashes
}
