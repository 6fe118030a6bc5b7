package docmap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/firstseen/firstseen/docmap/sorted"
	"github.com/firstseen/firstseen/internal/durable"
)

// Compact writes the table anew without the entries of dead documents, frees the space of the
// rest, and closes the table; the caller opens it again. The new file replaces the old one in one
// step, so an interrupted Compact changes nothing. It needs room for the new file beside the old
// one. A closed key without a live holder is open from then on. Changes in no checkpoint yet are
// an error.
func (t *Table) Compact(ctx context.Context) error {
	err := t.writable()
	if err == nil && (t.docs != t.head.docs || len(t.tombstones.fresh) > 0 || len(t.batches.dirty) > 0) {
		err = errors.New("there is something in no checkpoint yet")
	}
	c := &compaction{ctx: ctx, old: t, fresh: &Table{path: t.path + newSuffix, opt: t.opt, sizes: t.sizes, source: t}}
	if err == nil {
		err = t.guarded(c.write)
	}
	if err == nil {
		err = t.replaceBy(c.fresh.path)
	}
	if err != nil {
		err = errors.Join(err, c.fresh.Close(), removeLeft(c.fresh.path))
		return fmt.Errorf("compacting the table: %w", err)
	}
	return nil
}

// replaceBy puts another file in place of the table and closes the table. Present readers go on
// with the old file, which has lost its name. The sign-in file goes first, so that a reader of
// the new table does not sign in at the old one.
func (t *Table) replaceBy(path string) error {
	err := errors.Join(t.stopReading(), t.readers.close(t.path), removeLeft(t.path+readersSuffix))
	t.readers = nil
	if err == nil && !canShare {
		err = t.Close() // Windows renames no open file
	}
	if err == nil {
		err = durable.Rename(path, t.path)
	}
	return errors.Join(err, t.Close())
}

// removeLeft removes a file left by an interrupted step, if there is one.
func removeLeft(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// A compaction is a table being written into another file. That file is read only when it is
// whole.
type compaction struct {
	ctx        context.Context
	old, fresh *Table
	head       header
}

func (c *compaction) write() error {
	if err := removeLeft(c.fresh.path); err != nil {
		return err
	}
	c.fresh.own.table = c.fresh
	c.fresh.opt.noSync = true // one sync at the end is enough
	if err := c.fresh.openFile(false, os.O_CREATE|os.O_EXCL); err != nil {
		return err
	}
	if err := c.fresh.update((*change).makeBuckets); err != nil {
		return err
	}
	h := &c.head
	*h = c.old.head
	h.flushed, h.chunks, h.pending, h.openBlock, h.needs, h.nextRun = h.docs, 0, 0, 0, h.needs&needsWindow, 1
	h.runs = [2][]runInfo{}
	steps := []func() error{c.blocks, func() error { return c.runs(ofKeys) }, func() error { return c.runs(ofIDs) }, c.taken, c.removed, c.times}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	if err := c.fresh.update(func(tx *change) { tx.putHeader(h, c.old.state) }); err != nil {
		return err
	}
	return c.cut()
}

// cut truncates the file behind its last page, since bbolt grows it in advance, and makes it
// durable.
func (c *compaction) cut() error {
	s, err := c.fresh.reading()
	if err != nil {
		return err
	}
	size := s.tx.Size()
	if err := c.fresh.Close(); err != nil {
		return err
	}
	f, err := os.OpenFile(c.fresh.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Sync(), f.Close())
}

// blocks writes the records of live documents, and empty ones in place of the others.
func (c *compaction) blocks() error {
	log := &c.fresh.recs
	log.open.first = c.head.win.watermark()
	for num := log.open.first; num <= c.head.docs; num++ {
		if c.head.win.first(num) == num {
			log.closeBlock() // a slice begins
		}
		rec, err := c.record(num)
		if err != nil {
			return err
		}
		if log.addRecord(rec); log.bytes >= c.old.sizes.sliceBytes {
			if err := c.flush(log); err != nil {
				return err
			}
		}
	}
	if c.head.win.first(c.head.docs+1) <= c.head.docs {
		c.head.openBlock = log.open.first
	}
	return c.flush(log)
}

func (c *compaction) flush(log *docLog) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	defer log.saved()
	return c.fresh.update(log.write)
}

func (c *compaction) record(num uint32) ([]byte, error) {
	if c.old.tombstones.gone(num) {
		return nil, nil
	}
	if _, err := c.old.reading(); err != nil {
		return nil, err
	}
	rec, err := c.old.own.record(num)
	if err == nil {
		_, _, err = splitRecord(rec, num)
	}
	return rec, err
}

