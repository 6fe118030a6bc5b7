package docmap

import (
	"bytes"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/firstseen/firstseen/docmap/memtable"
	"github.com/firstseen/firstseen/docmap/sorted"
)

// A snapshot is a read transaction. Bin addresses are valid only while one is open: a commit,
// during which none is open, may make bbolt remap the file.
type snapshot struct {
	tx   *bbolt.Tx
	docs *bbolt.Cursor
}

// A reader holds one goroutine's snapshot and buffers. A Table embeds one; Share makes others.
type reader struct {
	table   *Table
	read    *snapshot // opened on demand, held until the next write transaction
	blocks  [lookupGroup]located
	warm    byte     // keeps the compiler from dropping prefetching loads
	copies  []byte   // returned by Records
	entries []uint32 // of one key, see all
	build   sorted.Builder
}

// Share prepares the table for concurrent look-ups by n goroutines, until its next change. Each
// goroutine uses its own reader, numbered from 0. Add does its work through run, which calls f with
// 0 to tasks-1, concurrently or not, and returns when all calls have.
func (t *Table) Share(n int, run func(tasks int, f func(task int))) error {
	t.sharing(n)
	t.spread = memtable.Spread{Parts: n, Run: run}
	return t.look(nothing) // drops bin addresses of an earlier mapping
}

func (t *Table) sharing(n int) []*reader {
	for len(t.shared) < n {
		t.shared = append(t.shared, &reader{table: t})
	}
	return t.shared[:n]
}

// An Asker is a reader prepared by Share. Results of Records are valid until the next such call.
type Asker = interface {
	Lookup(keys []uint64, holders []uint32, n []uint8) error
	Records(nums []uint32, ids, data [][]byte) error
}

// Asker returns the reader of that number.
func (t *Table) Asker(reader int) Asker { return t.shared[reader] }

func (r *reader) reading() (*snapshot, error) {
	t := r.table
	switch {
	case t.db == nil:
		return nil, errClosed
	case t.unsure:
		return nil, errUnsure
	case r.read != nil:
		return r.read, nil
	}
	tx, err := t.db.Begin(false)
	if err != nil {
		return nil, err
	}
	s := &snapshot{tx: tx}
	if docs := tx.Bucket(bucketDocs); docs != nil {
		s.docs = docs.Cursor()
	}
	if r == &t.reader {
		t.mapped(s)
	}
	r.read = s
	return s, nil
}

// mapped records the mapping that a snapshot reads. Runs forget bins of an earlier mapping.
func (t *Table) mapped(s *snapshot) {
	t.used = s.tx.Size()
	at := t.db.Info().Data
	if at != t.mapping {
		for i := range t.spaces {
			for _, r := range t.spaces[i].runs {
				r.Forget()
			}
		}
	}
	t.mapping = at
}

func (r *reader) look(f func(s *snapshot) error) error {
	return r.table.guarded(func() error {
		s, err := r.reading()
		if err != nil {
			return err
		}
		return f(s)
	})
}

func nothing(*snapshot) error { return nil }

func (r *reader) stop() error {
	s := r.read
	r.read = nil
	if s == nil {
		return nil
	}
	return s.tx.Rollback()
}

// Lookup finds the documents that hold each key; keys may be in any order. It stores the earliest
// MaxHolders documents of keys[i], ascending, in holders[i*MaxHolders:][:n[i]]. Leading zeros
// replace holders of a common key that were taken back. Counted replaces a document that only
// counts. If fewer are returned and MaxHolders once held the key, Lookup adds ClosedKey to n[i]: a
// document added now would be no holder. Per key, holders needs MaxHolders elements and n one.
func (r *reader) Lookup(keys []uint64, holders []uint32, n []uint8) error {
	if len(n) < len(keys) || len(holders) < len(keys)*keyLimit {
		return fmt.Errorf("looking %d keys up: room for %d counts and %d documents only", len(keys), len(n), len(holders))
	}
	err := r.look(func(s *snapshot) error { return r.find(s, keys, holders, n) })
	return wrap(err, "looking keys up")
}

// Records stores the ids and data of documents in ids and data, which must be as long as nums. The
// copies are valid until the next call of Records. A number without a live document gives ErrNoDoc.
func (r *reader) Records(nums []uint32, ids, data [][]byte) error {
	if len(ids) < len(nums) || len(data) < len(nums) {
		return fmt.Errorf("reading %d documents: room for %d ids and %d data only", len(nums), len(ids), len(data))
	}
	r.copies = r.copies[:0]
	var at uint32
	err := r.look(func(*snapshot) error {
		for i, num := range nums {
			at = num
			id, d, err := r.doc(num)
			if err != nil {
				return err
			}
			ids[i], data[i] = r.copied(id), r.copied(d)
		}
		return nil
	})
	return wrap(err, "reading document %d", at)
}

