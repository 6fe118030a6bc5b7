package docmap

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"

	"github.com/firstseen/firstseen/docmap/sorted"
	"github.com/firstseen/firstseen/internal/base/durable"
)

// Compact rewrites the table without the entries of dead documents, frees unused space, and closes
// the table; the caller opens it again. The new file replaces the old one in one step, so an
// interrupted Compact changes nothing. Until then, both need disk space. A closed key without a
// live holder is open afterwards. Changes without a checkpoint are an error.
func (t *Table) Compact(ctx context.Context) error {
	err := t.writable()
	if err == nil && (t.docs != t.head.docs || len(t.tombstones.fresh) > 0 || len(t.batches.dirty) > 0) {
		err = errors.New("some changes are not in a checkpoint yet")
	}
	c := &compaction{ctx: ctx, old: t, fresh: newTable(t.path+newSuffix, t.opt)}
	c.fresh.source = t
	if err == nil {
		err = t.look(c.write)
	}
	if err == nil {
		err = t.replaceBy(c.fresh.path)
	}
	if err != nil {
		err = errors.Join(err, c.fresh.Close(), durable.RemoveLeft(c.fresh.path))
		return fmt.Errorf("compacting the table: %w", err)
	}
	return nil
}

func (t *Table) replaceBy(path string) error {
	err := t.stopReading()
	if err == nil && runtime.GOOS == "windows" { // which cannot rename an open file
		err = t.Close()
	}
	if err == nil {
		err = durable.Rename(path, t.path)
	}
	return errors.Join(err, t.Close())
}

// A compaction writes a table to another file, which is not read before it is complete.
type compaction struct {
	ctx        context.Context
	old, fresh *Table
}

func (c *compaction) write(*snapshot) error {
	c.fresh.opt.noSync = true // one sync at the end is enough
	h := &c.fresh.head
	*h = c.old.head
	h.flushed, h.chunks, h.pending, h.openBlock, h.needs, h.nextRun = h.docs, 0, 0, 0, h.needs&needsWindow, 1
	h.runs = [2][]*run{}
	create := func() error { return c.fresh.createNew(func(*change) {}) }
	header := func() error { return c.fresh.update(func(tx *change) { c.fresh.putHeader(tx, c.old.state) }) }
	for _, step := range []func() error{create, c.blocks, c.runs, c.taken, c.removed, c.times, header, c.cut} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// cut truncates the file after its last page, because bbolt extends files in advance, and syncs it.
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

func (c *compaction) blocks() error {
	log := &c.fresh.recs
	log.resize(c.fresh.head.win.length)
	log.begin(docBlock{first: c.fresh.head.win.watermark()})
	for num := log.open().first; num <= c.fresh.head.docs; num++ {
		if c.fresh.head.win.first(num) == num {
			log.closeBlock() // a slice begins
		}
		var rec []byte
		if !c.old.tombstones.gone(num) {
			var err error
			if rec, err = c.old.record(num); err == nil {
				_, _, err = splitRecord(rec, num)
			}
			if err != nil {
				return err
			}
		}
		if log.addRecord(rec); log.bytes >= c.old.sizes.sliceBytes {
			if err := c.flush(log); err != nil {
				return err
			}
		}
	}
	if c.fresh.head.win.first(c.fresh.head.docs+1) <= c.fresh.head.docs {
		c.fresh.head.openBlock = log.open().first
	}
	return c.flush(log)
}

func (c *compaction) flush(log *docLog) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	return c.fresh.update(log.write)
}

// runs writes one run for each space or, with a window, for each of its slices.
func (c *compaction) runs() error {
	for of := range c.old.spaces {
		for last := c.fresh.head.win.watermark() - 1; last < c.fresh.head.docs; {
			first := last + 1
			last = c.fresh.head.win.last(first, c.fresh.head.docs)
			if err := c.run(of, first, last); err != nil {
				return err
			}
		}
	}
	return nil
}

// run writes one run of a space. The share of live documents estimates the entries, which determine
// the shape. An estimate of twice the entries costs no space.
func (c *compaction) run(of int, first, last uint32) error {
	from := &c.old.spaces[of]
	info := runInfo{id: c.fresh.head.nextRun, level: uint8(maxLevel(from.runs)), first: first, last: last, high: math.MaxUint64}
	part := &space{mem: from.mem, limit: from.limit}
	switch g := &c.old.tombstones; {
	case g.win.length > 0:
		part.keep = c.old.keep(of, first, last)
	case g.dead.n > 0:
		info.first = 0
		trim := c.old.keep(of, 0, last)
		part.keep = func(docs []uint32) []uint32 {
			docs = trim(docs)
			if len(docs) > 0 && docs[len(docs)-1] == 0 {
				return docs[:0] // a closed key without a live holder
			}
			return docs
		}
	}
	part.runs = slices.DeleteFunc(slices.Clone(from.runs), func(r *run) bool { return r.last < first || r.first > last })
	if last < c.fresh.head.docs {
		part.mem = nil // memory has documents of the last slice only
	}
	live := 0.0
	for num := first; num <= last; num++ {
		if !c.old.tombstones.gone(num) {
			live++
		}
	}
	entries := uint64(math.Ceil(float64(part.entries()) * live / float64(last-first+1)))
	info.log = sorted.LogFor(entries)
	r := c.fresh.sizes.newRun(info)
	err := c.fresh.fillRun(c.ctx, r, entries, part)
	c.fresh.head.runs[of] = append(c.fresh.head.runs[of], r)
	c.fresh.head.nextRun++
	return err
}

// taken writes the documents taken back, those that only count, and the batches. With a window it
// keeps the moments of taking back: a slice needs the documents that closed its keys.
func (c *compaction) taken() error {
	g := &c.old.tombstones
	var dead, counted []tombstone
	if g.win.length > 0 {
		dead = g.old
	}
	for num := g.win.watermark(); num <= c.fresh.head.docs; num++ {
		switch {
		case g.win.length == 0 && g.dead.has(num):
			dead = appendNumber(dead, num, c.fresh.head.docs)
		case g.counted.has(num):
			counted = appendNumber(counted, num, 0)
		}
	}
	all := batches{spans: c.old.batches.spans, dirty: c.old.batches.names(), chunks: map[string][]uint32{}}
	return c.fresh.update(func(tx *change) {
		deadList.write(tx, dead)
		countedList.write(tx, counted)
		all.write(tx)
		c.fresh.head.needs = tx.head.needs
	})
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

// removed copies the documents that were removed because of live ones.
func (c *compaction) removed() error {
	if c.fresh.head.needs&needsBatches == 0 {
		return nil
	}
	var log removedLog
	flush := func() error { return c.fresh.update(log.write) }
	for r, err := range c.old.Removed() {
		if err == nil && c.old.Live(r.Of) {
			log.add(r)
		}
		if err == nil && log.bytes >= c.old.sizes.sliceBytes {
			err = flush()
		}
		if err != nil {
			return err
		}
	}
	return flush()
}
