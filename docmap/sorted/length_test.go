package sorted

import (
	"slices"
	"testing"
)

// TestBinOfAnotherLength refuses a bin longer or shorter than its entries.
func TestBinOfAnotherLength(t *testing.T) {
	s := DefaultDivision.Shape(LogFor(2), 5, 100)
	b := Builder{Limit: 8}
	b.In.Add(1, 6)
	b.In.Add(2, 7)
	value, _ := b.Build(nil, NewRun(s, 3, 5), 0)
	check := func(value []byte) error {
		_, err := NewRun(s, 3, 5).Open(0, value, false)
		return err
	}
	if err := check(value); err != nil {
		t.Fatal(err)
	}
	for _, other := range [][]byte{append(slices.Clone(value), 0), append(slices.Clone(value), make([]byte, 8)...), value[:len(value)-1]} {
		if err := check(other); !isDamage(err) {
			t.Errorf("%d bytes instead of %d: %v", len(other), len(value), err)
		}
	}
}
