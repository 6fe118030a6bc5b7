package docmap

import (
	"fmt"
	"iter"
	"slices"

	"github.com/firstseen/firstseen/docmap/sorted"
)

// A Posting is a key and the documents that hold it: the earliest 8 at most, ascending. For a
// common key, zeros stand for those that were taken back.
type Posting struct {
	Key  uint64
	Docs []uint32
}

// All iterates over all keys in ascending order, including those in memory. A Posting's Docs are
// valid until the next one. An error ends the iteration, also if the table changes during it.
func (t *Table) All() iter.Seq2[Posting, error] {
	return sequence(t, "iterating over keys", func(step stepFunc, yield func(Posting) bool) error {
		s := &t.spaces[ofKeys]
		// Parts of the key space of about 4096 keys, however many runs.
		shape := t.sizes.division.Shape(sorted.LogFor(t.spaces[ofKeys].entries()), 0, 0)
		b := sorted.Builder{Limit: keyLimit}
		if t.tombstones.unnamed() {
			var room [keyLimit]uint32
			b.Keep = func(docs []uint32) []uint32 {
				return slices.DeleteFunc(t.tombstones.named(room[:0], docs), func(d uint32) bool { return d == Counted })
			}
		}
		var found *sorted.Entries
		for bin := range shape.Bins() {
			err := step(func() error {
				b.In.Reset()
				if err := t.collect(s, &b.In, shape.Lowest(bin), shape.Highest(bin)); err != nil {
					return err
				}
				found = b.Sort(&shape)
				return nil
			})
			if err != nil {
				return err
			}
			for key, docs := range found.Groups() {
				if !yield(Posting{key, docs}) {
					return nil
				}
			}
		}
		return step(nothing)
	})
}

// A stepFunc runs one step of an iteration, unless the table has changed since the
// iteration began.
type stepFunc func(f func() error) error

func nothing() error { return nil }

// sequence returns an iterator over the values that each yields. An error of each ends it.
func sequence[V any](t *Table, what string, each func(step stepFunc, yield func(V) bool) error) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		version := t.version
		step := func(f func() error) error {
			switch {
			case t.db == nil:
				return errClosed
			case t.version != version:
				return errChanged
			}
			return t.guarded(f)
		}
		if err := each(step, func(v V) bool { return yield(v, nil) }); err != nil {
			var none V
			yield(none, fmt.Errorf("%s: %w", what, err))
		}
	}
}

// collect appends all entries with keys in from..to, runs first.
func (t *Table) collect(s *space, e *sorted.Entries, from, to uint64) error {
	snap, err := t.reading()
	if err != nil {
		return err
	}
	return s.collect(snap, e, from, to)
}

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

// Keys iterates over all keys of live documents, in batches of some thousand, in no particular
// order, each key once or more. A batch is valid until the next one. It is the fast way to
// rebuild a filter: one pass over the file. An error ends the iteration, also if the table
// changes during it.
func (t *Table) Keys() iter.Seq2[[]uint64, error] {
	return sequence(t, "iterating over keys", func(step stepFunc, yield func([]uint64) bool) error {
		var e sorted.Entries
		batch := func(f func() error) (more bool, err error) {
			e.Reset()
			if err := step(f); err != nil {
				return false, err
			}
			t.tombstones.leaveOut(&e)
			return len(e.Keys) == 0 || yield(e.Keys), nil
		}
		for _, r := range t.spaces[ofKeys].runs {
			for bin := r.BinOf(r.low); bin <= r.BinOf(r.high); bin++ {
				more, err := batch(func() error { return t.collectBin(r, &e, bin) })
				if !more {
					return err
				}
			}
		}
		recent := space{mem: t.spaces[ofKeys].mem}
		shape := t.sizes.division.Shape(sorted.LogFor(recent.entries()), 0, 0)
		for bin := range shape.Bins() {
			more, err := batch(func() error { return recent.collect(nil, &e, shape.Lowest(bin), shape.Highest(bin)) })
			if !more {
				return err
			}
		}
		return step(nothing)
	})
}

func (t *Table) collectBin(r *run, e *sorted.Entries, bin uint64) error {
	s, err := t.reading()
	if err != nil {
		return err
	}
	r.prefetch(s, bin)
	return r.collect(s, e, r.Lowest(bin), r.Highest(bin))
}

// A NumberedDoc is a document with its number.
type NumberedDoc struct {
	Num uint32
	Doc
}

// Docs iterates over the live documents from number from on, in order, including those not yet in
// the file. An error ends the iteration, also if the table changes during it.
func (t *Table) Docs(from uint32) iter.Seq2[NumberedDoc, error] {
	return sequence(t, "iterating over documents", func(step stepFunc, yield func(NumberedDoc) bool) error {
		for num := max(from, t.tombstones.win.watermark()); num <= t.docs; num++ {
			if t.tombstones.has(num) {
				continue
			}
			d := NumberedDoc{Num: num}
			err := step(func() (err error) {
				if _, err = t.reading(); err == nil {
					d.Doc, err = t.docCopy(num)
				}
				return err
			})
			if err != nil || !yield(d) {
				return err
			}
		}
		return nil
	})
}
