package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index/filterlog"
	"github.com/firstseen/firstseen/internal/durable"
)

// DefaultDocs is how many documents a new filter is sized for where nothing is
// said: 100 MiB. With a table it grows when full.
const DefaultDocs = 1_000_000

// KeysPerDoc is how many keys a document adds to the filter at most: its
// features and its whole text, which without a table takes several. Picks are as many as usual.
func KeysPerDoc(s feature.Scheme, filterOnly bool) uint64 {
	if filterOnly {
		return uint64(s.Features()) + dedup.WholeKeys
	}
	if s.Passages > 0 {
		return uint64(s.Features()) + 1 + usualPicks
	}
	return uint64(s.Features()) + 1
}

// usualPicks is about how many picks a document has: one for each 20 words, so a page of 1,200 words
// has 60. Longer ones fill the filter earlier.
const usualPicks = 60

// ShapeFor is the size of a filter for so many documents.
func ShapeFor(docs uint64, s feature.Scheme, filterOnly bool) bloomstore.Shape {
	const most = 1 << 48 // more is cut to the largest filter there can be
	return bloomstore.ForItems(min(docs, most) * KeysPerDoc(s, filterOnly))
}

// tableStamp ties a filter file to the state of the table that it is saved with: the present one, or
// that of so many checkpoints without new documents later; see docs/format.md, "The index directory".
func tableStamp(t *docmap.Table, later uint64) []byte {
	g := t.Generation()
	stamp := binary.LittleEndian.AppendUint64(g.UUID[:], g.Sequence+later)
	return binary.LittleEndian.AppendUint64(stamp, g.Content)
}

// openFilter loads the filter if it is the table's present one and not smaller
// than asked for; else it builds it anew. A damaged filter is refused, not rebuilt
// in silence: whatever damaged it may have damaged the table.
func (x *Index) openFilter(p *presence, o *Options) (err error) {
	shape := o.Shape
	switch {
	case x.table == nil:
		x.only, err = filterlog.Open(x.dir, filterlog.Options{
			Scheme: x.name, Shape: shape, Default: ShapeFor(DefaultDocs, x.scheme, true), UUID: o.UUID, Bound: o.JournalBytes,
		})
		if err == nil {
			x.filter = x.only.Filter
		}
		return err
	case !p.filter:
		why := ""
		if x.table.Documents() > 0 {
			why = "it was not saved, or is gone"
		}
		roomy := shape == (bloomstore.Shape{}) // no size was asked for
		if roomy {
			shape = ShapeFor(DefaultDocs, x.scheme, false)
		}
		return x.rebuild(shape, roomy, why)
	}
	present := p.header.Shape
	if shape.Bits <= present.Bits {
		// A filter that has grown to hold the present keys stays as it is.
		shape = present
	}
	if string(p.header.Stamp) != string(tableStamp(x.table, 0)) {
		// Finish stamps a file ahead of the table. It must be gone before
		// the table comes to that generation with other documents.
		if err := durable.Remove(x.path(FilterFile)); err != nil {
			return fmt.Errorf("removing the filter of another state: %w", err)
		}
		return x.rebuild(shape, false, "the last run did not end cleanly, or it is another table's")
	}
	if shape != present {
		return x.rebuild(shape, false, "a larger one was asked for")
	}
	x.filter, x.saved, err = bloomstore.Open(x.path(FilterFile), x.name)
	return err
}

// rebuild replaces the filter by one of all keys of the table; see filterOf.
func (x *Index) rebuild(shape bloomstore.Shape, roomy bool, why string) error {
	err := x.closeFilter()
	if err == nil {
		x.filter, err = filterOf(context.Background(), shape, x.table, roomy)
	}
	if err != nil {
		return err
	}
	x.saved, x.rebuilt = nil, why
	if x.deduper != nil {
		x.deduper.UseFilter(x.filter)
	}
	return nil
}

// filterLost is the error after rebuild has failed.
func (x *Index) filterLost() error {
	return fmt.Errorf("index %s: its filter could not be built anew: open the index again", x.dir)
}

