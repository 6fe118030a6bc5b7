package packing

import (
	"slices"
	"testing"
)

func TestShuffles(t *testing.T) {
	table := Shuffles()
	for mask, want := range map[int][]byte{0: {}, 1: {0}, 0x80: {7}, 0xA4: {2, 5, 7}, 0xFF: {0, 1, 2, 3, 4, 5, 6, 7}} {
		if got := table[mask][:len(want)]; !slices.Equal(got, want) {
			t.Errorf("of mask %#x: %d, want %d", mask, got, want)
		}
	}
}
