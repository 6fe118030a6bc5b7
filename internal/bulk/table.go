package bulk

import (
	"errors"
	"math"
	"slices"

	"github.com/firstseen/firstseen/dedup"
)

// table is a [dedup.CountingStore] in memory. It holds documents under their marked keys only, and
// documents without any not at all. Each key has a list of its documents, the last one first.
type table struct {
	marked   []uint64  // keys of the document under decision
	heads    *keyTable // the last posting of a key, from 1
	postings []posting
	docs     []uint64 // where the entry of each document begins
	arena    arena
}

type posting struct {
	document uint32 // from 1; its highest bit says that it only counts
	before   uint32
}

const (
	countedBit  = 1 << 31
	maxPostings = math.MaxUint32
)

var errTable = errors.New("the marked keys of these documents do not fit into one decision: leave out the marks of keys with many documents, see docs/howto.md")

func newTable() *table { return &table{heads: newKeyTable()} }

// bytes is about how much memory the table takes.
func (t *table) bytes() int64 {
	return t.heads.bytes() + int64(cap(t.postings))*8 + int64(cap(t.docs))*8 + t.arena.bytes()
}

// Add implements [dedup.Store].
func (t *table) Add(ids []string, data [][]byte, keys [][]uint64) (uint32, error) {
	return t.AddCounted(ids, data, keys, nil, nil)
}

// AddCounted implements [dedup.CountingStore].
func (t *table) AddCounted(ids []string, data [][]byte, keys [][]uint64, _ []uint32, marks []bool) (uint32, error) {
	first := uint32(len(t.docs)) + 1
	for i := range ids {
		if len(t.docs)+1 >= countedBit || len(t.postings)+len(t.marked) >= maxPostings {
			return 0, errTable
		}
		num := uint32(len(t.docs)) + 1
		t.docs = append(t.docs, t.arena.add(ids[i], data[i]))
		if len(marks) > 0 && marks[i] {
			num |= countedBit
		}
		for _, key := range keys[i] {
			if slices.Contains(t.marked, key) {
				t.hold(key, num)
			}
		}
	}
	return first, nil
}

// hold adds a document to the list of a key, unless it is there or the key is common.
func (t *table) hold(key uint64, num uint32) {
	head, n := t.heads.get(key), 0
	for at := head; at != 0; at = t.postings[at-1].before {
		if n++; n == dedup.MaxHolders || t.postings[at-1].document == num {
			return
		}
	}
	t.postings = append(t.postings, posting{num, head})
	t.heads.put(key, uint32(len(t.postings)))
}

// Lookup implements [dedup.Store].
func (t *table) Lookup(keys []uint64, holders []uint32, n []uint8) error {
	for i, key := range keys {
		n[i] = 0
		if !slices.Contains(t.marked, key) {
			continue
		}
		found := holders[i*dedup.MaxHolders:][:0]
		for at := t.heads.get(key); at != 0; at = t.postings[at-1].before {
			num := t.postings[at-1].document
			if num&countedBit != 0 {
				num = dedup.Counted
			}
			found = append(found, num)
		}
		slices.Reverse(found)
		n[i] = uint8(len(found))
	}
	return nil
}

// Records implements [dedup.Store].
func (t *table) Records(nums []uint32, ids, data [][]byte) error {
	for i, num := range nums {
		if num == 0 || int(num) > len(t.docs) {
			return errRecord
		}
		ids[i], data[i] = t.arena.at(t.docs[num-1])
	}
	return nil
}
