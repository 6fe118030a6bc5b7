package docmap

// A look-up goes from keys to the documents that hold them. It searches each run in three passes
// over a group of keys: locate, load, search. The places are scattered over the file, each on a page
// missing from the TLB. In a loop of loads alone, the processor overlaps the misses. One key after
// the other took 470 ns each.

import (
	"fmt"

	"github.com/firstseen/firstseen/docmap/sorted"
)

// Lookup finds the documents that hold each key; keys may be in any order. It stores the earliest
// MaxHolders documents of keys[i], ascending, in holders[i*MaxHolders:][:n[i]]. Leading zeros
// replace holders of a common key that were taken back. Counted replaces a document that only
// counts. If fewer are returned and MaxHolders once held the key, Lookup adds ClosedKey to n[i]: a
// document added now would be no holder. Per key, holders needs MaxHolders elements and n one.
func (r *reader) Lookup(keys []uint64, holders []uint32, n []uint8) error {
	if len(n) < len(keys) || len(holders) < len(keys)*MaxHolders {
		return fmt.Errorf("looking %d keys up: room for %d counts and %d documents only", len(keys), len(n), len(holders))
	}
	err := r.look(func(s *snapshot) error { return r.find(s, keys, holders, n) })
	return wrap(err, "looking keys up")
}

// MaxHolders is the number of documents kept for a key, the earliest: dedup.MaxHolders. A key with all
// is common.
const MaxHolders = 8

// ClosedKey is added to the number of holders of a key that accepts no more; see Lookup.
const ClosedKey = 1 << 7

// lookupGroup is the number of keys searched together: the cache must hold two lines for each.
const lookupGroup = 256

// A question is a group of keys on their way through the runs.
type question struct {
	keys    []uint64
	holders []uint32 // MaxHolders for each key
	n       []uint8
}

func (q *question) room(i int) []uint32 {
	return q.holders[i*MaxHolders : i*MaxHolders+int(q.n[i]) : i*MaxHolders+MaxHolders]
}

func (r *reader) find(s *snapshot, keys []uint64, holders []uint32, n []uint8) error {
	clear(n[:len(keys)])
	mem := r.table.spaces[ofKeys].mem
	for from := 0; from < len(keys); from += lookupGroup {
		to := min(from+lookupGroup, len(keys))
		q := question{keys[from:to], holders[from*MaxHolders : to*MaxHolders], n[from:to]}
		for _, run := range r.table.spaces[ofKeys].runs {
			if err := r.search(s, run, &q); err != nil {
				return err
			}
		}
		r.warm = mem.Touch(q.keys)
		for i, k := range q.keys {
			q.n[i] = uint8(len(mem.Find(q.room(i), k)))
		}
		if r.table.tombstones.unnamed() {
			if err := r.leaveOutDead(s, &q); err != nil {
				return err
			}
		}
	}
	return nil
}

type located struct {
	sorted.Place
	key int
}

// search looks keys up in one run.
func (r *reader) search(s *snapshot, in *run, q *question) error {
	blocks := r.blocks[:0]
	for i, k := range q.keys {
		if in.holds(k) && q.n[i] < MaxHolders {
			blocks = append(blocks, located{in.Locate(k), i})
		}
	}
	warm := byte(0)
	for i := range blocks {
		warm += blocks[i].Touch()
	}
	r.warm = warm
	for i := range blocks {
		l := &blocks[i]
		k, docs := q.keys[l.key], q.room(l.key)
		if l.Known() {
			docs = in.Search(docs, &l.Place, k)
		} else {
			var err error
			if docs, err = in.find(s, docs, k); err != nil {
				return err
			}
		}
		q.n[l.key] = uint8(len(docs))
	}
	return nil
}