// filterOf makes a filter of the given shape with all keys of a table. A roomy one is made larger
// until it is not full.
func filterOf(ctx context.Context, shape bloomstore.Shape, t *docmap.Table, roomy bool) (*bloomstore.Filter, error) {
	for {
		f, err := bloomstore.New(shape, t.Scheme())
		if err != nil {
			return nil, err
		}
		if err := fillFilter(ctx, f, t); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if !roomy || !full(f) {
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
		shape = larger(shape, t.Entries())
	}
}

// rebuildBatch is how many keys are added at once: enough for all processors to
// share, and 512 KiB.
const rebuildBatch = 1 << 16

// fillFilter adds all keys of a table to a filter.
func fillFilter(ctx context.Context, f *bloomstore.Filter, t *docmap.Table) error {
	batch := make([]uint64, 0, 2*rebuildBatch)
	for keys, err := range t.Keys() {
		if err != nil {
			return fmt.Errorf("rebuilding the filter: %w", err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if batch = append(batch, keys...); len(batch) >= rebuildBatch {
			f.AddParallel(batch)
			batch = batch[:0]
		}
	}
	f.AddParallel(batch)
	return nil
}

// designFill is the share of one bits at design load, 1 - e^(-1/2): two bits for
// each of the k probes of a key make kn/m = 1/2 whatever k is.
const designFill = 0.3934693402873666

func full(f *bloomstore.Filter) bool { return f.Fill() >= designFill }

// Full reports whether the filter holds as many keys as it was designed for: half the items again would
// double its false positives. It depends on the bits alone, so a rebuilt filter is full at the same
// document, unless documents of a window have gone. A closed index is not full.
func (x *Index) Full() bool { return x.filter != nil && full(x.filter) }

// Load is the share of its capacity that the filter holds, estimated from its
// bits: 1 at design load. That of a closed index is 0.
func (x *Index) Load() float64 {
	if x.filter == nil {
		return 0
	}
	return -2 * math.Log1p(-x.filter.Fill())
}

// Grow replaces the filter by one with the same keys of twice the size, and twice
// that until it is not full. It needs a side table.
func (x *Index) Grow() error {
	switch {
	case x.closed:
		return errIndexClosed
	case x.table == nil:
		return fmt.Errorf("index %s: a filter without a side table cannot grow", x.dir)
	case x.filter == nil:
		return x.filterLost()
	}
	return x.rebuild(larger(x.filter.Shape(), x.table.Entries()), true, "")
}

// larger is a shape of twice the size, or of as many times that as a table of so
// many entries needs for certain: a key has at most 8. So a filter far too small
// is not rebuilt for each doubling.
func larger(s bloomstore.Shape, entries uint64) bloomstore.Shape {
	s.Bits *= 2
	for s.Capacity() < entries/docmap.MaxHolders {
		s.Bits *= 2
	}
	return s
}

// saveFilter writes the filter for the state of the table so many checkpoints from
// now, unless the file is that already.
func (x *Index) saveFilter(later uint64) error {
	if x.table == nil {
		return x.only.Save()
	}
	stamp := tableStamp(x.table, later)
	if x.saved != nil && string(stamp) == string(x.saved) {
		return nil
	}
	if x.filter == nil {
		return x.filterLost()
	}
	err := x.filter.Save(x.path(FilterFile), stamp)
	if err == nil {
		x.saved = stamp
	}
	return err
}

// StreamDisk is the largest size in bytes of a filter-only index while a stream is added.
func StreamDisk(s bloomstore.Shape) uint64 {
	return filterlog.Disk(s, dedup.WholeKeys+feature.MaxSegments)
}

func (x *Index) closeFilter() error {
	if x.filter == nil {
		return nil
	}
	err := x.filter.Close()
	x.filter = nil
	return err
}

// The disk of a side table in bytes. A pending key, repeats included, counts with its share of a page
// that its chunk does not fill. An entry of a run counts with the space of a merge. A document counts
// without its id. The rest is rewritten with each checkpoint.
const (
	diskPerPending = 9.2
	diskPerEntry   = 15
	diskPerDoc     = 110 // with up to 69 of its sketch
	diskFixed      = 512 << 10
)

// TableDisk returns the largest size in bytes of a side table with so many documents. keys counts all
// their keys, repeats included. entries counts the stored pairs of key and document, at most 8 for a
// key. idBytes is the mean length of an id. Keys become a run at memtable entries, 0 for the default.
func TableDisk(docs, keys, entries, idBytes float64, memtable int) uint64 {
	if memtable <= 0 {
		memtable = docmap.DefaultMemtableKeys
	}
	most, total := float64(memtable), diskFixed+docs*(diskPerDoc+1.125*idBytes)
	// Until the first run is made all keys are pending, and their pages are free
	// later. The numbers may be estimates: near that both are counted.
	if entries < most/2 && docs < most/8 {
		total += keys * diskPerPending
	} else {
		flush := min(1, most/max(entries, 1))
		total += keys*flush*diskPerPending + entries*diskPerEntry
	}
	// The file grows by a sixteenth, and by no more than 32 MiB.
	return uint64(math.Ceil(total + min(total/16, 32<<20)))
}
