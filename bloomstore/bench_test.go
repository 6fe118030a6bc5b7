package bloomstore

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bits-and-blooms/bloom/v3"
)

// benchShapes are 1 GiB, reduced by a mask; a little less, reduced without; and 4 GiB, with more
// addresses than a processor caches.
var benchShapes = []struct {
	name  string
	shape Shape
}{
	{"1GiB", ForMemory(1 << 30)},
	{"1GB", ForMemory(1e9)},
	{"4GiB", ForMemory(4 << 30)},
}

// document is the number of keys of a document, the batch of the pipeline.
const document = 50

// benchFilter returns a filter of random bits, a quarter of them one, as at a little over half the
// design load. Adding 300 million keys would take longer.
func benchFilter(b *testing.B, shape Shape) *Filter {
	f := mustNew(b, shape, "bench")
	f.Expect(math.MaxInt32) // huge pages
	r := rand.New(rand.NewPCG(1, 1))
	for i := range f.words {
		f.words[i] = r.Uint64() & r.Uint64()
	}
	f.ones = countOnes(f.words)
	return f
}

// seeds gives each generator its own keys: a key added by one is never tested by another.
var seeds atomic.Uint64

// perBatch calls f with fresh keys, one document at a time. One b.N is one key.
func perBatch(b *testing.B, f func(keys []uint64, seen []bool)) {
	b.ReportAllocs()
	b.ResetTimer()
	batches(b.N, f)
}

func batches(n int, f func(keys []uint64, seen []bool)) {
	r := rand.New(rand.NewPCG(2, seeds.Add(1)))
	var keys [document]uint64
	var seen [document]bool
	for done := 0; done < n; done += document {
		for i := range keys {
			keys[i] = r.Uint64()
		}
		f(keys[:], seen[:])
	}
}

// aloneAndTogether runs perBatch on one goroutine, then on one for each processor.
func aloneAndTogether(b *testing.B, name string, f func(keys []uint64, seen []bool)) {
	b.Run(name+"/alone", func(b *testing.B) { perBatch(b, f) })
	b.Run(name+"/together", func(b *testing.B) {
		var wg sync.WaitGroup
		workers := runtime.GOMAXPROCS(0)
		for range workers {
			wg.Go(func() { batches(b.N/workers, f) })
		}
		wg.Wait()
	})
}

// BenchmarkKey measures the time per key, in batches of 50 fresh keys. "library" is bloom/v3 on the
// same memory, including huge pages, one key at a time. "ownMemory" is the library alone.
func BenchmarkKey(b *testing.B) {
	for _, s := range benchShapes {
		f := benchFilter(b, s.shape)
		aloneAndTogether(b, "Test/"+s.name, f.Test)
		aloneAndTogether(b, "TestLazily/"+s.name, f.TestLazily)
		aloneAndTogether(b, "AddShared/"+s.name, func(keys []uint64, _ []bool) { f.AddShared(keys) })
		b.Run("TestThenAdd/"+s.name, func(b *testing.B) {
			perBatch(b, func(keys []uint64, seen []bool) { f.Test(keys, seen); f.Add(keys) })
		})
		b.Run("Add/"+s.name, func(b *testing.B) {
			perBatch(b, func(keys []uint64, _ []bool) { f.Add(keys) })
		})
		lib := library(f)
		b.Run("library/TestAndAdd/"+s.name, func(b *testing.B) { perBatch(b, libraryBatch(lib)) })
		f.Close()
	}
	m := benchShapes[0].shape
	lib := bloom.New(uint(m.Bits), uint(m.Hashes))
	words := lib.BitSet().Words()
	for i := range words {
		words[i] = 1 << (i % 64) // otherwise every first touch is a page fault
	}
	b.Run("library/TestAndAdd/ownMemory", func(b *testing.B) { perBatch(b, libraryBatch(lib)) })
}

func libraryBatch(lib *bloom.BloomFilter) func(keys []uint64, seen []bool) {
	return func(keys []uint64, seen []bool) {
		var b [8]byte
		for i, key := range keys {
			for j := range b {
				b[j] = byte(key >> (8 * j))
			}
			seen[i] = lib.TestAndAdd(b[:])
		}
	}
}

// BenchmarkRebuild measures the time per key of rebuilding a filter of 1 GiB.
func BenchmarkRebuild(b *testing.B) {
	f := benchFilter(b, ForMemory(1<<30))
	r := rand.New(rand.NewPCG(3, 3))
	keys := make([]uint64, 16384)
	b.ResetTimer()
	for done := 0; done < b.N; done += len(keys) {
		for i := range keys {
			keys[i] = r.Uint64()
		}
		f.AddParallel(keys)
	}
}

// BenchmarkFile measures the time to save and to open 1 GiB.
func BenchmarkFile(b *testing.B) {
	f := benchFilter(b, ForMemory(1<<30))
	path := filepath.Join(b.TempDir(), "filter")
	if err := f.Save(context.Background(), path, nil); err != nil {
		b.Fatal(err)
	}
	b.Run("Save", func(b *testing.B) {
		b.SetBytes(int64(f.shape.Bytes()))
		for range b.N {
			if err := f.Save(context.Background(), path, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Open", func(b *testing.B) {
		b.SetBytes(int64(f.shape.Bytes()))
		for range b.N {
			g, _, err := Open(context.Background(), path, f.scheme)
			if err != nil {
				b.Fatal(err)
			}
			g.Close()
		}
	})
}
