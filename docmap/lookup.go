package docmap

import (
	"bytes"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/firstseen/firstseen/docmap/memtable"
	"github.com/firstseen/firstseen/docmap/sorted"
)

// A snapshot is a read transaction. Addresses of bins are valid only while one is open, because
// bbolt then does not map the file anew. A write transaction may, when it commits; no snapshot is
// open at that time.
type snapshot struct {
	tx   *bbolt.Tx
	docs *bbolt.Cursor
}

// A reader holds what one goroutine needs for look-ups: a snapshot and reused memory. A Table
// is one itself; Share makes others.
type reader struct {
	table   *Table
	read    *snapshot // held between transactions that write, opened when needed
	blocks  [lookupGroup]located
	warm    byte     // keeps the compiler from dropping loads made for the cache
	copies  []byte   // returned by Records
	entries []uint32 // of one key, see all
	build   sorted.Builder
}

// Share prepares the table for n goroutines that look up at once, until the table is next
// changed. Each uses a reader of its own, numbered from 0. Add uses run for its work: run calls f
// with 0 to tasks-1, at the same time or not, and returns when all calls have.
func (t *Table) Share(n int, run func(tasks int, f func(task int))) error {
	t.sharing(n)
	t.spread = memtable.Spread{Parts: n, Run: run}
	return t.look(nothing) // forgets the addresses of an earlier mapping
}

func (t *Table) sharing(n int) []*reader {
	for len(t.shared) < n {
		t.shared = append(t.shared, &reader{table: t})
	}
	return t.shared[:n]
}

// An Asker is one of the readers of Share. The results of its Records are valid until its next call.
type Asker = interface {
	Lookup(keys []uint64, holders []uint32, n []uint8) error
	Records(nums []uint32, ids, data [][]byte) error
}

// Asker returns one of the readers of Share.
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

// mapped notes the mapping of the file that a snapshot reads. Runs forget the places in another.
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

// Lookup finds the documents that hold each of keys, in any order of keys. Those of keys[i] are
// returned in holders[i*MaxHolders:][:n[i]]: the earliest MaxHolders, ascending. If some holders
// of a common key were taken back, zeros stand for them, in front. Counted stands for a document
// that only counts. n[i] is larger by ClosedKey if fewer are returned and a document added now
// would be no holder: MaxHolders held the key at one time. holders must have MaxHolders places for
// each key, and n one.
func (r *reader) Lookup(keys []uint64, holders []uint32, n []uint8) error {
	if len(n) < len(keys) || len(holders) < len(keys)*keyLimit {
		return fmt.Errorf("looking %d keys up: room for %d counts and %d documents only", len(keys), len(n), len(holders))
	}
	err := r.look(func(s *snapshot) error { return r.find(s, keys, holders, n) })
	return wrap(err, "looking keys up")
}

// Records returns the ids and the data of documents in ids and data, which must be as long as
// nums. They are copies, valid until the next call of Records. The error is ErrNoDoc for a number
// that no document has.
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

// copied returns a copy of bytes of the mapped file. A disk error in reading them is caught here;
// in a caller's code it would look like a fault of the program.
func (r *reader) copied(b []byte) []byte {
	at := len(r.copies)
	r.copies = append(r.copies, b...)
	return r.copies[at:len(r.copies):len(r.copies)]
}

// doc returns parts of the mapped file, valid while the snapshot lasts.
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

// record returns the record of a stored document, even if that was taken back.
func (r *reader) record(num uint32) ([]byte, error) {
	t := r.table
	if num == 0 || num > t.docs {
		return nil, ErrNoDoc
	}
	if num >= t.recs.first() {
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

// Documents returns the number of documents, which is also the number of the last.
func (t *Table) Documents() uint32 { return t.docs }

// MaxHolders is the number of documents that a key keeps: the earliest. A key with so many is
// common.
const MaxHolders = keyLimit

// ClosedKey is added to the number of holders of a key that gets no others.
const ClosedKey = 1 << 7

// lookupGroup is the number of keys searched for at a time: the cache must hold two lines of
// each.
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

// Doc returns a document, whether it is in the file yet or not. The error is ErrNoDoc for a
// number that no document has. It is a call of Records.
func (t *Table) Doc(num uint32) (Doc, error) {
	var id, data [1][]byte
	err := t.Records([]uint32{num}, id[:], data[:])
	return Doc{string(id[0]), bytes.Clone(data[0])}, err
}

// ByID returns the numbers of the documents with an id, ascending, at most the first 1024. The
// empty id is not indexed.
func (t *Table) ByID(id string) ([]uint32, error) {
	nums, more, err := t.byID(id)
	if err == nil && more && len(nums) == 0 { // all that the index of ids has were taken back
		nums, err = t.AllByID(id)
		nums = nums[:min(len(nums), idLimit)]
	}
	return nums, err
}

// AllByID is ByID without a limit. If the index of ids may have left out documents of the id, it reads all
// documents.
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

// byID returns what ByID does. more reports that the index of ids may have left out documents of the id.
func (t *Table) byID(id string) (nums []uint32, more bool, err error) {
	err = t.look(func(s *snapshot) error {
		if id == "" {
			return nil
		}
		found, err := t.all(s, ofIDs, idKey(id))
		if err != nil {
			return err
		}
		more = len(found) >= idLimit // of one run or of several
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
