package docmap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/docmap/sorted"
)

// A Finding is one fault of a table.
type Finding struct {
	Part string // PartPages and so on
	What string
}

// The parts of a table. Only PartIDs can be rebuilt from another part, the documents.
const (
	PartPages   = "pages"             // bbolt's own structure
	PartKeys    = "keys"              // the runs of keys
	PartIDs     = "ids"               // the runs of document ids
	PartDocs    = "documents"         // records of documents
	PartPending = "pending keys"      // keys not in a run yet
	PartRemoved = "removed documents" // documents removed because of others
)

// Verify reads the whole file and returns all faults: inconsistent pages, wrong checksums,
// entries out of order or of missing documents, ids without a document, wrong counts. After a
// finding it continues with the next part, except after PartPages. It does not check memory. The
// error is the context's or another that is no fault of the file.
func (t *Table) Verify(ctx context.Context) ([]Finding, error) {
	v := &verifier{ctx: ctx, t: t}
	for _, part := range []struct {
		name  string
		check func(*snapshot) error
	}{
		{PartPages, func(*snapshot) error { return t.checkPages() }},
		{PartKeys, func(s *snapshot) error { return v.runs(s, ofKeys) }},
		{PartIDs, func(s *snapshot) error { return v.runs(s, ofIDs) }},
		{PartDocs, v.docs},
		{PartDocs, func(s *snapshot) error { _, err := readWindow(s.tx, &t.head); return err }},
		{PartPending, v.pending},
		{PartRemoved, v.removed},
	} {
		v.part = part.name
		err := t.protected(func() error {
			s, err := t.reading()
			if err != nil {
				return err
			}
			return part.check(s)
		})
		if err := v.note(err); err != nil {
			return v.found, fmt.Errorf("verifying the table: %w", annotate(t.path, err))
		}
		if part.name == PartPages && len(v.found) > 0 {
			break // bbolt could follow them forever
		}
	}
	return v.found, nil
}

type verifier struct {
	ctx   context.Context
	t     *Table
	part  string
	found []Finding

	matched map[uint32]uint64 // entries that match a document's id, by run
	gone    map[uint32]uint64 // dead documents without a record and so without an id, by run
}

// note records damage as a finding and returns any other error.
func (v *verifier) note(err error) error {
	if err = damaged(err); !errors.Is(err, ErrDamaged) {
		return err
	}
	v.add("%s", strings.TrimPrefix(err.Error(), ErrDamaged.Error()+": "))
	return nil
}

func (v *verifier) add(format string, args ...any) {
	v.found = append(v.found, Finding{v.part, fmt.Sprintf(format, args...)})
}

func (v *verifier) runs(s *snapshot, space int) error {
	for _, r := range v.t.spaces[space].runs {
		if err := v.note(v.run(s, r, space)); err != nil {
			return err
		}
	}
	return nil
}

// run reads all bins of a run and checks that they hold exactly the run's entries.
func (v *verifier) run(s *snapshot, r *run, space int) error {
	bucket := s.tx.Bucket(r.bucket())
	if bucket == nil {
		return damage("run %d is missing", r.id)
	}
	total := uint64(0)
	for bin := r.BinOf(r.low); bin <= r.BinOf(r.high); bin++ {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		r.prefetch(s, bin)
		var e sorted.Entries
		err := v.bin(s, r, bin, &e, space)
		if err := v.note(err); err != nil {
			return err
		}
		total += uint64(len(e.Keys))
	}
	if total != r.entries {
		v.add("run %d has %d entries, not %d", r.id, total, r.entries)
	}
	want := r.BinOf(r.high) - r.BinOf(r.low) + 1
	if bins := uint64(bucket.Stats().KeyN); bins != want {
		v.add("run %d has %d bins, not %d", r.id, bins, want)
	}
	return nil
}