// copied returns a copy of mapped bytes. A disk error while reading them is caught here; in a
// caller's code it would look like a bug.
func (r *reader) copied(b []byte) []byte {
	at := len(r.copies)
	r.copies = append(r.copies, b...)
	return r.copies[at:len(r.copies):len(r.copies)]
}

// doc returns bytes of the mapped file or of memory, valid while the snapshot is open.
func (r *reader) doc(num uint32) (id, data []byte, err error) {
	if r.table.tombstones.has(num) {
		return nil, nil, ErrNoDoc
	}
	rec, err := r.record(num)
	if err != nil {
		return nil, nil, err
	}
	return splitRecord(rec, num)
}

// record returns a document's record, even if the document was taken back.
func (r *reader) record(num uint32) ([]byte, error) {
	t := r.table
	if num == 0 || num > t.docs {
		return nil, ErrNoDoc
	}
	if num >= t.recs.blocks[0].first {
		return t.recs.record(num), nil
	}
	want := binKey(uint64(num))
	k, v := r.read.docs.Seek(want)
	if string(k) != string(want) {
		if k == nil {
			k, v = r.read.docs.Last()
		} else {
			k, v = r.read.docs.Prev()
		}
	}
	if k == nil {
		return nil, damage("document %d is missing", num)
	}
	return blockRecord(v, num)
}

// Documents returns the number of documents, which is also the last document's number.
func (t *Table) Documents() uint32 { return t.docs }

// MaxHolders is the number of documents kept for a key, the earliest. A key with all is common.
const MaxHolders = keyLimit

// ClosedKey is added to the number of holders of a key that accepts no more; see Lookup.
const ClosedKey = 1 << 7

// lookupGroup is the number of keys searched together: the cache must hold two lines for each.
const lookupGroup = 256

// A question is a group of keys on their way through the runs.
type question struct {
	keys    []uint64
	holders []uint32 // keyLimit for each key
	n       []uint8
}

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

type located struct {
	sorted.Place
	key int
}

// search looks keys up in one run in three passes: locate, load, search. The places are scattered
// over the file, each on a page missing from the TLB. In a loop of loads alone, the processor
// overlaps the misses. One key after the other took 470 ns each.
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

// Doc returns a document by a call of Records. A number without a live document gives ErrNoDoc.
func (t *Table) Doc(num uint32) (Doc, error) {
	var id, data [1][]byte
	err := t.Records([]uint32{num}, id[:], data[:])
	return Doc{string(id[0]), bytes.Clone(data[0])}, err
}

// ByID returns the first 1024 documents with an id, ascending. The empty id is not indexed.
func (t *Table) ByID(id string) ([]uint32, error) {
	nums, more, err := t.byID(id)
	if err == nil && more && len(nums) == 0 { // all indexed documents were taken back
		nums, err = t.AllByID(id)
		nums = nums[:min(len(nums), idLimit)]
	}
	return nums, err
}

// AllByID is ByID without a limit. It reads all documents if the index of ids may lack some.
func (t *Table) AllByID(id string) ([]uint32, error) {
	nums, more, err := t.byID(id)
	if err != nil || !more {
		return nums, err
	}
	nums = nums[:0]
	for doc, err := range t.Docs(1) {
		if err != nil {
			return nil, err
		}
		if doc.ID == id {
			nums = append(nums, doc.Num)
		}
	}
	return nums, nil
}

// byID implements ByID. more reports that the index of ids may lack documents of the id.
func (t *Table) byID(id string) (nums []uint32, more bool, err error) {
	err = t.look(func(s *snapshot) error {
		if id == "" {
			return nil
		}
		found, err := t.all(s, ofIDs, idKey(id))
		if err != nil {
			return err
		}
		more = len(found) >= idLimit // in one run or in several
		for _, num := range t.tombstones.liveOnly(found) {
			if len(nums) == idLimit {
				break
			}
			got, _, err := t.doc(num)
			if errors.Is(err, ErrNoDoc) {
				return damage("the id %q belongs to document %d of %d", id, num, t.docs)
			}
			if err != nil {
				return err
			}
			if string(got) == id { // and not another with the same hash
				nums = append(nums, num)
			}
		}
		return nil
	})
	return nums, more, wrap(err, "looking the id %q up", id)
}
