package bloomstore

import (
	"slices"
	"sync"
	"testing"
)

// TestParallelIsAdd compares with Add, also for too few keys to be worth a goroutine.
func TestParallelIsAdd(t *testing.T) {
	keys := randomKeys(1, 5000)
	for _, shape := range append(shapes, ForItems(5000)) {
		want, got := mustNew(t, shape, "s"), mustNew(t, shape, "s")
		want.Add(keys)
		for _, part := range [][]uint64{keys[:0], keys[:1], keys[1 : 1+parallelKeys], keys[1+parallelKeys:]} {
			got.AddParallel(part)
		}
		equal(t, got, want)
	}
}

// TestSharedIsAdd adds keys from several goroutines at once, many of them from more than one.
func TestSharedIsAdd(t *testing.T) {
	keys := randomKeys(2, 6000)
	for _, shape := range shapes {
		want, got := mustNew(t, shape, "s"), mustNew(t, shape, "s")
		want.Add(keys)
		want.Add(keys[:3000])
		want.Add(keys[:3000])
		var wg sync.WaitGroup
		for _, part := range [][]uint64{keys[:3000], keys[:3000], keys, keys[:0]} {
			wg.Go(func() {
				for i := 0; i < len(part); i += 50 {
					got.AddShared(part[i : i+50])
				}
			})
		}
		wg.Wait()
		equal(t, got, want)
	}
}

// TestTestAndAdd compares with Test and Add of each step's keys, with more keys than one step has.
func TestTestAndAdd(t *testing.T) {
	keys := randomKeys(3, 3000)
	for _, shape := range shapes {
		want, got := mustNew(t, shape, "s"), mustNew(t, shape, "s")
		for _, part := range [][]uint64{keys[:0], keys[:100], keys[50:150], keys} {
			for step := range slices.Chunk(part, blockPositions/shape.Hashes) {
				before, seen := make([]bool, len(step)), make([]bool, len(step))
				want.Test(step, before)
				want.Add(step)
				if got.TestAndAdd(step, seen); !slices.Equal(seen, before) {
					t.Fatalf("%+v: other answers", shape)
				}
			}
		}
		equal(t, got, want)
		got.TestAndAdd(keys, make([]bool, len(keys)))
		want.Add(keys)
		equal(t, got, want)
	}
}
