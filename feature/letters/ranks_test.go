package letters

import (
	"slices"
	"testing"
)

// TestKeysOfOneRank checks that of two key runs with the same rank the one with the lesser hash comes
// first, wherever it stands in the text.
func TestKeysOfOneRank(t *testing.T) {
	for _, keys := range [][]key{{{5, 3}, {5, 9}, {4, 7}}, {{5, 9}, {4, 7}, {5, 3}}} {
		m := NewMaker()
		for _, k := range keys {
			m.addKey(k)
		}
		if got, want := m.AppendKeys(nil, MaxKeys), []uint64{7, 3, 9}; !slices.Equal(got, want) {
			t.Errorf("%v: keys %v, want %v", keys, got, want)
		}
	}
}
