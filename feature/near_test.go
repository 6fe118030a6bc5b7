package feature

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// near returns the numbers that Find should return.
func near(numbers []uint64, number uint64, distance int) (found []uint64) {
	for _, n := range numbers {
		if bits.OnesCount64(n^number) <= distance {
			found = append(found, n)
		}
	}
	slices.Sort(found)
	return found
}

// TestFindsAll checks that Find returns all near numbers, each as often as added, and no others.
// They cluster as those of copies do.
func TestFindsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		distance := rapid.IntRange(1, MaxDistance).Draw(t, "distance")
		x := newNearIndex(distance)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		crowds := rapid.IntRange(1, 20).Draw(t, "crowds")
		centres := make([]uint64, crowds)
		for i := range centres {
			centres[i] = rng.Uint64()
		}
		draw := func() uint64 {
			n := centres[rng.IntN(crowds)]
			for range rng.IntN(distance + 4) {
				n ^= 1 << rng.IntN(64)
			}
			return n
		}
		var numbers []uint64
		for range rapid.IntRange(0, 400).Draw(t, "numbers") {
			n := draw()
			numbers = append(numbers, n)
			if err := x.Add(n); err != nil {
				t.Fatal(err)
			}
		}
		if x.n != len(numbers) {
			t.Fatalf("%d numbers of %d", x.n, len(numbers))
		}
		for range 50 {
			n := draw()
			got := x.Find(nil, n)
			slices.Sort(got)
			if want := near(numbers, n, distance); !slices.Equal(got, want) {
				t.Fatalf("near %x are %x, want %x", n, got, want)
			}
		}
	})
}

// TestLongList fills many chunks with numbers of one block. No chunk spans two slabs.
func TestLongList(t *testing.T) {
	const n = 1_100_000
	x := newNearIndex(1)
	for range n {
		if err := x.Add(1 << 40); err != nil {
			t.Fatal(err)
		}
	}
	if found := x.Find(nil, 1<<40); len(found) != n {
		t.Errorf("%d of %d found", len(found), n)
	}
}

// memoryOf returns the bytes that an index takes.
func memoryOf(x *nearIndex) (taken uint64) {
	for _, t := range x.tables {
		taken += 4 * uint64(len(t.heads))
	}
	return taken + uint64(len(x.slabs))*slabBytes
}

// TestNearMemory checks that nearIndexBytes is enough, and at most four times the bytes taken.
func TestNearMemory(t *testing.T) {
	for _, distance := range []int{1, 3, 7} {
		x := newNearIndex(distance)
		rng := rand.New(rand.NewPCG(3, 4))
		for i := range 200_000 {
			if err := x.Add(rng.Uint64()); err != nil {
				t.Fatal(err)
			}
			if i != 99 && i != 9_999 && i != 199_999 {
				continue
			}
			said := nearIndexBytes(uint64(i+1), distance)
			if taken := memoryOf(x); taken > said || taken < said/4 {
				t.Errorf("distance %d: %d numbers take %d bytes, and %d were said", distance, i+1, taken, said)
			}
		}
	}
}

func TestNearNoAllocation(t *testing.T) {
	x := newNearIndex(3)
	for i := range uint64(1000) {
		if err := x.Add(i); err != nil {
			t.Fatal(err)
		}
	}
	found := make([]uint64, 0, 1000)
	if allocs := testing.AllocsPerRun(20, func() { found = x.Find(found[:0], 5) }); allocs > 0 {
		t.Errorf("%v allocations a look-up", allocs)
	}
}
