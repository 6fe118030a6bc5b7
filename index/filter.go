package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index/filterlog"
)

// ShapeFor returns the size of a filter for the given number of documents.
func ShapeFor(docs uint64, s feature.Scheme, filterOnly bool) bloomstore.Shape {
	const most = 1 << 48 // more is cut to the largest possible filter
	return bloomstore.ForItems(min(docs, most) * s.KeysPerDoc(filterOnly))
}

// tableStamp ties a filter file to the documents in the table's file. See docs/format.md, "The index
// directory".
func tableStamp(t *docmap.Table) []byte {
	return stampOf(t, t.Documents()-t.Unsaved(), t.Generation().Content)
}

func stampOf(t *docmap.Table, docs uint32, content uint64) []byte {
	uuid := t.Generation().UUID
	stamp := binary.LittleEndian.AppendUint64(uuid[:], uint64(docs))
	return binary.LittleEndian.AppendUint64(stamp, content)
}

// follows reports whether the table has the documents of a filter with this stamp, and keys of later
// ones are all pending. It then calls add, if not nil, with these keys.
func follows(t *docmap.Table, stamp []byte, add func(keys []uint64)) (bool, error) {
	docs := stampDocs(stamp)
	if !savedFor(t, stamp) || docs > math.MaxUint32 {
		return false, nil
	}
	return t.Since(uint32(docs), binary.LittleEndian.Uint64(stamp[24:]), add)
}

// savedFor reports whether a stamp is of this table, in any state.
func savedFor(t *docmap.Table, stamp []byte) bool {
	uuid := t.Generation().UUID
	return filterlog.SavedWithTable(stamp) && string(stamp[:16]) == string(uuid[:])
}

// stampDocs returns the number of documents in a table's stamp; of another, any number.
func stampDocs(stamp []byte) uint64 {
	if len(stamp) < 24 {
		return 0
	}
	return binary.LittleEndian.Uint64(stamp[16:])
}

// loadFilter loads a filter file. If there is a table, which follows it, loadFilter adds pending keys.
func loadFilter(ctx context.Context, path, scheme string, t *docmap.Table) (*bloomstore.Filter, error) {
	f, stamp, err := bloomstore.Open(ctx, path, scheme)
	if err == nil && t != nil {
		_, err = follows(t, stamp, f.Add)
	}
	if err != nil && f != nil {
		err = errors.Join(err, f.Close())
	}
	return f, err
}

// openFilter loads the filter if it matches the table and is not smaller than requested; else it
// rebuilds the filter. A damaged filter is an error, because the table may be damaged, too.
func (x *Index) openFilter(p *presence, o *Options) (err error) {
	shape := o.Shape
	switch {
	case x.table == nil:
		x.only, err = filterlog.Open(x.ctx, x.dir, filterlog.Options{
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
		// A filter that has grown keeps its size.
		shape = present
	}
	ok, err := follows(x.table, p.header.Stamp, nil)
	switch {
	case err != nil:
		return err
	case !ok:
		return x.rebuild(shape, false, "the last run did not end cleanly, or the filter belongs to another table")
	case shape != present:
		return x.rebuild(shape, false, "a larger one was asked for")
	}
	if x.filter, err = loadFilter(x.ctx, x.path(FilterFile), x.name, x.table); err == nil {
		x.saved = p.header.Stamp
	}
	return err
}

// rebuild replaces the filter with one of all keys of the table; see filterOf.
func (x *Index) rebuild(shape bloomstore.Shape, roomy bool, why string) error {
	err := x.closeFilter()
	if err == nil {
		x.filter, err = filterOf(x.ctx, shape, x.table, roomy)
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

// filterLost returns the error for use after a failed rebuild.
func (x *Index) filterLost() error {
	return fmt.Errorf("index %s: its filter could not be rebuilt: open the index again", x.dir)
}

// filterOf returns a filter of all keys of a table. A roomy one is enlarged until it is not full.
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

// rebuildBatch is the number of keys added at once: 512 KiB, enough to occupy all processors.
const rebuildBatch = 1 << 16

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

// designFill is the share of one bits at design load, 1 - e^(-1/2). With two bits for each of the k
// probes of a key, kn/m = 1/2 for any k.
const designFill = 0.3934693402873666

func full(f *bloomstore.Filter) bool { return f.Fill() >= designFill }

// Full reports whether the filter has reached its design load: half as many items more would double
// its false positives. It depends only on the bits, so a rebuilt filter is full at the same
// document, unless documents of a window expired. A closed index is not full.
func (x *Index) Full() bool { return x.filter != nil && full(x.filter) }

// Load estimates the used share of the capacity from the bits: 1 at design load, 0 after Close.
func (x *Index) Load() float64 {
	if x.filter == nil {
		return 0
	}
	return -2 * math.Log1p(-x.filter.Fill())
}

// Grow replaces the filter with one of twice the size, doubled until not full. It needs a table.
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

// larger doubles a shape, again and again if a table of that many entries certainly needs it: a key
// has at most 8. So a filter far too small is not rebuilt for each doubling.
func larger(s bloomstore.Shape, entries uint64) bloomstore.Shape {
	s.Bits *= 2
	for s.Capacity() < entries/docmap.MaxHolders {
		s.Bits *= 2
	}
	return s
}

// saveFilter writes the filter. It does nothing while the keys after the file are all pending, or if
// the filter is lost because the end of Open's context stopped its growth: Open rebuilds it. While
// all keys are pending, the file is an empty filter, which is a hole on disk.
func (x *Index) saveFilter() error {
	if x.table == nil {
		return x.only.Save()
	}
	if x.saved != nil && x.table.Pends(uint32(stampDocs(x.saved))) {
		return nil
	}
	stamp := tableStamp(x.table)
	switch {
	case x.filter == nil && x.ctx.Err() != nil:
		return nil
	case x.filter == nil:
		return x.filterLost()
	}
	toSave := x.filter
	if x.table.Pends(0) {
		empty, err := bloomstore.New(x.filter.Shape(), x.name)
		if err != nil {
			return err
		}
		defer empty.Close() // memory alone: nothing can be lost
		toSave, stamp = empty, stampOf(x.table, 0, 0)
	}
	err := toSave.Save(context.Background(), x.path(FilterFile), stamp)
	if err == nil {
		x.saved = stamp
	}
	return err
}

func (x *Index) closeFilter() error {
	if x.filter == nil {
		return nil
	}
	err := x.filter.Close()
	x.filter = nil
	return err
}
