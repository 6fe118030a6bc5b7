package sorted

import (
	"math/rand/v2"
	"runtime"
	"testing"
)

const benchEntries = 4 << 20

// benchRun returns a run of uniform keys with full bins, all of whose places are known.
func benchRun(b *testing.B) (*Run, [][]byte) {
	r := NewRun(DefaultDivision.Shape(LogFor(benchEntries), 1, 100_000), 1, 1)
	bins := make([][]byte, r.Bins())
	rng := rand.New(rand.NewPCG(1, 1))
	build := Builder{Limit: 8}
	for bin := range r.Bins() {
		fill(&build.In, r, rng, bin)
		bins[bin], _ = build.Build(nil, r, bin)
		r.Trust(bin)
		if _, err := r.Open(bin, bins[bin], true); err != nil {
			b.Fatal(err)
		}
	}
	return r, bins
}

func fill(e *Entries, r *Run, rng *rand.Rand, bin uint64) {
	e.Reset()
	for range benchEntries / r.Bins() {
		e.Add(r.Lowest(bin)+rng.Uint64()&(r.Highest(bin)-r.Lowest(bin)), 1+rng.Uint32N(100_000))
	}
}

// BenchmarkBuild sorts and packs the entries of a bin.
func BenchmarkBuild(b *testing.B) {
	r := NewRun(DefaultDivision.Shape(LogFor(benchEntries), 1, 100_000), 1, 1)
	build := Builder{Limit: 8}
	fill(&build.In, r, rand.New(rand.NewPCG(2, 2)), 5)
	var dst []byte
	for b.Loop() {
		dst, _ = build.Build(dst[:0], r, 5)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(build.In.Keys)), "ns/entry")
}

// BenchmarkRead unpacks and verifies a bin.
func BenchmarkRead(b *testing.B) {
	r, bins := benchRun(b)
	var e Entries
	n := 0
	for b.Loop() {
		e.Reset()
		if err := r.Read(&e, uint64(n%len(bins)), bins[n%len(bins)]); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(e.Keys)), "ns/entry")
}

// BenchmarkSearch looks up one absent key at a time, without the overlap of a batch.
func BenchmarkSearch(b *testing.B) {
	r, bins := benchRun(b)
	defer runtime.KeepAlive(bins) // which the run's cache, outside the heap, does not
	rng := rand.New(rand.NewPCG(3, 3))
	docs := make([]uint32, 0, 8)
	b.ReportAllocs()
	for b.Loop() {
		key := rng.Uint64()
		p := r.Locate(key)
		docs = r.Search(docs[:0], &p, key)
	}
}
