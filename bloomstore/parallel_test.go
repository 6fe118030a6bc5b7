package bloomstore

import "testing"

// TestParallelIsAdd compares with Add, also with more goroutines than words.
func TestParallelIsAdd(t *testing.T) {
	keys := randomKeys(1, 5000)
	for _, shape := range shapes {
		for _, workers := range []int{0, 1, 2, 3, 8} {
			want, got := mustNew(t, shape, "s"), mustNew(t, shape, "s")
			want.Add(keys)
			got.addParallel(keys[:3000], workers)
			got.addParallel(keys[3000:], workers)
			equal(t, got, want)
		}
	}
	want, got := mustNew(t, ForItems(5000), "s"), mustNew(t, ForItems(5000), "s")
	want.Add(keys)
	got.AddParallel(keys)
	equal(t, got, want)
}
