package docmap

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/firstseen/firstseen/docmap/memtable"
)

// Several goroutines pack bins, in rounds: collecting and sorting entries is nearly all the
// work of a flush or a merge. A bin depends only on its entries, so its bytes are the same
// whichever goroutine packs it. The goroutine of the transaction writes the bins, in order.

const (
	// mostPackers bounds the memory for packing bins: a quarter of a MiB each.
	mostPackers = 16
	// roundBins is the number of bins packed before one is written. It is the same for
	// any number of goroutines, because the ends of transactions depend on it.
	roundBins = 32
)

// packed is a bin to be written. Its memory is reused.
type packed struct {
	value []byte
	n     int // entries
	err   error
}

// pack makes the bins of r from number bin on, one for each of out. It uses only the shape of r.
func (t *Table) pack(s *space, r *run, bin uint64, out []packed, from *space) error {
	by := t.packing()
	source := cmp.Or(t.source, t)
	if _, err := source.reading(); err != nil { // forgets the addresses of an earlier mapping
		return err
	}
	readers := source.sharing(by.Parts)
	var next atomic.Int64
	by.Run(by.Parts, func(part int) {
		p := readers[part]
		p.build.Limit, p.build.Keep = s.limit, s.keep
		for i := next.Add(1) - 1; i < int64(len(out)); i = next.Add(1) - 1 {
			out[i].err = t.protected(func() error { return p.pack(&out[i], r, bin+uint64(i), from) })
		}
	})
	for i := range out {
		if out[i].err != nil {
			return out[i].err
		}
	}
	return nil
}

func (r *reader) pack(out *packed, to *run, bin uint64, from *space) error {
	s, err := r.reading()
	if err != nil {
		return err
	}
	r.build.In.Reset()
	if err := from.collect(s, &r.build.In, to.Lowest(bin), to.Highest(bin)); err != nil {
		return err
	}
	out.value, out.n = r.build.Build(out.value[:0], to.Run, bin)
	return nil
}

// packing returns the goroutines that pack: those of Share or, without them, two.
func (t *Table) packing() memtable.Spread {
	if t.spread.Run != nil {
		return memtable.Spread{Parts: min(t.spread.Parts, mostPackers), Run: t.spread.Run}
	}
	return memtable.Spread{Parts: min(2, runtime.GOMAXPROCS(0)), Run: func(n int, f func(part int)) {
		var others sync.WaitGroup
		for part := 1; part < n; part++ {
			others.Go(func() { f(part) })
		}
		f(0)
		others.Wait()
	}}
}

// packedBins returns room for n more bins, behind those used by the transaction.
func (t *Table) packedBins(used, n int) []packed {
	t.bins = slices.Grow(t.bins[:used], n)[:used+n]
	return t.bins[used:]
}

// binBytes returns the approximate length of a bin of r when n bins hold entries.
func (r *run) binBytes(entries, n uint64) uint64 {
	return entries*r.EntryBits()/8/n + uint64(r.Size(0))
}