// bin rereads a bin from the file. It checks the entries' order and their number for each key.
func (v *verifier) bin(s *snapshot, r *run, bin uint64, e *sorted.Entries, space int) error {
	_, value, err := r.value(s, bin)
	if err == nil {
		err = r.Read(e, bin, value)
	}
	if err != nil {
		e.Reset()
		return err
	}
	before := uint64(0)
	for key, docs := range e.Groups() {
		disorder := key < before
		before = key
		for i, d := range docs {
			if d < r.first || d > r.last {
				return damage("run %d has an entry of document %d", r.id, d)
			}
			disorder = disorder || i > 0 && (d < docs[i-1] || d == docs[i-1] && d != 0)
		}
		kept := min(len(docs), idLimit)
		if space == ofKeys {
			var room [MaxHolders]uint32
			kept, _ = v.t.tombstones.count(room[:0], docs)
		}
		if disorder || kept < len(docs) || docs[0] == 0 && len(docs) != MaxHolders {
			return damage("run %d is out of order at key %x", r.id, key)
		}
	}
	return nil
}

// docs reads all blocks of documents and looks up each id in the runs of ids.
func (v *verifier) docs(s *snapshot) error {
	v.matched, v.gone = make(map[uint32]uint64), make(map[uint32]uint64)
	next := v.t.head.win.watermark()
	whole := true
	for key, value := range entries(s.tx.Bucket(bucketDocs), binKey(uint64(next))) {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		block, err := decodeBlock(value, next)
		if string(key) != string(binKey(uint64(next))) {
			err = damage("the documents from %d on are missing", next)
		}
		if err == nil {
			next = block.next()
			err = v.ids(s, block)
		}
		whole = whole && err == nil
		if err := v.note(err); err != nil {
			return err
		}
	}
	if docs := v.t.head.docs; whole && next != docs+1 {
		v.add("the documents end at %d, not %d", next-1, docs)
		whole = false
	}
	if !whole {
		return nil
	}
	v.part = PartIDs // which has entries of documents only
	for _, r := range v.t.spaces[ofIDs].runs {
		if n := v.matched[r.id]; n > r.entries || n+v.gone[r.id] < r.entries {
			v.add("run %d has %d entries, and %d of them are ids of documents", r.id, r.entries, n)
		}
	}
	return nil
}

func (v *verifier) ids(s *snapshot, k *docBlock) error {
	found := make([]uint32, 0, idLimit)
	for i := range k.ends {
		num := k.first + uint32(i)
		rec := k.record(i)
		dead := v.t.tombstones.has(num)
		if len(rec) == 0 {
			if dead {
				v.noteGone(num)
				continue
			}
			return damage("the record of document %d is gone, but the document was not taken back", num)
		}
		id, _, err := splitRecord(rec, num)
		if err != nil || len(id) == 0 || num > v.t.head.flushed {
			continue // decodeBlock has reported it, or the document is not in a run
		}
		key := idKey(string(id))
		for _, r := range v.t.spaces[ofIDs].runs {
			if num < r.first || num > r.last || !r.holds(key) {
				continue
			}
			if found, err = r.find(s, found[:0], key); err != nil {
				return err
			}
			_, ok := slices.BinarySearch(found, num)
			switch {
			case ok:
				v.matched[r.id]++
			case !dead && (len(found) < idLimit || found[idLimit-1] > num):
				return damage("the id of document %d is not in the index of ids", num)
			}
		}
	}
	return nil
}

func (v *verifier) noteGone(num uint32) {
	for _, r := range v.t.spaces[ofIDs].runs {
		if r.first <= num && num <= r.last {
			v.gone[r.id]++
		}
	}
}

func (v *verifier) pending(s *snapshot) error {
	head, pend := &v.t.head, s.tx.Bucket(bucketPend)
	err := v.note(head.replayPending(pend, func(uint32, []uint64) error { return nil }))
	if err != nil {
		return err
	}
	if n := pend.Stats().KeyN; uint64(n) != uint64(head.chunks) {
		v.add("%d chunks of pending keys, not %d", n, head.chunks)
	}
	return nil
}

func (v *verifier) removed(s *snapshot) error {
	for key, value := range entries(s.tx.Bucket(bucketRemoved), nil) {
		list, err := removedChunk(key, value)
		if err != nil {
			return err
		}
		for _, r := range list {
			if r.Of == 0 || r.Of > v.t.head.docs {
				v.add("%q was removed because of document %d of %d", r.ID, r.Of, v.t.head.docs)
			}
		}
	}
	return nil
}
