package docmap

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/firstseen/firstseen/docmap/memtable"
	"github.com/firstseen/firstseen/docmap/sorted"
)

// Bins are packed by several goroutines, in rounds: collecting and sorting what is in
// them is nearly all the work of a flush or a merge. What a bin is made of depends on
// nothing but the entries, so the bytes do not depend on who packs it; and the goroutine
// that has the transaction puts them into it, in order.

const (
	// mostPackers bounds what is held to pack bins: a quarter of a MiB for each.
	mostPackers = 16
	// roundBins is how many bins are packed before any is written. It is the same for
	// any number of goroutines: where transactions end depends on it.
	roundBins = 32
)

// A packer is what one goroutine needs to make bins.
type packer struct {
	reader
	build sorted.Builder
}

// collectFunc brings the entries whose keys are in [from, to] into in. Several
// goroutines call it, each with a packer of its own.
type collectFunc func(s *snapshot, in *sorted.Entries, from, to uint64) error

// packed is a bin on its way into the file. Its memory is used again.
type packed struct {
	value []byte
	n     int // entries
	err   error
}

// pack makes the bins of r from number from on, one for each of out. Only the shape of r
// is looked at.
func (t *Table) pack(s *space, r *run, from uint64, out []packed, collect collectFunc) error {
	by := t.packing()
	source := cmp.Or(t.source, t)
	for len(t.packers) < by.Parts {
		t.packers = append(t.packers, &packer{reader: reader{table: source}})
	}
	var next atomic.Int64
	by.Run(by.Parts, func(part int) {
		p := t.packers[part]
		p.build.Limit, p.build.Keep = s.limit, s.keep
		for i := next.Add(1) - 1; i < int64(len(out)); i = next.Add(1) - 1 {
			out[i].err = t.protected(func() error { return p.pack(&out[i], r, from+uint64(i), collect) })
		}
	})
	for i := range out {
		if out[i].err != nil {
			return out[i].err
		}
	}
	return nil
}

func (p *packer) pack(out *packed, r *run, bin uint64, collect collectFunc) error {
	snap, err := p.reading()
	if err != nil {
		return err
	}
	p.build.In.Reset()
	if err := collect(snap, &p.build.In, r.Lowest(bin), r.Highest(bin)); err != nil {
		return err
	}
	out.value, out.n = p.build.Build(out.value[:0], r.Run, bin)
	return nil
}

// packing is who packs: those of Share and, where there are none, a goroutine more.
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

// packedBins returns room for n bins more, behind used of a transaction.
func (t *Table) packedBins(used, n int) []packed {
	t.bins = slices.Grow(t.bins[:used], n)[:used+n]
	return t.bins[used:]
}

// binBytes is about how long a bin of r is when n bins hold entries.
func (r *run) binBytes(entries, n uint64) uint64 {
	return entries*r.EntryBits()/8/n + uint64(r.Size(0))
}
