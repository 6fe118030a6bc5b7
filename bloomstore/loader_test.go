package bloomstore

import (
	"slices"
	"testing"

	"go.uber.org/goleak"
)

// TestLoaderIsAdd compares with Add, with buffers so short that each is used
// many times, and so long that only Close empties them.
func TestLoaderIsAdd(t *testing.T) {
	defer goleak.VerifyNone(t)
	keys := randomKeys(1, 5000)
	for _, shape := range shapes {
		for _, c := range []struct {
			regions uint64
			depth   int
		}{{1, 100}, {7, 1}, {7, 64}, {64, 1000}, {1 << 20, 3}} {
			want, got := mustNew(t, shape, "s"), mustNew(t, shape, "s")
			want.Add(keys)
			l, err := newLoader(got, c.regions, c.depth)
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(keys); i += 700 {
				l.Add(keys[i:min(i+700, len(keys))])
			}
			for range 2 {
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
			}
			equal(t, got, want)
		}
	}
}

// TestLoaderAsMade takes what NewLoader gives, below and above its least size.
func TestLoaderAsMade(t *testing.T) {
	defer goleak.VerifyNone(t)
	keys := randomKeys(1, 20_000)
	for _, shape := range []Shape{{1 << 20, 8}, {loaderMin + 999, 8}} {
		want, got := mustNew(t, shape, "s"), mustNew(t, shape, "s")
		want.Add(keys)
		l, err := got.NewLoader()
		if err != nil {
			t.Fatal(err)
		}
		l.Add(keys)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if got.items != want.items || got.ones != want.ones || !slices.Equal(got.words, want.words) {
			t.Fatalf("%+v: not the filter that Add makes", shape)
		}
	}
}
