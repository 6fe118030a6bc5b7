package docmap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/docmap/memtable"
	"github.com/firstseen/firstseen/docmap/sorted"
)

// Add adds documents, each with its id, data and keys, and returns the number of the first. Numbers
// are consecutive, beginning with 1. Look-ups find the documents at once, but a crash before the
// next Checkpoint loses them. The caller may reuse all slices. A key repeated within a document
// counts once. After an error, no document was added.
//
// A table with a window needs the times of the documents, in Unix seconds, after a call of Advance
// with each. Without a window, times are ignored. Marked documents only count: they hold keys, but
// look-ups never name them. Their ids are empty. Without marks, no document only counts.
func (t *Table) Add(ids []string, data [][]byte, keys [][]uint64, times []uint32, marks []bool) (first uint32, err error) {
	if err := t.writable(); err != nil {
		return 0, err
	}
	switch {
	case len(data) != len(ids) || len(keys) != len(ids):
		return 0, fmt.Errorf("adding documents: %d ids, data of %d and keys of %d", len(ids), len(data), len(keys))
	case uint64(len(ids)) > math.MaxUint32-1-uint64(t.docs):
		return 0, fmt.Errorf("%s: the table is full: it has %d documents, including dead ones, and no numbers are left; begin another table, and query both together", t.path, t.docs)
	}
	t.version++
	by := t.spread
	if len(ids) < sharedDocs {
		by = memtable.Alone
	}
	// Every step that can fail comes before the first change.
	total := 0
	for _, k := range keys {
		total += len(k)
	}
	mem := t.spaces[ofKeys].mem
	if err := errors.Join(t.spaces[ofIDs].mem.Reserve(len(ids), by), mem.Reserve(total, by)); err != nil {
		return 0, err
	}
	if err := t.addTimes(len(ids), times); err != nil {
		return 0, fmt.Errorf("adding documents: %w", err)
	}
	first = t.docs + 1
	if err := errors.Join(mem.AddAll(keys, first, by), t.spaces[ofIDs].mem.AddAll(t.keysOfIDs(ids), first, by)); err != nil {
		return 0, err
	}
	for i, id := range ids {
		t.docs++
		if len(marks) > 0 && marks[i] {
			t.tombstones.counted.add(t.docs)
			t.tombstones.marked = appendNumber(t.tombstones.marked, t.docs, 0)
		}
		t.content = digest(t.content, t.recs.add(id, data[i]), t.wal.add(t.docs, keys[i]))
	}
	return first, nil
}

// sharedDocs is the smallest number of documents worth waking other goroutines for.
const sharedDocs = 8

// keysOfIDs returns one key for each id, none if it is empty. They are valid until the next call.
func (t *Table) keysOfIDs(ids []string) [][]uint64 {
	t.idHashes, t.idKeys = slices.Grow(t.idHashes[:0], len(ids)), t.idKeys[:0]
	for i, id := range ids {
		n := 0
		t.idHashes = append(t.idHashes, 0)
		if id != "" {
			t.idHashes[i], n = idKey(id), 1
		}
		t.idKeys = append(t.idKeys, t.idHashes[i:i+n])
	}
	return t.idKeys
}

// digest adds a document to a table's content digest; see docs/format.md, "The table record".
func digest(content uint64, record, keys []byte) uint64 {
	return xxh3.HashSeed(keys, xxh3.HashSeed(record, content))
}

// Full reports whether the owner should take a checkpoint before adding many more documents. It is
// true when keys in memory or unsaved keys reach their numbers in Options. Unsaved records of 16
// MiB, 262,144 unsaved tombstones, or a due slice have the same effect. It depends only on the
// documents added or taken back, and on when checkpoints were made.
func (t *Table) Full() bool {
	return t.db != nil && (t.memFull() || t.tombstones.win.due || t.wal.n >= t.opt.PendingKeys || t.recordBytes() >= pendingRecords || len(t.tombstones.fresh) >= mostFresh)
}

// Spare returns lower bounds for the keys, documents and bytes of records that fit before Full. A
// record takes its data, its id and 16 bytes. Nothing fits in a closed table.
func (t *Table) Spare() (keys, documents, records int) {
	if t.db == nil {
		return 0, 0, 0
	}
	keys = min(t.opt.MemtableKeys-t.spaces[ofKeys].mem.Len(), t.opt.PendingKeys-t.wal.n) - 1
	return keys, t.opt.MemtableKeys/4 - t.spaces[ofIDs].mem.Len(), pendingRecords - t.recordBytes() - 1
}

