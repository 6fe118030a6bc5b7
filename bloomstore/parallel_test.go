package bloomstore

import (
	"runtime"
	"sync"
	"testing"
)

// TestParallelIsAdd compares with Add, also with more goroutines than words.
func TestParallelIsAdd(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	keys := randomKeys(1, 8*parallelKeys+1)
	for _, shape := range shapes {
		for _, workers := range []int{1, 2, 3, 8} {
			runtime.GOMAXPROCS(workers)
			want, got := mustNew(t, shape, "s"), mustNew(t, shape, "s")
			want.Add(keys)
			got.AddParallel(keys[:3000])
			got.AddParallel(keys[3000:])
			got.AddParallel(nil)
			equal(t, got, want)
		}
	}
}

// TestSharedIsAdd adds keys by several goroutines at once, many of them by more than one.
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
