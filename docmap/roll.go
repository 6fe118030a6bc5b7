package docmap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"go.etcd.io/bbolt"
)

// A roll is the part of a checkpoint that begins a slice and drops others.
type roll struct {
	t      *Table
	slices []timeSlice
	all    bool // are dropped
}

// roll begins a slice where that is due, and enters it in next.
func (t *Table) roll(next *header) *roll {
	w := &t.graves.win
	r := &roll{t: t, slices: w.slices}
	if w.length == 0 {
		return r
	}
	next.needs |= needsWindow
	if w.due {
		r.all = w.allExpired()
		r.slices = w.next(t.docs + 1)
		t.recs.closeBlock()
		next.openBlock = 0
	}
	next.win = w.info(r.slices)
	return r
}

// drop leaves runs of dropped slices out of next.
func (r *roll) drop(next *header) {
	if r.t.graves.win.length == 0 {
		return
	}
	for i := range next.runs {
		next.runs[i] = slices.DeleteFunc(slices.Clone(next.runs[i]), func(info runInfo) bool {
			return info.first < next.win.watermark()
		})
	}
}

// rolled follows the transaction.
func (r *roll) rolled() {
	t := r.t
	w := &t.graves.win
	if w.length == 0 || !w.due {
		return
	}
	w.slices, w.due = slices.Clone(r.slices), false
	t.graves.dropBelow(w.watermark())
	for i := range t.spaces {
		s := &t.spaces[i]
		s.runs = slices.DeleteFunc(s.runs, func(run *run) bool { return run.first < w.watermark() })
		if r.all {
			s.mem.Reset()
		}
	}
}

// sweepSlices removes what dropped slices have left in the file, in transactions of
// bounded size.
func (t *Table) sweepSlices() error {
	if t.head.needs&needsWindow == 0 {
		return nil
	}
	if err := errors.Join(t.sweep(), t.sweepGraves()); err != nil {
		return err
	}
	for _, name := range [][]byte{bucketDocs, bucketTime} {
		for left := true; left; {
			s, err := t.reading()
			if err != nil {
				return err
			}
			var keys [][]byte
			keys, left = t.below(s.tx.Bucket(name))
			if err := t.remove(name, keys); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweepGraves removes the lists of documents that were taken back and are all below the
// watermark.
func (t *Table) sweepGraves() error {
	s, err := t.reading()
	if err != nil {
		return err
	}
	bucket := s.tx.Bucket(bucketDead)
	if bucket == nil {
		return nil
	}
	var keys [][]byte
	c := bucket.Cursor()
	for key, value := c.First(); key != nil; key, value = c.Next() {
		var g graves
		if len(key) == 4 {
			g.base = binary.BigEndian.Uint32(key) / 64
		}
		if err := g.load(key, value, t.head.docs); err != nil {
			return err
		}
		if n := len(g.old); n > 0 && g.old[n-1].last < t.head.win.watermark() {
			keys = append(keys, bytes.Clone(key))
		}
	}
	return t.remove(bucketDead, keys)
}

// remove removes keys of a bucket in one transaction.
func (t *Table) remove(name []byte, keys [][]byte) error {
	if len(keys) == 0 {
		return nil
	}
	return t.update(func(tx *bbolt.Tx) error {
		for _, key := range keys {
			if err := tx.Bucket(name).Delete(key); err != nil {
				return err
			}
		}
		return nil
	})
}

// below are keys of a bucket below the watermark, and whether there may be more.
func (t *Table) below(bucket *bbolt.Bucket) (keys [][]byte, more bool) {
	if bucket == nil {
		return nil, false
	}
	most := max(1, t.sizes.sliceBytes/blockBytes)
	mark := binKey(uint64(t.head.win.watermark()))
	c := bucket.Cursor()
	for key, _ := c.First(); key != nil && bytes.Compare(key, mark) < 0; key, _ = c.Next() {
		if len(keys) == most {
			return keys, true
		}
		keys = append(keys, bytes.Clone(key))
	}
	return keys, false
}

// sweep removes buckets of runs that no record names, left by a crash or dropped with
// their slice.
func (t *Table) sweep() error {
	known := make(map[string]bool)
	for i := range t.spaces {
		for _, r := range t.spaces[i].runs {
			known[string(r.bucket())] = true
		}
	}
	var stray [][]byte
	s, err := t.reading()
	if err != nil {
		return err
	}
	err = s.tx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
		if bytes.HasPrefix(name, []byte("run")) && !known[string(name)] {
			stray = append(stray, bytes.Clone(name))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range stray {
		if err := t.update(func(tx *bbolt.Tx) error { return tx.DeleteBucket(name) }); err != nil {
			return err
		}
	}
	return nil
}