func (t *Table) recordBytes() int { return t.recs.size() + t.batches.removed.bytes }

// pendingRecords bounds the bytes of records that wait for a checkpoint. Ids may be long.
const pendingRecords = 16 << 20

// memFull also checks the ids. Tiny documents have as many ids as keys, and the table of ids must
// not grow as large as that of keys.
func (t *Table) memFull() bool {
	return t.spaces[ofKeys].mem.Len() >= t.opt.MemtableKeys || t.spaces[ofIDs].mem.Len() > t.opt.MemtableKeys/4
}

// pendingFull limits what opening replays and the file holds unsorted. Documents that replace others
// leave memory as it is.
func (t *Table) pendingFull() bool {
	return t.head.pending+uint64(t.wal.n) >= 4*uint64(t.opt.MemtableKeys)
}

// State returns the value that the last Checkpoint stored under a name, or nil. The caller owns it.
func (t *Table) State(name string) ([]byte, error) {
	if t.db == nil {
		return nil, errClosed
	}
	return bytes.Clone(t.state[name]), nil
}

// A Generation identifies a table and its state, for files derived from it. A copied or restored
// table has the same UUID, and may reach the same Sequence with other documents.
type Generation struct {
	UUID     [16]byte // of the table; never changes
	Sequence uint64   // number of checkpoints
	Content  uint64   // digest of all documents and keys, in order of arrival
}

// Generation returns the generation of the last checkpoint.
func (t *Table) Generation() Generation {
	return Generation{UUID: t.head.uuid, Sequence: t.head.seq, Content: t.head.content}
}

// Checkpoint makes everything added so far durable, in one transaction with the owner's values in
// state. Names missing from state keep their values; a nil value removes its name. Checkpoint also
// sorts a full memory table into a run, and then does a share of the merging. That may take some
// seconds; a crash meanwhile loses nothing.
//
// After an error, table and file are as before, and the checkpoint can be retried, with two
// exceptions. Errors of merging, or of removing dropped slices, come after the checkpoint; a later
// one resumes that work. After an error of the last write, or a panic, the state of the file is
// unknown. The table then fails until it is opened again, at that checkpoint or the one before.
func (t *Table) Checkpoint(state map[string][]byte) error {
	return t.commit("checkpoint of the table", func() error { return t.writeCheckpoint(state) })
}

// commit runs f, which writes transactions. If f panics, the table is unsure.
func (t *Table) commit(what string, f func() error) error {
	if err := t.writable(); err != nil {
		return wrap(err, "%s", what)
	}
	t.version++
	ended := false
	err := t.guarded(func() error {
		defer func() { t.unsure = t.unsure || !ended }()
		err := f()
		ended = true
		return err
	})
	return wrap(err, "%s", what)
}

func (t *Table) writeCheckpoint(state map[string][]byte) error {
	values, err := t.mergeState(state)
	if err != nil {
		return err
	}
	flush := t.flushes()
	if flush || t.tombstones.win.due || t.tombstones.win.drops() {
		if err := t.finishSteps(); err != nil {
			return err
		}
	}
	next := t.head
	next.seq++
	next.docs, next.content = t.docs, t.content
	if next.openBlock = 0; len(t.recs.open().ends) > 0 {
		next.openBlock = t.recs.open().first
	}
	all := t.rotate(&next)
	write := t.writePending
	switch {
	case all:
		next.flushed, next.chunks, next.pending = t.docs, 0, 0
		write = clearPending
	case flush && t.opt.Stepwise:
		write = func(c *change) {
			_ = t.stage(c, &c.head) // its errors are in c.err
			clearPending(c)
		}
	case flush:
		if err := t.stage(nil, &next); err != nil {
			return err
		}
		write = clearPending
	}
	mark := t.head.win.watermark()
	err = t.update(func(c *change) {
		c.head = next
		write(c)
		t.recs.write(c)
		t.tombstones.win.writeTimes(c, t.head.docs)
		t.writeTaken(c)
		t.putHeader(c, values)
	})
	if err != nil {
		return err
	}
	t.wal.bufs, t.wal.n = t.wal.bufs[:0], 0
	if flush { // otherwise the memtables are empty, or stay
		for i := range t.spaces {
			t.spaces[i].mem.Reset()
		}
	}
	t.rotated()
	dropped := t.head.win.watermark() > mark
	if !dropped && !flush {
		return nil
	}
	work := func() (err error) {
		if dropped {
			err = t.sweepSlices()
		}
		for i := range t.spaces {
			if flush && err == nil {
				err = t.mergeSpace(i)
			}
		}
		return err
	}
	if t.opt.Stepwise {
		t.steps.owed = append(t.steps.owed, work)
		return nil
	}
	return work()
}

