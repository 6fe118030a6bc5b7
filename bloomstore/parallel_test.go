package bloomstore

import (
	"sync"
	"testing"
)

// TestParallelIsAdd compares with Add, also with more goroutines than words.
func TestParallelIsAdd(t *testing.T) {
	keys := randomKeys(1, 5000)
	for _, shape := range shapes {
		for _, workers := range []int{0, 1, 2, 3, 8} {
			want, got := mustNew(t, shape, "s"), mustNew(t, shape, "s")
			want.Add(keys)
			got.addSplit(keys[:3000], workers)
			got.addSplit(keys[3000:], workers)
			equal(t, got, want)
		}
	}
	want, got := mustNew(t, ForItems(5000), "s"), mustNew(t, ForItems(5000), "s")
	want.Add(keys)
	got.AddParallel(keys)
	equal(t, got, want)
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
