package terms

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/feature/canon"
)

// TestHashesOfManyPieces checks that each word of a text of many pieces, and of several parts, comes
// once and in order.
func TestHashesOfManyPieces(t *testing.T) {
	r := NewReader(nil)
	for _, pieces := range []int{1, canon.Together - 1, canon.Together, 3 * canon.Together, 20_000} {
		var text strings.Builder
		var want, got []uint64
		for i := range pieces {
			fmt.Fprintf(&text, "piece %d, ", i)
			want = append(want, canon.HashUnit([]byte("piece")), canon.HashUnit(fmt.Append(nil, i)))
		}
		r.Hashes([]byte(text.String()), func(words []uint64) { got = append(got, words...) })
		if !slices.Equal(got, want) {
			t.Errorf("%d pieces: %d words, want %d", pieces, len(got), len(want))
		}
	}
}