// flushes reports whether the next checkpoint moves all pending keys to runs.
func (t *Table) flushes() bool {
	return t.head.flushed < t.docs && (t.memFull() || t.tombstones.win.due || t.pendingFull())
}

func (t *Table) mergeState(state map[string][]byte) (map[string][]byte, error) {
	values := maps.Clone(t.state)
	for name, v := range state {
		if len(name) > math.MaxUint16 || len(v) > math.MaxInt32 {
			return nil, fmt.Errorf("the value %.20q is too long", name)
		}
		if values[name] = bytes.Clone(v); v == nil {
			delete(values, name)
		}
	}
	return values, nil
}

func (t *Table) writePending(c *change) {
	next := &c.head
	for _, b := range t.wal.chunks(next.chunks, seedPending) {
		c.add(bucketPend, uint64(next.chunks), b)
		next.chunks++
	}
	next.pending += uint64(t.wal.n)
}

// stage writes the memory tables to new runs, which it adds to next. It writes bins in transactions
// of bounded size, into buckets that no record names until next is written. Writing them in c, the
// checkpoint's own transaction, takes two syncs of the disk instead of ten.
func (t *Table) stage(c *change, next *header) error {
	for i, s := range t.spaces {
		entries := uint64(s.mem.Len())
		r := t.sizes.newRun(runInfo{
			id: next.nextRun, log: sorted.LogFor(entries),
			first: next.flushed + 1, last: t.docs, high: math.MaxUint64,
		})
		next.nextRun++
		next.runs[i] = append(slices.Clip(next.runs[i]), r)
		from := &space{mem: s.mem, limit: s.limit, keep: t.keep(i, r.first, r.last)}
		if c != nil {
			c.renew(r)
			t.bins = nil // bbolt has the values of the other run until the commit
			t.writeBins(c, r, 0, r.Bins(), r.binBytes(entries, r.Bins()), math.MaxInt, from)
			continue
		}
		err := t.update(func(c *change) { c.renew(r) })
		if err == nil {
			err = t.fillRun(context.Background(), r, entries, from)
		}
		if err != nil {
			return err
		}
	}
	next.flushed = t.docs
	next.chunks, next.pending = 0, 0
	return nil
}

// renew empties the bucket of a run, because a failed checkpoint may have written bins.
func (c *change) renew(r *run) {
	c.drop(r.bucket())
	c.bucket(r.bucket())
}

// fillRun writes all bins of a run in transactions of bounded size. from has about entries entries.
func (t *Table) fillRun(ctx context.Context, r *run, entries uint64, from *space) error {
	perBin := r.binBytes(entries, r.Bins())
	for bin := uint64(0); bin < r.Bins(); {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := t.update(func(c *change) {
			bin = t.writeBins(c, r, bin, r.Bins(), perBin, t.mostValues(), from)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// writeBins writes bins of a run, about perBin bytes each, to its bucket. It begins with number
// bin, stops before end or after limit bytes, and returns the next number. from holds the entries.
func (t *Table) writeBins(c *change, r *run, bin, end, perBin uint64, limit int, from *space) uint64 {
	round := min(max(uint64(limit)/perBin, 1), roundBins)
	for used, bytes := 0, 0; bin < end && bytes < limit && c.err == nil; {
		n := int(min(round, end-bin))
		t.bins = slices.Grow(t.bins[:used], n)[:used+n]
		bins := t.bins[used:] // bbolt refers to the earlier ones until the commit
		if c.err = t.pack(r, bin, bins, from); c.err != nil {
			return bin
		}
		for i := range bins {
			c.add(r.bucket(), bin, bins[i].value)
			bytes += len(bins[i].value)
			r.entries += uint64(bins[i].n)
			r.Trust(bin)
			bin++
		}
		used += len(bins)
	}
	return bin
}

func clearPending(c *change) {
	c.drop(bucketPend)
	c.bucket(bucketPend)
}