// runs writes the run of a space or, with a window, the runs of all slices.
func (c *compaction) runs(of int) error {
	for first := c.head.win.watermark(); first <= c.head.docs; {
		last := c.head.win.last(first, c.head.docs)
		if err := c.run(of, first, last); err != nil {
			return err
		}
		first = last + 1
	}
	return nil
}

// run writes one run of a space. It counts the entries first, because they determine the shape.
func (c *compaction) run(of int, first, last uint32) error {
	from, to := &c.old.spaces[of], &c.fresh.spaces[of]
	to.of, to.limit = of, from.limit
	info := runInfo{id: c.head.nextRun, level: uint8(maxLevel(from.runs)), first: first, last: last, high: math.MaxUint64}
	switch g := &c.old.tombstones; {
	case g.win.length > 0:
		to.keep = c.old.keep(of, first, last)
	case g.dead > 0:
		info.first = 0
		to.keep = g.compacted
		if of == ofIDs {
			to.keep = c.old.keep(ofIDs, 0, last)
		}
	}
	part := &space{mem: from.mem, runs: slices.DeleteFunc(slices.Clone(from.runs), func(r *run) bool { return r.last < first || r.first > last })}
	if last < c.head.docs {
		part.mem = nil // it has documents of the last slice only
	}
	entries, err := c.count(part, &sorted.Builder{Limit: to.limit, Keep: to.keep})
	if err != nil {
		return err
	}
	info.log = sorted.LogFor(entries)
	r := c.fresh.sizes.newRun(info)
	err = c.fresh.fillRun(c.ctx, to, r, entries, part)
	c.head.runs[of] = append(c.head.runs[of], r.runInfo)
	c.head.nextRun++
	return err
}

func (c *compaction) count(from *space, b *sorted.Builder) (entries uint64, err error) {
	shape := c.old.sizes.division.Shape(sorted.LogFor(from.entries()), 0, 0)
	for bin := range shape.Bins() {
		if err := c.ctx.Err(); err != nil {
			return 0, err
		}
		b.In.Reset()
		s, err := c.old.reading()
		if err != nil {
			return 0, err
		}
		if err := from.collect(s, &b.In, shape.Lowest(bin), shape.Highest(bin)); err != nil {
			return 0, err
		}
		entries += uint64(len(b.Sort(&shape).Keys))
	}
	return entries, nil
}

func (c *compaction) taken() error {
	ranges := c.ranges()
	spans := c.old.batches.spans
	all := batches{spans: spans, dirty: map[string]bool{}}
	for name := range spans {
		all.dirty[name] = true
	}
	return c.fresh.update(func(tx *change) {
		deadList.write(tx, ranges, &c.head)
		countedList.write(tx, c.counted(), &c.head)
		all.write(tx, &c.head)
	})
}

// ranges returns the documents that were taken back. With a window their times are kept: a slice
// remembers the documents that closed its keys.
func (c *compaction) ranges() (ranges []tombstone) {
	if c.old.tombstones.win.length > 0 {
		return c.old.tombstones.old
	}
	for num := uint32(1); num <= c.head.docs; num++ {
		if c.old.tombstones.gone(num) {
			ranges = appendNumber(ranges, num, c.head.docs)
		}
	}
	return ranges
}

// counted returns the documents that only count. Without a window dead ones are left out.
func (c *compaction) counted() (ranges []tombstone) {
	g := &c.old.tombstones
	for num := max(1, g.win.watermark()); g.counted.n > 0 && num <= c.head.docs; num++ {
		if g.counted.which.has(num) && (g.win.length > 0 || !g.gone(num)) {
			ranges = appendNumber(ranges, num, 0)
		}
	}
	return ranges
}

func (c *compaction) times() error {
	w := c.old.tombstones.win
	for i := range w.slices {
		s := w.slices[i : i+1]
		of := window{length: w.length, edge: w.edge, slices: s}
		err := c.fresh.update(func(tx *change) { of.writeTimes(tx, 0) })
		if err != nil {
			return err
		}
	}
	return nil
}

// removed copies the documents that were removed for the sake of live ones.
func (c *compaction) removed() error {
	var log removedLog
	flush := func() error {
		defer log.saved()
		return c.fresh.update(log.write)
	}
	for r, err := range c.old.Removed() {
		if err != nil {
			return err
		}
		if c.head.needs&needsBatches == 0 || !c.old.Live(r.Of) {
			continue
		}
		if log.add(r); log.bytes >= c.old.sizes.sliceBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if log.empty() {
		return nil
	}
	return flush()
}
