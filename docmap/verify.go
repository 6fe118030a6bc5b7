package docmap

import (
	"context"
	"fmt"

	"go.etcd.io/bbolt"
)

// Verify reads the whole file and checks every checksum, every count, the
// order of the entries and their document numbers. It returns the first
// damage it finds, or the context's error.
func (t *Table) Verify(ctx context.Context) error {
	err := t.guarded(func() error {
		tx, err := t.reading()
		if err != nil {
			return err
		}
		for i := range t.spaces {
			for _, r := range t.spaces[i].runs {
				if err := r.verify(ctx, tx, t.spaces[i].build.limit); err != nil {
					return err
				}
			}
		}
		if err := t.verifyDocs(ctx, tx); err != nil {
			return err
		}
		return t.verifyPending(tx)
	})
	if err != nil {
		return fmt.Errorf("verifying the table: %w", err)
	}
	return nil
}

// verify reads all bins that hold entries of the run.
func (r *run) verify(ctx context.Context, tx *bbolt.Tx, limit int) error {
	var e entries
	total := uint64(0)
	for bin := r.binOf(r.low); bin <= r.binOf(r.high); bin++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.prefetch(tx, bin)
		v, err := r.view(tx, bin)
		if err != nil {
			return err
		}
		if err := v.verify(); err != nil {
			return err
		}
		e.reset()
		for i := range v.subs() {
			v.appendBlock(&e, i, v.lowest(bin))
		}
		if err := r.verifyEntries(&e, limit); err != nil {
			return err
		}
		total += uint64(len(e.keys))
	}
	if total != r.entries {
		return damage("run %d has %d entries, not %d", r.id, total, r.entries)
	}
	return nil
}

func (r *run) verifyEntries(e *entries, limit int) error {
	same := 0
	for i, k := range e.keys {
		if d := e.docs[i]; d < r.first || d > r.last {
			return damage("run %d has an entry of document %d", r.id, d)
		}
		same++
		if i > 0 && k != e.keys[i-1] || i == 0 {
			same = 1
		}
		disorder := i > 0 && (k < e.keys[i-1] || k == e.keys[i-1] && e.docs[i] <= e.docs[i-1])
		if disorder || same > limit {
			return damage("run %d is out of order at key %x", r.id, k)
		}
	}
	return nil
}

// verifyDocs reads all blocks of documents.
func (t *Table) verifyDocs(ctx context.Context, tx *bbolt.Tx) error {
	next := uint32(1)
	c := tx.Bucket(bucketDocs).Cursor()
	for key, value := c.First(); key != nil; key, value = c.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if string(key) != string(binKey(uint64(next))) {
			return damage("the documents from %d on are missing", next)
		}
		k, err := decodeBlock(value, next)
		if err != nil {
			return err
		}
		next = k.next()
	}
	if next != t.head.docs+1 {
		return damage("the documents end at %d, not %d", next-1, t.head.docs)
	}
	return nil
}

// verifyPending reads the pending keys once more.
func (t *Table) verifyPending(tx *bbolt.Tx) error {
	pend := tx.Bucket(bucketPend)
	next, total := t.head.flushed+1, uint64(0)
	var keys []uint64
	for chunk := range t.head.chunks {
		var err error
		next, keys, err = replayChunk(pend.Get(binKey(uint64(chunk))), chunk, next, keys,
			func(_ uint32, keys []uint64) error {
				total += uint64(len(keys))
				return nil
			})
		if err != nil {
			return err
		}
	}
	if next != t.head.docs+1 || total != t.head.pending {
		return damage("pending keys end at document %d of %d", next-1, t.head.docs)
	}
	return nil
}
