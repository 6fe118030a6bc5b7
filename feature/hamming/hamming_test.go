package hamming

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// near is what Find should find: all that differ in at most so many bits.
func near(numbers []uint64, number uint64, distance int) (found []uint64) {
	for _, n := range numbers {
		if bits.OnesCount64(n^number) <= distance {
			found = append(found, n)
		}
	}
	slices.Sort(found)
	return found
}

// TestFindsAll: of numbers that crowd, as those of one text's copies do, all that are near
// are found, each as often as it is there, and no others.
func TestFindsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		distance := rapid.IntRange(1, MaxDistance).Draw(t, "distance")
		x, err := New(distance)
		if err != nil {
			t.Fatal(err)
		}
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
		if x.Len() != len(numbers) {
			t.Fatalf("%d numbers of %d", x.Len(), len(numbers))
		}
		for range 50 {
			n := draw()
			got, looked := x.Find(nil, n)
			slices.Sort(got)
			if want := near(numbers, n, distance); !slices.Equal(got, want) || looked < len(want) {
				t.Fatalf("near %x are %x, want %x; %d looked at", n, got, want, looked)
			}
		}
	})
}

// TestLongList: numbers that all have the same block fill many chunks, of which none is in
// two slabs or longer than one.
func TestLongList(t *testing.T) {
	const n = 1_100_000
	x, err := New(1)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		if err := x.Add(1 << 40); err != nil {
			t.Fatal(err)
		}
	}
	if found, looked := x.Find(nil, 1<<40); len(found) != n || looked != 2*n {
		t.Errorf("%d of %d found, %d looked at", len(found), n, looked)
	}
}

// TestMemory: what BytesFor says is enough, and not far more than what is taken.
func TestMemory(t *testing.T) {
	for _, distance := range []int{1, 3, 7} {
		x, err := New(distance)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(3, 4))
		for i := range 200_000 {
			if err := x.Add(rng.Uint64()); err != nil {
				t.Fatal(err)
			}
			if i != 99 && i != 9_999 && i != 199_999 {
				continue
			}
			said := BytesFor(uint64(i+1), distance)
			if taken := uint64(x.Bytes()); taken > said || taken < said/4 {
				t.Errorf("distance %d: %d numbers take %d bytes, and %d were said", distance, i+1, taken, said)
			}
		}
	}
}

func TestDistanceOutOfRange(t *testing.T) {
	for _, distance := range []int{-1, 0, MaxDistance + 1} {
		if _, err := New(distance); err == nil {
			t.Errorf("an index of distance %d", distance)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	x, err := New(3)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(1000) {
		if err := x.Add(i); err != nil {
			t.Fatal(err)
		}
	}
	found := make([]uint64, 0, 1000)
	if allocs := testing.AllocsPerRun(20, func() { found, _ = x.Find(found[:0], 5) }); allocs > 0 {
		t.Errorf("%v allocations a look-up", allocs)
	}
}
