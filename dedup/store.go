package dedup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/firstseen/firstseen/internal/fields"
)

// MaxHolders is how many documents a [Store] names of those that hold a key: the
// earliest. A key that has so many is common, and no evidence.
const MaxHolders = 8

// A Store keeps the kept documents: the side table. It knows nothing of texts: a
// document is an id, some data it does not look into, and 64-bit keys. Documents
// are numbered from 1, in the order in which they are added, without gaps.
//
// All is in batches and in builtin types, so that a store needs to import nothing
// of ours and one on a network is asked once for many. The slices are the caller's,
// to be filled: asking allocates nothing. docs/extend.md, "Add a store", has the
// whole contract, and package storetest holds a store to it.
//
// A store that can be closed also has the method Closed() bool; a [Deduper] then
// refuses to go on. It is used by one goroutine at a time.
type Store interface {
	Asker
	// Add stores documents under all their keys and returns the number of the
	// first. A key that stands twice in a document counts once. Lookup and Records
	// know them at once. The store keeps none of the slices, which have equal
	// lengths. After an error none of the documents is stored.
	//
	// times are Document.Time of each, for a store that cares. The marked documents only
	// count: Lookup returns Counted in the place of each (docs/design.md, rule 6). They have
	// numbers like others, and empty ids. Either slice may be nil.
	Add(ids []string, data [][]byte, keys [][]uint64, times []uint32, marks []bool) (first uint32, err error)
}

// An Asker is the part of a store that a decision needs. It is an alias, so that a store can have it
// without importing this package.
type Asker = interface {
	// Lookup finds exactly the documents that hold each key. If more than MaxHolders hold a key, it
	// finds the earliest of them. Those of keys[i] are holders[i*MaxHolders:][:n[i]], ascending.
	// holders has MaxHolders places for each key, n one. A store that can take documents back no
	// longer names those taken back. For a key that is common all the same it puts zeros in front,
	// for MaxHolders in all. For one that is closed and not common it adds ClosedKey to n[i]
	// (docs/design.md, rule 15).
	Lookup(keys []uint64, holders []uint32, n []uint8) error
	// Records fills ids and data, which are as long as nums, with the id and the data of each
	// document. The contents are valid until the next call of Records, and must not be changed. A
	// number never given out is an error.
	Records(nums []uint32, ids, data [][]byte) error
}

// Counted stands in the results of a look-up for a document that only counts.
const Counted = math.MaxUint32

// ClosedKey in the results of a look-up means that no later document is a holder of the key: MaxHolders
// held it at one time.
const ClosedKey = 1 << 7

// A SharedStore is a Store that several goroutines can ask at once, which is what
// [Deduper.DecideAll] needs.
type SharedStore interface {
	Store
	// Share prepares for n readers, numbered from 0, until the store is next changed,
	// and lets Add use them: run calls f with 0 to tasks-1, at the same time or not,
	// and returns when all calls have.
	Share(n int, run func(tasks int, f func(task int))) error
	// Asker returns one of these readers. Different ones may be asked at the same time. What Records
	// brings is valid until its next call by that reader.
	Asker(reader int) Asker
	// Documents is how many there are, and the number of the last.
	Documents() uint32
	// Live reports whether a document can be named. One that was taken back cannot, nor one
	// that only counts.
	Live(num uint32) bool
}

// answers are those to a look-up. They are used again and again.
type answers struct {
	asked   []int // positions of the keys looked up
	keys    []uint64
	holders []uint32
	n       []uint8
}

// lookup asks the store for keys.
func (p *answers) lookup(s Asker, keys []uint64) error {
	p.n = slices.Grow(p.n[:0], len(keys))[:len(keys)]
	p.holders = slices.Grow(p.holders[:0], len(keys)*MaxHolders)[:len(keys)*MaxHolders]
	return s.Lookup(keys, p.holders, p.n)
}

// lookupSeen asks the store for the keys that were seen.
func (p *answers) lookupSeen(s Asker, keys []uint64, seen []bool) error {
	p.asked, p.keys = p.asked[:0], p.keys[:0]
	for i, key := range keys {
		if seen[i] {
			p.asked, p.keys = append(p.asked, i), append(p.keys, key)
		}
	}
	return p.lookup(s, p.keys)
}

// of are the documents that hold the i-th key.
func (p *answers) of(i int) []uint32 { return p.holders[i*MaxHolders:][:p.n[i]&^ClosedKey] }

// records are documents read from a store. They are used again and again.
type records struct {
	nums []uint32
	ids  [][]byte
	data [][]byte
	all  []Record
}

// read asks the store for the documents r.nums.
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
	for i, data := range r.data {
		record, err := ParseRecord(data)
		if err != nil {
			return damaged(r.nums[i], err)
		}
		r.all = append(r.all, record)
	}
	return nil
}

// damaged names the document with the unreadable record.
func damaged(num uint32, err error) error {
	return fmt.Errorf("document %d: %w", num, err)
}

// A Record is the data a [Store] keeps of a document beside its id and its keys: see
// docs/format.md, "Data of a document".
type Record struct {
	Verdict Verdict // by which it was kept
	Time    int64   // of arrival, Unix seconds
	Added   []byte  // fields, as AppendField writes them
	Sketch  []byte  // the method's data for judging by
}

var errRecord = errors.New("the data of a document is not what was stored: the store is damaged, or another program's")

// Append appends the data to b.
func (r *Record) Append(b []byte) []byte {
	b = append(b, recordVersion, byte(r.Verdict))
	b = binary.AppendVarint(b, r.Time)
	b = binary.AppendUvarint(b, uint64(len(r.Added)))
	b = append(b, r.Added...)
	return append(b, r.Sketch...)
}

const recordVersion = 1

// ParseRecord reads what Append has written, all of b, which Added and Sketch then are parts of.
func ParseRecord(b []byte) (Record, error) {
	in := fields.Reader{Rest: b}
	version := in.Byte()
	r := Record{Verdict: Verdict(in.Byte()), Time: in.Varint(), Added: in.Bytes()}
	r.Sketch = in.Rest
	if in.Short || version != recordVersion {
		return Record{}, errRecord
	}
	return r, nil
}

// A Tag identifies a field of [Record.Added]: see docs/format.md, "Data of a document".
type Tag byte

// AppendField appends a field to those of a document, which stand in the order of their
// tags, each at most once.
func AppendField(added []byte, tag Tag, value []byte) []byte {
	added = append(added, byte(tag))
	added = binary.AppendUvarint(added, uint64(len(value)))
	return append(added, value...)
}

// Field finds a field in Added. It passes over the others, including unknown ones. ok is false if
// there is none.
func (r *Record) Field(tag Tag) (value []byte, ok bool, err error) {
	for in := (fields.Reader{Rest: r.Added}); len(in.Rest) > 0; {
		at, value := Tag(in.Byte()), in.Bytes()
		if in.Short {
			return nil, false, errRecord
		}
		if at == tag {
			return value, true, nil
		}
	}
	return nil, false, nil
}
