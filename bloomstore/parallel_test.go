package bloomstore

import (
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
