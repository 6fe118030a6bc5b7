package docmap

import (
	"bytes"
	"errors"
	"slices"

	"go.etcd.io/bbolt"
)

// rotate begins a slice if that is due. It enters the slices from then on in next, without the
// runs of dropped ones. all reports that every slice before is dropped.
func (t *Table) rotate(next *header) (all bool) {
	w := &t.tombstones.win
	if w.length == 0 {
		return false
	}
	next.needs |= needsWindow
	next.win = window{length: w.length, clock: w.clock, edge: w.edge, slices: slices.Clone(w.slices)}
	if w.due {
		counts := func(s timeSlice) bool { return s.times.n > 0 && s.newest >= w.edge }
		all = !slices.ContainsFunc(w.slices, counts)
		next.win.slices = w.next(t.docs + 1)
		t.recs.closeBlock()
		next.openBlock = 0
	}
	for i := range next.runs {
		next.runs[i] = slices.DeleteFunc(slices.Clone(next.runs[i]), func(info runInfo) bool {
			return info.first < next.win.watermark()
		})
	}
	return all
}

func (t *Table) rotated(all bool) {
	w := &t.tombstones.win
	if w.length == 0 || !w.due {
		return
	}
	w.slices, w.due = slices.Clone(t.head.win.slices), false
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
	before := func(key, _ []byte) (gone, more bool) {
		gone = bytes.Compare(key, binKey(uint64(mark))) < 0
		return gone, gone
	}
	chunk := func(_, value []byte) (gone, more bool) {
		gone, err := removedBefore(value, mark)
		return gone && err == nil, gone && err == nil
	}
	return errors.Join(
		t.sweep(), t.sweepRanges(&deadList, mark), t.sweepRanges(&countedList, mark), t.sweepBatches(),
		t.sweepKeys(bucketDocs, before), t.sweepKeys(bucketTime, before), t.sweepKeys(bucketRemoved, chunk),
	)
}

// sweepKeys removes the keys of a bucket that are gone, in transactions of bounded size. It goes
// through the keys in order while there may be more.
func (t *Table) sweepKeys(name []byte, judge func(key, value []byte) (gone, more bool)) error {
	most := max(1, t.sizes.sliceBytes/blockBytes)
	for full := true; full; {
		s, err := t.own.reading()
		if err != nil {
			return err
		}
		var keys [][]byte
		for key, value := range entries(s.tx.Bucket(name), nil) {
			gone, more := judge(key, value)
			if gone {
				keys = append(keys, bytes.Clone(key))
			}
			if full = len(keys) == most; full || !more {
				break
			}
		}
		if len(keys) == 0 {
			return nil
		}
		err = t.updateStep(func(c *change) {
			for _, key := range keys {
				c.delete(name, key)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) sweepRanges(l *rangeList, mark uint32) error {
	return t.sweepKeys(l.bucket, func(key, value []byte) (gone, more bool) {
		ranges, err := l.decode(key, value, t.head.docs) // without an error when the table was opened
		n := len(ranges)
		return err == nil && n > 0 && ranges[n-1].last < mark, true
	})
}

// sweepBatches stores batches without the documents below the watermark. By the time of a step there may
// be documents that no checkpoint has: it leaves this to the next one.
func (t *Table) sweepBatches() error {
	if len(t.batches.dirty) == 0 || t.opt.Stepwise {
		return nil
	}
	return t.update(t.batches.write)
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
	s, err := t.own.reading()
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
		if err := t.sweepKeys(name, func(_, _ []byte) (gone, more bool) { return true, true }); err != nil {
			return err
		}
		if err := t.updateStep(func(c *change) { c.drop(name) }); err != nil {
			return err
		}
	}
	return nil
}
