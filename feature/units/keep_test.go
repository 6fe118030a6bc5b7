package units

import (
	"strings"
	"testing"
)

// TestLongOutlinesTakeMemory checks that the outline of a long text leaves no memory behind.
func TestLongOutlinesTakeMemory(t *testing.T) {
	o := NewOutliner()
	for _, words := range []int{longHashes, longHashes + 1} {
		x := o.Keep([]byte(strings.Repeat("字", words)), words)
		if kept := cap(o.hashes) > 0; kept == (words > longHashes) || len(x.Hashes) != words {
			t.Errorf("an outline of %d words, want %d; memory is kept: %v", len(x.Hashes), words, kept)
		}
	}
}
