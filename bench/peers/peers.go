// Package peers has the methods that others use to tell copies, each in its plain
// form, to be compared with firstseen on the same documents.
package peers

import (
	"github.com/firstseen/firstseen/bench/eval"
	"github.com/firstseen/firstseen/internal/compare/similarity"
)

// A Rule is what each of them is, and a Doc what it judges.
type (
	Rule = eval.Rule
	Doc  = eval.Doc
)

// keyBytes is what one entry of a table takes.
const keyBytes = 8 + 4

// shingles are the hashes of the runs of five units in a text, in order, a run as
// often as it stands there; one of all units where there are fewer than five.
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
