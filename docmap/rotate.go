package docmap

import (
	"bytes"
	"errors"
	"slices"

	"go.etcd.io/bbolt"
)

// rotate begins a slice if that is due. It enters the slices from then on in next, without the
// runs of dropped ones. all reports that every slice before is dropped.
func (t *Table) rotate(next *header) (list []timeSlice, all bool) {
	w := &t.tombstones.win
	if w.length == 0 {
		return nil, false
	}
	next.needs |= needsWindow
	list = w.slices
	if w.due {
		all = w.allExpired()
		list = w.next(t.docs + 1)
		t.recs.closeBlock()
		next.openBlock = 0
	}
	next.win = w.info(list)
	for i := range next.runs {
		next.runs[i] = slices.DeleteFunc(slices.Clone(next.runs[i]), func(info runInfo) bool {
			return info.first < next.win.watermark()
		})
	}
	return list, all
}

// rotated follows the transaction.
func (t *Table) rotated(list []timeSlice, all bool) {
	w := &t.tombstones.win
	if w.length == 0 || !w.due {
		return
	}
	w.slices, w.due = slices.Clone(list), false
	t.tombstones.dropBelow(w.watermark())
	t.batches.dropBelow(w.watermark())
	for i := range t.spaces {
		s := &t.spaces[i]
		s.runs = slices.DeleteFunc(s.runs, func(run *run) bool { return run.first < w.watermark() })
		if all {
			s.mem.Reset()
		}
	}
}

// sweepSlices removes the remains of dropped slices from the file, in transactions of bounded
// size.
func (t *Table) sweepSlices() error {
	if t.head.needs&needsWindow == 0 {
		return t.sweep()
	}
	mark := t.head.win.watermark()
	before := func(key, _ []byte) (bool, error) { return bytes.Compare(key, binKey(uint64(mark))) < 0, nil }
	return errors.Join(
		t.sweep(), t.sweepRanges(bucketDead, seedDead), t.sweepRanges(bucketCounted, seedCounted), t.sweepBatches(),
		t.sweepFirst(bucketDocs, before), t.sweepFirst(bucketTime, before),
		t.sweepFirst(bucketRemoved, func(_, value []byte) (bool, error) { return removedBefore(value, mark) }),
	)
}

// sweepFirst removes the first keys of a bucket while gone reports true for them, in transactions
// of bounded size.
func (t *Table) sweepFirst(name []byte, gone func(key, value []byte) (bool, error)) error {
	most := max(1, t.sizes.sliceBytes/blockBytes)
	for more := true; more; {
		s, err := t.reading()
		if err != nil {
			return err
		}
		bucket := s.tx.Bucket(name)
		if bucket == nil {
			return nil
		}
		var keys [][]byte
		c := bucket.Cursor()
		for key, value := c.First(); key != nil && len(keys) < most; key, value = c.Next() {
			if is, err := gone(key, value); err != nil || !is {
				more = false
				break
			}
			keys = append(keys, bytes.Clone(key))
		}
		if more = more && len(keys) == most; len(keys) == 0 {
			return nil
		}
		if err := t.remove(name, keys); err != nil {
			return err
		}
	}
	return nil
}

// sweepBatches stores batches without the documents below the watermark.
func (t *Table) sweepBatches() error {
	if len(t.batches.dirty) == 0 {
		return nil
	}
	next := t.head
	err := t.update(func(tx *bbolt.Tx) error { return t.batches.write(tx, &next) })
	if err == nil {
		t.batches.saved()
	}
	return err
}

// sweepRanges removes the lists of ranges in a bucket that are all below the watermark.
func (t *Table) sweepRanges(name []byte, seed uint64) error {
	s, err := t.reading()
	if err != nil {
		return err
	}
	bucket := s.tx.Bucket(name)
	if bucket == nil {
		return nil
	}
	var keys [][]byte
	c := bucket.Cursor()
	for key, value := c.First(); key != nil; key, value = c.Next() {
		ranges, err := decodeTombstones(key, value, seed)
		if err != nil {
			return err
		}
		if n := len(ranges); n > 0 && ranges[n-1].last < t.head.win.watermark() {
			keys = append(keys, bytes.Clone(key))
		}
	}
	return t.remove(name, keys)
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

// sweep removes buckets of runs that no record names: left by a crash, or dropped with their
// slice.
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
		if err := t.sweepFirst(name, func(_, _ []byte) (bool, error) { return true, nil }); err != nil {
			return err
		}
		if err := t.update(func(tx *bbolt.Tx) error { return tx.DeleteBucket(name) }); err != nil {
			return err
		}
	}
	return nil
}
