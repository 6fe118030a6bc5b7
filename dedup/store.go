package dedup

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/firstseen/firstseen/internal/base/fields"
)

// The numbers in the results of a look-up in a [Store].
const (
	// MaxHolders is the maximum number of documents that a store names for a key: the earliest. A
	// key with that many is common, and no evidence. The side table has the same limit, in docmap.
	MaxHolders = 8
	// Counted stands for a document that only counts.
	Counted = math.MaxUint32
	// ClosedKey means that no later document is a holder of the key, because MaxHolders held it at
	// one time.
	ClosedKey = 1 << 7
)

// A Store keeps the kept documents: the side table. It does not interpret them: a document is an
// id, opaque data, and 64-bit keys. Documents are numbered from 1, without gaps, in the order of
// Add.
//
// The methods work on batches, so a store on a network is asked once for many. They use builtin
// types, so a store needs no import of ours. They fill slices of the caller, so queries allocate
// nothing. docs/extend.md, "Add a store", has the whole contract, and TestTableIsAStore checks it.
//
// A store that can be closed also has the method Closed() bool; a [Deduper] then refuses to
// continue. A Store is used by one goroutine at a time.
type Store interface {
	Asker
	// Add stores documents under all their keys and returns the number of the first. A key repeated
	// in a document counts once. Lookup and Records find the documents at once. The store keeps
	// none of the slices, which have equal lengths. After an error none of the documents is stored.
	//
	// times has the Document.Time of each, for stores that use it. The marked documents only count:
	// Lookup returns Counted in place of each (docs/design.md, rule 5). They have numbers like
	// others, and empty ids. times and marks may be nil.
	Add(ids []string, data [][]byte, keys [][]uint64, times []uint32, marks []bool) (first uint32, err error)
}

// An Asker is the part of a store needed for decisions. It is an alias, so that a store can use it
// without importing this package.
type Asker = interface {
	// Lookup finds exactly the documents that hold each key, or the earliest MaxHolders. The
	// holders of keys[i] are holders[i*MaxHolders:][:n[i]], ascending. holders has MaxHolders
	// places for each key, and n has one. A store that can take documents back no longer names
	// them. For a key that stays common it fills up to MaxHolders with leading zeros. For a closed
	// key that is not common it adds ClosedKey to n[i] (docs/design.md, rule 11).
	Lookup(keys []uint64, holders []uint32, n []uint8) error
	// Records sets ids and data, as long as nums, to the id and data of each document. The contents
	// are read-only and valid until the next call of Records. Unknown numbers are errors.
	Records(nums []uint32, ids, data [][]byte) error
}

// A SharedStore is a Store for concurrent queries, as [Deduper.DecideAll] requires.
type SharedStore interface {
	Store
	// Share prepares for n readers, numbered from 0, until the store next changes. Add may use run,
	// too. run calls f with 0 to tasks-1, possibly concurrently, and waits for all calls.
	Share(n int, run func(tasks int, f func(task int))) error
	// Asker returns one of these readers. Different readers may be used concurrently. The results
	// of Records are valid until its next call by that reader.
	Asker(reader int) Asker
	// Documents returns the number of documents, which is also the last number.
	Documents() uint32
	// Live reports whether a document can be named: not if it was taken back or only counts.
	Live(num uint32) bool
}

// answers has the answers to a look-up. It is reusable.
type answers struct {
	asked   []int // positions of the keys looked up
	keys    []uint64
	holders []uint32
	n       []uint8
}

func (p *answers) lookup(s Asker, keys []uint64) error {
	p.n = slices.Grow(p.n[:0], len(keys))[:len(keys)]
	p.holders = slices.Grow(p.holders[:0], len(keys)*MaxHolders)[:len(keys)*MaxHolders]
	return s.Lookup(keys, p.holders, p.n)
}

// lookupSeen looks up the keys that were seen.
func (p *answers) lookupSeen(s Asker, keys []uint64, seen []bool) error {
	p.asked, p.keys = p.asked[:0], p.keys[:0]
	for i, key := range keys {
		if seen[i] {
			p.asked, p.keys = append(p.asked, i), append(p.keys, key)
		}
	}
	return p.lookup(s, p.keys)
}

// of returns the documents that hold the i-th key.
func (p *answers) of(i int) []uint32 { return p.holders[i*MaxHolders:][:p.n[i]&^ClosedKey] }

// records has documents read from a store. It is reusable.
type records struct {
	nums []uint32
	ids  [][]byte
	data [][]byte
	all  []Record
}

// read reads the documents r.nums.
func (r *records) read(s Asker) error {
	n := len(r.nums)
	r.all = r.all[:0]
	if n == 0 {
		return nil
	}
	r.ids, r.data = slices.Grow(r.ids[:0], n)[:n], slices.Grow(r.data[:0], n)[:n]
	if err := s.Records(r.nums, r.ids, r.data); err != nil {
		return err
	}
	r.all = slices.Grow(r.all, n)[:n]
	for i, data := range r.data {
		if err := r.all[i].Parse(data); err != nil {
			return damaged(r.nums[i], err)
		}
	}
	return nil
}

// damaged adds the document's number to the error of an unreadable record.
func damaged(num uint32, err error) error {
	return fmt.Errorf("document %d: %w", num, err)
}

// A Record is the data that a [Store] keeps of a document besides its id and keys: see
// docs/format.md, "Data of a document".
type Record struct {
	Verdict Verdict // under which it was kept
	Time    int64   // of arrival, Unix seconds
	Added   []byte  // the fields of Document.Added
	Sketch  []byte  // the method's data for judging by
}

// Append appends the record to b.
func (r *Record) Append(b []byte) []byte {
	b = append(b, recordVersion, byte(r.Verdict))
	b = binary.AppendVarint(b, r.Time)
	b = binary.AppendUvarint(b, uint64(len(r.Added)))
	b = append(b, r.Added...)
	return append(b, r.Sketch...)
}

const recordVersion = 1

// Parse reads all of b, written by Append. Added and Sketch alias b. After an error the record is
// zero.
func (r *Record) Parse(b []byte) error {
	in := fields.Reader{Rest: b}
	version := in.Byte()
	*r = Record{Verdict: Verdict(in.Byte()), Time: in.Varint(), Added: in.Bytes()}
	r.Sketch = in.Rest
	if in.Short || version != recordVersion {
		*r = Record{}
		return fields.ErrShort
	}
	return nil
}

// Field finds a field in Added by its tag. ok reports whether it exists.
func (r *Record) Field(tag byte) (value []byte, ok bool, err error) { return fields.Find(r.Added, tag) }
