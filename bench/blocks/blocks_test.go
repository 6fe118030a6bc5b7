package blocks

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFindsAll: the tables of a layout together find what a search through all does.
func TestFindsAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	numbers := make([]uint64, 600)
	for i := range numbers {
		if numbers[i] = rng.Uint64(); i > 0 && i%2 == 0 {
			numbers[i] = numbers[rng.IntN(i)]
			for range 1 + rng.IntN(5) {
				numbers[i] ^= 1 << rng.IntN(64)
			}
		}
	}
	for _, l := range []Layout{{4, 1}, {5, 2}, {6, 3}, {2, 1}, {7, 4}} {
		distance := l.Blocks - l.Chosen
		got := map[uint64][]uint64{}
		for _, mask := range l.Masks() {
			table := New(mask, slices.Clone(numbers), make([]uint64, len(numbers)))
			for _, n := range numbers {
				got[n], _ = table.Find(got[n], n, distance)
			}
		}
		for _, n := range numbers {
			var want []uint64
			for _, other := range numbers {
				if bits.OnesCount64(n^other) <= distance {
					want = append(want, other)
				}
			}
			slices.Sort(want)
			slices.Sort(got[n])
			if found := slices.Compact(slices.Clone(got[n])); !slices.Equal(found, slices.Compact(want)) {
				t.Fatalf("%v: near %x are %x, want %x", l, n, found, want)
			}
		}
	}
}
