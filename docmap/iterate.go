package docmap

import (
	"fmt"
	"iter"
)

// A Posting is a key and the documents that hold it: the earliest 8 at most,
// ascending.
type Posting struct {
	Key  uint64
	Docs []uint32
}

// All iterates over all keys in ascending order, those in memory included. A
// Posting's Docs are valid until the next one. An error ends the iteration,
// also where the table is changed in the middle of it.
func (t *Table) All() iter.Seq2[Posting, error] {
	return func(yield func(Posting, error) bool) {
		if t.db == nil {
			yield(Posting{}, fmt.Errorf("iterating over keys: %w", errClosed))
			return
		}
		version := t.version
		s := &t.spaces[ofKeys]
		// Slices of the key space of about 4096 keys, however many runs.
		shape := t.sizes.shape(logFor(t.entries(ofKeys)), 0, 0)
		b := builder{limit: keyLimit}
		for bin := uint64(0); bin < shape.bins(); bin++ {
			err := t.step(version, func() error {
				b.in.reset()
				if err := t.collect(s, &b.in, shape.lowest(bin), shape.highest(bin)); err != nil {
					return err
				}
				b.sort(&shape)
				b.trim()
				return nil
			})
			if err != nil {
				yield(Posting{}, fmt.Errorf("iterating over keys: %w", err))
				return
			}
			if !b.sorted.yield(yield) {
				return
			}
			if t.version != version {
				yield(Posting{}, fmt.Errorf("iterating over keys: %w", errChanged))
				return
			}
		}
	}
}

// yield gives groups of equal keys to f.
func (e *entries) yield(f func(Posting, error) bool) bool {
	for i := 0; i < len(e.keys); {
		j := i + 1
		for j < len(e.keys) && e.keys[j] == e.keys[i] {
			j++
		}
		if !f(Posting{Key: e.keys[i], Docs: e.docs[i:j:j]}, nil) {
			return false
		}
		i = j
	}
	return true
}

// step runs one step of an iteration, unless the table has changed.
func (t *Table) step(version uint64, f func() error) error {
	if t.db == nil {
		return errClosed
	}
	if t.version != version {
		return errChanged
	}
	return t.guarded(f)
}

// collect appends all entries with keys in from..to, runs first.
func (t *Table) collect(s *space, e *entries, from, to uint64) error {
	snap, err := t.reading()
	if err != nil {
		return err
	}
	for _, r := range s.runs {
		if err := r.collect(snap, e, from, to); err != nil {
			return err
		}
	}
	e.take(s.mem, from, to)
	return nil
}

func (t *Table) entries(space int) uint64 {
	n := uint64(t.spaces[space].mem.Len())
	for _, r := range t.spaces[space].runs {
		n += r.entries
	}
	return n
}

// Keys iterates over all keys in batches of some thousand, in no particular
// order, a key once or more. A batch is valid until the next one. It is the
// fast way to rebuild a filter: one pass over the file. An error ends the
// iteration, also where the table is changed in the middle of it.
func (t *Table) Keys() iter.Seq2[[]uint64, error] {
	return func(yield func([]uint64, error) bool) {
		if t.db == nil {
			yield(nil, fmt.Errorf("iterating over keys: %w", errClosed))
			return
		}
		version := t.version
		var e entries
		batch := func(f func() error) bool {
			e.reset()
			if err := t.step(version, f); err != nil {
				yield(nil, fmt.Errorf("iterating over keys: %w", err))
				return false
			}
			if len(e.keys) > 0 && !yield(e.keys, nil) {
				return false
			}
			if t.version != version {
				yield(nil, fmt.Errorf("iterating over keys: %w", errChanged))
				return false
			}
			return true
		}
		for _, r := range t.spaces[ofKeys].runs {
			for bin := r.binOf(r.low); bin <= r.binOf(r.high); bin++ {
				if !batch(func() error { return t.collectBin(r, &e, bin) }) {
					return
				}
			}
		}
		mem := t.spaces[ofKeys].mem
		shape := t.sizes.shape(logFor(uint64(mem.Len())), 0, 0)
		for bin := range shape.bins() {
			from, to := shape.lowest(bin), shape.highest(bin)
			if !batch(func() error { e.take(mem, from, to); return nil }) {
				return
			}
		}
	}
}

func (t *Table) collectBin(r *run, e *entries, bin uint64) error {
	s, err := t.reading()
	if err != nil {
		return err
	}
	r.prefetch(s, bin)
	return r.collect(s, e, r.lowest(bin), r.highest(bin))
}

// A NumberedDoc is a document with its number.
type NumberedDoc struct {
	Num uint32
	Doc
}

// Docs iterates over the documents from number from on, in order, those not
// yet in the file included. An error ends the iteration, also where the table
// is changed in the middle of it.
func (t *Table) Docs(from uint32) iter.Seq2[NumberedDoc, error] {
	return func(yield func(NumberedDoc, error) bool) {
		version := t.version
		for num := max(from, 1); num <= t.docs; num++ {
			d := NumberedDoc{Num: num}
			err := t.step(version, func() (err error) {
				if _, err = t.reading(); err == nil {
					d.Doc, err = t.docCopy(num)
				}
				return err
			})
			if err != nil {
				yield(NumberedDoc{}, fmt.Errorf("iterating over documents: %w", err))
				return
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}
