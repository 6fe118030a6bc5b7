package docmap

import (
	"bytes"
	"errors"

	"github.com/firstseen/firstseen/docmap/sorted"
)

// MaxHolders is the number of documents that a key keeps: the earliest. A key with so many is
// common.
const MaxHolders = keyLimit

// Lookup finds the documents that hold each of keys, in any order of keys. Those of keys[i] are
// returned in holders[i*MaxHolders:][:n[i]]: the earliest MaxHolders, ascending. If some holders
// of a common key were taken back, zeros stand for them, in front. Counted stands for a document
// that only counts. holders must have MaxHolders places for each key, and n one.
func (t *Table) Lookup(keys []uint64, holders []uint32, n []uint8) error {
	return t.own.Lookup(keys, holders, n)
}

// lookupGroup is the number of keys searched for at a time: the cache must hold two lines of
// each.
const lookupGroup = 256

// A question is a group of keys on their way through the runs.
type question struct {
	keys    []uint64
	holders []uint32 // keyLimit for each key
	n       []uint8
}

// room returns the place for more documents of key i.
func (q *question) room(i int) []uint32 {
	return q.holders[i*keyLimit : i*keyLimit+int(q.n[i]) : i*keyLimit+keyLimit]
}

func (r *reader) find(s *snapshot, keys []uint64, holders []uint32, n []uint8) error {
	clear(n[:len(keys)])
	mem := r.table.spaces[ofKeys].mem
	for from := 0; from < len(keys); from += lookupGroup {
		to := min(from+lookupGroup, len(keys))
		q := question{keys[from:to], holders[from*keyLimit : to*keyLimit], n[from:to]}
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

// located is the place in a run to search for one of the keys.
type located struct {
	sorted.Place
	key int
}

// search looks keys up in one run, in three passes: find the places, load them all, search each.
// The places are scattered over the file, each in a page missing from the TLB. While a loop only
// loads, the processor waits for many places at a time. One key after the other took 470 ns each.
func (r *reader) search(s *snapshot, in *run, q *question) error {
	blocks := r.blocks[:0]
	for i, k := range q.keys {
		if in.holds(k) && q.n[i] < keyLimit {
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

// Records returns the ids and the data of documents in ids and data, which must be as long as
// nums. They are copies, valid until the next call of Records. The error is ErrNoDoc for a number
// that no document has.
func (t *Table) Records(nums []uint32, ids, data [][]byte) error {
	return t.own.Records(nums, ids, data)
}

// Doc returns a document, whether it is in the file yet or not. The error is ErrNoDoc for a
// number that no document has.
func (t *Table) Doc(num uint32) (d Doc, err error) {
	err = t.own.look(func(*snapshot) error {
		d, err = t.docCopy(num)
		return err
	})
	return d, wrap(err, "reading document %d", num)
}

func (t *Table) docCopy(num uint32) (Doc, error) {
	id, data, err := t.own.doc(num)
	return Doc{string(id), bytes.Clone(data)}, err
}

// ByID returns the numbers of the documents with an id, ascending, at most the first 1024. The
// empty id is not indexed.
func (t *Table) ByID(id string) (nums []uint32, err error) {
	err = t.own.look(func(s *snapshot) error {
		nums, err = t.findID(s, id)
		return err
	})
	return nums, wrap(err, "looking the id %q up", id)
}

func (t *Table) findID(s *snapshot, id string) ([]uint32, error) {
	if id == "" {
		return nil, nil
	}
	found, err := t.own.all(s, ofIDs, idKey(id))
	if err != nil {
		return nil, err
	}
	var nums []uint32
	for _, num := range t.tombstones.liveOnly(found) {
		if len(nums) == idLimit {
			break
		}
		got, _, err := t.own.doc(num)
		if errors.Is(err, ErrNoDoc) {
			return nil, damage("the id %q belongs to document %d of %d", id, num, t.docs)
		}
		if err != nil {
			return nil, err
		}
		if string(got) == id { // and not another with the same hash
			nums = append(nums, num)
		}
	}
	return nums, nil
}
