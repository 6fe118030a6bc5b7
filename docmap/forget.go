package docmap

import (
	"errors"
	"fmt"
)

// mostFresh is the number of documents taken back that wait for a checkpoint.
const mostFresh = 1 << 18

// Forget takes documents back: from now on look-ups and ByID do not name them. The next
// Checkpoint or SaveForgotten makes that durable. Documents taken back before are skipped; n is
// the number of live ones. If a number belongs to no document, the error is ErrNoDoc and nothing
// is done.
func (t *Table) Forget(nums []uint32) (n int, err error) {
	if err := t.writable(); err != nil {
		return 0, fmt.Errorf("forgetting documents: %w", err)
	}
	for _, num := range nums {
		if num == 0 || num > t.docs {
			return 0, fmt.Errorf("forgetting document %d: %w", num, ErrNoDoc)
		}
	}
	t.version++
	for _, num := range nums {
		if t.tombstones.gone(num) {
			continue
		}
		t.tombstones.forget(num, t.docs)
		if !t.tombstones.counted.which.has(num) {
			n++
		}
	}
	t.watchTombstones()
	return n, nil
}

// Recall undoes Forget for documents if that is not durable yet.
func (t *Table) Recall(nums []uint32) {
	t.version++
	for _, num := range nums {
		t.tombstones.recall(num)
	}
}

// Live reports whether a document was added and not taken back.
func (t *Table) Live(num uint32) bool { return num > 0 && num <= t.docs && !t.tombstones.has(num) }

func (t *Table) writable() error {
	switch {
	case t.db == nil:
		return errClosed
	case t.opt.ReadOnly:
		return errReadOnly
	case t.unsure:
		return errUnsure
	}
	return nil
}

// watchTombstones makes the memory tables count live documents only.
func (t *Table) watchTombstones() {
	if t.tombstones.any() {
		for i := range t.spaces {
			t.spaces[i].mem.Gone = t.tombstones.goneBefore
		}
	}
}

// SaveForgotten makes Forget and EndBatch durable, in one transaction. The table's generation
// stays, because a filter derived from it still holds all keys it must. Documents in no
// checkpoint are an error. After an error it can be tried again, with the exceptions of
// Checkpoint.
func (t *Table) SaveForgotten() error {
	return t.commit("forgetting documents", func() error {
		if t.docs != t.head.docs {
			return errors.New("there are documents in no checkpoint yet")
		}
		next := t.head
		err := t.update(func(c *change) {
			t.writeTaken(c, &next)
			c.putHeader(&next, nil)
		})
		if err == nil {
			t.head = next
			t.takenSaved()
		}
		return err
	})
}

// writeTaken stores the documents taken back or only counted, and the batches.
func (t *Table) writeTaken(c *change, next *header) {
	deadList.write(c, t.tombstones.unsaved(), next)
	countedList.write(c, t.tombstones.counted.fresh, next)
	t.batches.write(c, next)
}

// takenSaved follows the transaction.
func (t *Table) takenSaved() {
	t.tombstones.saved(t.tombstones.unsaved())
	t.tombstones.counted.fresh = nil
	t.batches.saved()
}
