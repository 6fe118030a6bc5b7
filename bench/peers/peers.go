// Package peers implements the methods by which others find copies, each in its plain form, for
// comparison with firstseen on the same documents.
package peers

import (
	"github.com/firstseen/firstseen/bench/eval"
	"github.com/firstseen/firstseen/internal/engine/compare/similarity"
)

// A Rule is a method, and a Doc is a document it decides.
type (
	Rule = eval.Rule
	Doc  = eval.Doc
)

// keyBytes is the size of a table's entry.
const keyBytes = 8 + 4

// shingles returns the hashes of the runs of five units in a text, in order, with repetitions. A
// text of fewer units is one run.
func shingles(text string) []uint64 {
	var units, hashes []uint64
	for unit := range similarity.Units(text) {
		units = append(units, hashString(unit))
	}
	n := min(len(units), similarity.ShingleUnits)
	for i := 0; n > 0 && i+n <= len(units); i++ {
		h := uint64(0)
		for _, u := range units[i : i+n] {
			h = mix(h*multiplier + u)
		}
		hashes = append(hashes, h)
	}
	return hashes
}
