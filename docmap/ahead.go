package docmap

import "github.com/firstseen/firstseen/docmap/sorted"

// collectFunc brings the entries whose keys are in [from, to] into in.
type collectFunc func(in *sorted.Entries, from, to uint64) error

// A lookahead collects the entries of one bin while those of the bin before are packed.
// It only reads, and nobody else reads at that time: a snapshot, never the
// transaction that writes the bins, which bbolt keeps for one goroutine; or the
// table in memory.
type lookahead struct {
	full  chan collected
	empty chan *sorted.Entries
	quit  chan struct{}
}

type collected struct {
	in  *sorted.Entries
	err error
}

// collectAhead starts collecting the bins of r from bin to end. It must be stopped
// before the transaction ends.
func (t *Table) collectAhead(s *space, r *run, bin, end uint64, collect collectFunc) *lookahead {
	a := &lookahead{full: make(chan collected), empty: make(chan *sorted.Entries, 1), quit: make(chan struct{})}
	a.empty <- &s.ahead
	// r changes while its bins are written; where they lie does not.
	shape := r.Shape
	go func() {
		defer close(a.full)
		for ; bin < end; bin++ {
			var in *sorted.Entries
			select {
			case in = <-a.empty:
			case <-a.quit:
				return
			}
			in.Reset()
			err := t.protected(func() error { return collect(in, shape.Lowest(bin), shape.Highest(bin)) })
			select {
			case a.full <- collected{in, err}:
			case <-a.quit:
				return
			}
		}
	}()
	return a
}

// next exchanges the entries of the next bin for in, whose memory is used again.
func (a *lookahead) next(in *sorted.Entries) error {
	c := <-a.full
	if c.err != nil {
		return c.err
	}
	*in, *c.in = *c.in, *in
	a.empty <- c.in
	return nil
}

// stop waits until nothing more is read.
func (a *lookahead) stop() {
	close(a.quit)
	for range a.full {
	}
}
