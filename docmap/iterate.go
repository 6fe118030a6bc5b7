package docmap

import (
	"bytes"
	"iter"

	"github.com/firstseen/firstseen/docmap/sorted"
)

// A Posting is a key and its earliest documents, at most 8, ascending. For a common key, zeros
// replace documents that were taken back or only count.
type Posting struct {
	Key  uint64
	Docs []uint32
}

// All iterates over all keys, including those in memory, in ascending order. A Posting's Docs are
// valid until the next Posting. The first error ends the iteration; a change to the table is one.
func (t *Table) All() iter.Seq2[Posting, error] {
	return sequence(t, "iterating over keys", func(step stepFunc, yield func(Posting) bool) {
		s := &t.spaces[ofKeys]
		// A bin of this shape covers about 8192 entries at most, for any number of runs.
		shape := t.sizes.division.Shape(sorted.LogFor(s.entries()), 0, 0)
		b := sorted.Builder{Limit: MaxHolders}
		if t.tombstones.unnamed() {
			b.Keep = t.tombstones.posted
		}
		var found *sorted.Entries
		for bin := range shape.Bins() {
			ok := step(func(snap *snapshot) error {
				b.In.Reset()
				if err := s.collect(snap, &b.In, shape.Lowest(bin), shape.Highest(bin)); err != nil {
					return err
				}
				found = b.Sort(&shape)
				return nil
			})
			if !ok {
				return
			}
			for key, docs := range found.Groups() {
				if !yield(Posting{key, docs}) {
					return
				}
			}
		}
		step(nothing)
	})
}

// A stepFunc runs one step of an iteration, unless the table has changed since the iteration began.
// It yields an error itself and then returns false.
type stepFunc func(f func(s *snapshot) error) (ok bool)

// sequence returns an iterator over the values that each yields.
func sequence[V any](t *Table, what string, each func(step stepFunc, yield func(V) bool)) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		version := t.version
		step := func(f func(s *snapshot) error) bool {
			var err error
			switch {
			case t.db == nil:
				err = errClosed
			case t.version != version:
				err = errChanged
			default:
				err = t.look(f)
			}
			if err != nil {
				var none V
				yield(none, wrap(err, "%s", what))
			}
			return err == nil
		}
		each(step, func(v V) bool { return yield(v, nil) })
	}
}

// collect appends the entries with keys in from..to: those of the runs, then those in memory.
func (s *space) collect(snap *snapshot, e *sorted.Entries, from, to uint64) error {
	for _, r := range s.runs {
		if err := r.collect(snap, e, from, to); err != nil {
			return err
		}
	}
	if s.mem != nil {
		e.Keys, e.Docs = s.mem.Collect(e.Keys, e.Docs, from, to)
	}
	return nil
}

func (s *space) entries() (n uint64) {
	if s.mem != nil {
		n = uint64(s.mem.Len())
	}
	for _, r := range s.runs {
		n += r.entries
	}
	return n
}

// Keys iterates over the keys of live documents, in batches of a few thousand, in no particular
// order. A key may occur more than once. A batch is valid until the next one. One pass over the
// file makes this the fast way to rebuild a filter. The first error or change to the table ends it.
func (t *Table) Keys() iter.Seq2[[]uint64, error] {
	return sequence(t, "iterating over keys", func(step stepFunc, yield func([]uint64) bool) {
		var e sorted.Entries
		batch := func(collect func(*snapshot) error) (more bool) {
			e.Reset()
			if !step(collect) {
				return false
			}
			if g := &t.tombstones; g.unnamed() {
				e.Keep(0, func(_ uint64, doc uint32) bool { return doc != 0 && !g.has(doc) })
			}
			return len(e.Keys) == 0 || yield(e.Keys)
		}
		for _, r := range t.spaces[ofKeys].runs {
			for bin := r.BinOf(r.low); bin <= r.BinOf(r.high); bin++ {
				more := batch(func(s *snapshot) error {
					r.prefetch(s, bin)
					return r.collect(s, &e, r.Lowest(bin), r.Highest(bin))
				})
				if !more {
					return
				}
			}
		}
		recent := space{mem: t.spaces[ofKeys].mem}
		shape := t.sizes.division.Shape(sorted.LogFor(recent.entries()), 0, 0)
		for bin := range shape.Bins() {
			more := batch(func(s *snapshot) error { return recent.collect(s, &e, shape.Lowest(bin), shape.Highest(bin)) })
			if !more {
				return
			}
		}
		step(nothing)
	})
}

// A NumberedDoc is a document with its number.
type NumberedDoc struct {
	Num uint32
	Doc
}

// Docs iterates over the live documents numbered from or higher, in order, including those not yet
// in the file. The first error ends the iteration; a change to the table is one.
func (t *Table) Docs(from uint32) iter.Seq2[NumberedDoc, error] {
	return sequence(t, "iterating over documents", func(step stepFunc, yield func(NumberedDoc) bool) {
		for num := max(from, t.tombstones.win.watermark()); num <= t.docs; num++ {
			if t.tombstones.has(num) {
				continue
			}
			d := NumberedDoc{Num: num}
			ok := step(func(*snapshot) error {
				id, data, err := t.doc(num)
				d.Doc = Doc{string(id), bytes.Clone(data)}
				return err
			})
			if !ok || !yield(d) {
				return
			}
		}
	})
}
