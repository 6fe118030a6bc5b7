package bloomstore

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/bits-and-blooms/bitset"
	"github.com/bits-and-blooms/bloom/v3"
	"pgregory.net/rapid"
)

// mustNew returns a filter to be closed when the test ends.
func mustNew(t testing.TB, shape Shape, scheme string) *Filter {
	t.Helper()
	f, err := New(shape, scheme)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func randomKeys(seed uint64, n int) []uint64 {
	r := rand.New(rand.NewPCG(seed, 0))
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = r.Uint64()
	}
	return keys
}

func keyBytes(key uint64) []byte { return binary.LittleEndian.AppendUint64(nil, key) }

// library returns the filter of bloom/v3 with the same words, sharing memory.
func library(f *Filter) *bloom.BloomFilter {
	return bloom.FromWithM(f.words, uint(f.shape.Bits), uint(f.shape.Hashes))
}

// checkCount compares Ones with a fresh count.
func checkCount(t interface{ Fatalf(string, ...any) }, f *Filter) {
	if want := uint64(bitset.From(f.words).Count()); f.Ones() != want {
		t.Fatalf("Ones() = %d, there are %d", f.Ones(), want)
	}
}

// shapes cover powers of two and others, tiny sizes, ends inside a word, and every k modulo 4,
// which selects the hash.
var shapes = []Shape{
	{1, 1},
	{2, 2},
	{3, 1},
	{63, 4},
	{64, 8},
	{65, 8},
	{1000, 3},
	{4096, 5},
	{1 << 16, 8},
	{1<<16 - 1, 8},
	{1<<16 + 1, 6},
	{99991, 7},
	{123456, 13},
	{1 << 20, 64},
	{999983, 64},
}

// TestBitsAreThoseOfTheLibrary adds keys with one implementation, compares words, and tests with
// the other, both ways.
func TestBitsAreThoseOfTheLibrary(t *testing.T) {
	for _, shape := range shapes {
		n := int(min(max(2*shape.Capacity(), 3), 2000))
		ours, theirs := mustNew(t, shape, "s"), mustNew(t, shape, "s")
		lib := library(theirs)
		keys := append([]uint64{0, 1, ^uint64(0)}, randomKeys(1, n)...)
		ours.Add(keys)
		for _, key := range keys {
			lib.Add(keyBytes(key))
		}
		if !slices.Equal(ours.words, theirs.words) {
			t.Fatalf("%+v: bits differ from those of bloom.Add", shape)
		}
		checkCount(t, ours)
		probe := append(randomKeys(2, 2000), keys...)
		seen := make([]bool, len(probe))
		theirs.Test(probe, seen) // bits set by the library, read by us
		ourBits := library(ours) // bits set by us, read by the library
		for i, key := range probe {
			if want := ourBits.Test(keyBytes(key)); seen[i] != want {
				t.Fatalf("%+v: key %#x: %v, bloom.Test says %v", shape, key, seen[i], want)
			}
		}
	}
}

// TestFilterEqualsLibrary runs random operations against the library on a shape drawn at random.
func TestFilterEqualsLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := Shape{
			Bits:   rapid.Uint64Range(1, 5000).Draw(t, "bits"),
			Hashes: rapid.IntRange(1, maxHashes).Draw(t, "hashes"),
		}
		f, err := New(shape, "s")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lib := bloom.New(uint(shape.Bits), uint(shape.Hashes))
		items := 0
		check := func(keys []uint64, seen []bool) {
			for i, key := range keys {
				if want := lib.Test(keyBytes(key)); seen[i] != want {
					t.Fatalf("key %#x: %v, library says %v", key, seen[i], want)
				}
			}
		}
		add := func(keys []uint64) {
			items += len(keys)
			for _, key := range keys {
				lib.Add(keyBytes(key))
			}
		}
		// Few distinct keys, so that they repeat within a batch and between batches.
		batch := rapid.SliceOfN(rapid.Uint64Range(0, 300), 0, 300)
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				keys := batch.Draw(t, "keys")
				f.Add(keys)
				add(keys)
			},
			"test": func(t *rapid.T) {
				keys := batch.Draw(t, "keys")
				seen := make([]bool, len(keys)+1)
				f.Test(keys, seen)
				check(keys, seen)
			},
			"test lazily": func(t *rapid.T) {
				keys := batch.Draw(t, "keys")
				seen := make([]bool, len(keys)+1)
				for i := range seen { // earlier values must not matter
					seen[i] = i%3 == 0
				}
				f.TestLazily(keys, seen)
				check(keys, seen)
			},
			"": func(t *rapid.T) {
				checkCount(t, f)
				if f.Items() != uint64(items) {
					t.Fatalf("Items() = %d, want %d", f.Items(), items)
				}
				if !library(f).BitSet().Equal(bitset.From(lib.BitSet().Words())) {
					t.Fatal("bits differ")
				}
			},
		})
	})
}

func TestReduceIsModulo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.Uint64Range(1, maxBits).Draw(t, "m")
		x := rapid.Uint64().Draw(t, "x")
		xs := []uint64{x, x - x%m, x - x%m - 1, ^x, ^uint64(0), m, m - 1}
		got := slices.Clone(xs)
		newModulus(m).reduce(got)
		for i, x := range xs {
			if got[i] != x%m {
				t.Fatalf("%d mod %d = %d, want %d", x, m, got[i], x%m)
			}
		}
	})
}

// TestSideBySideHasNoRace is for the race detector.
func TestSideBySideHasNoRace(t *testing.T) {
	f := mustNew(t, ForItems(10000), "s")
	keys := randomKeys(1, 5000)
	f.Add(keys)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			seen := make([]bool, len(keys))
			for _, test := range []func([]uint64, []bool){f.Test, f.TestLazily} {
				clear(seen)
				if test(keys, seen); slices.Contains(seen, false) {
					t.Error("a key added is not seen")
				}
			}
		})
	}
	wg.Wait()
}

func TestNoAllocations(t *testing.T) {
	f := mustNew(t, ForItems(10000), "s")
	keys, seen := randomKeys(1, 50), make([]bool, 50)
	allocs := testing.AllocsPerRun(100, func() {
		f.Test(keys, seen)
		f.TestLazily(keys, seen)
		f.Add(keys)
	})
	if allocs != 0 {
		t.Fatalf("%v allocations a run, want 0", allocs)
	}
}

func TestNewRefuses(t *testing.T) {
	long := string(make([]byte, maxScheme+1))
	for _, c := range []struct {
		shape  Shape
		scheme string
	}{
		{Shape{0, 8}, "s"},
		{Shape{maxBits + 1, 8}, "s"},
		{Shape{64, 0}, "s"},
		{Shape{64, -1}, "s"},
		{Shape{64, maxHashes + 1}, "s"},
		{Shape{64, 8}, ""},
		{Shape{64, 8}, long},
		{Shape{64, 8}, "\xff"},
	} {
		if f, err := New(c.shape, c.scheme); err == nil {
			f.Close()
			t.Errorf("New(%+v, %.10q): no error", c.shape, c.scheme)
		}
	}
}

func TestCloseTwice(t *testing.T) {
	f, err := New(ForItems(1), "s")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
