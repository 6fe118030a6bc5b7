// Package memtable holds pairs of a 64-bit key and a document in memory, outside the Go heap. It is
// a hash table in key order, so it finds the documents of a key, and the entries of a key range
// without sorting.
//
//	t, err := memtable.New(n, 8)
//	err = t.AddAll(docs, first, memtable.Alone) // the keys of each document
//	docs = t.Find(docs[:0], key)
//	keys, docs = t.Collect(keys[:0], docs[:0], from, to)
//	err = t.Close()
//
// A key keeps its earliest documents, in order, up to the limit given to New. Keys must be uniform
// hashes: with others, time depends on their clustering.
package memtable

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/firstseen/firstseen/internal/base/hugemem"
)

const (
	perBucket  = 5 // entries that fit in a cache line
	minBuckets = 1 << 10
	// growth is the factor by which a table grows up to the size for New's n entries. Growing moves
	// every entry; doubling took twice as long as all other work on the first million.
	growth = 4
)

// A bucket is a cache line. An entry beyond the fifth goes to the next bucket.
type bucket struct {
	keys [perBucket]uint64
	docs [perBucket]uint32
	n    uint8
	// touched has no meaning. Storing to it loads the line; see together.
	touched uint8
}

// A Table holds entries, each in or after its key's bucket in the key space. So a key range is a
// range of buckets. It is for one goroutine; Collect and Find may run on several while nothing is
// added.
type Table struct {
	mem     []byte
	buckets []bucket // in mem
	n       int      // entries
	most    int      // buckets for New's n entries
	limit   int      // documents kept for a key
	parts   []part   // buffer of AddAll

	// Gone, if not nil, reports whether document held no longer counts when doc arrives. A key may
	// then keep more documents. Spare gets the documents of a key with such ones, ascending. It
	// returns the position of one that doc may replace, len(docs) for none, and -1 if the key needs
	// no further document. Both are called concurrently. They are set together.
	Gone  func(held, doc uint32) bool
	Spare func(docs []uint32, doc uint32) int
}

// New returns a table that keeps limit documents per key. One step of its growth ends at n entries.
func New(n, limit int) (*Table, error) {
	m := &Table{limit: limit, most: bucketsFor(n)}
	buckets := m.most
	for buckets > minBuckets {
		buckets = (buckets + growth - 1) / growth
	}
	return m, m.alloc(buckets)
}

// bucketsFor returns the buckets for n entries at a load of four fifths. A search for an absent key
// then ends after 1.4 buckets. A spare 1/32 is for the document that fills the table.
func bucketsFor(n int) int { return (n+n/32)/(perBucket-1) + 256 }

func (m *Table) alloc(buckets int) error {
	mem, err := hugemem.Alloc(buckets * int(unsafe.Sizeof(bucket{})))
	if err != nil {
		return err
	}
	m.mem, m.buckets = mem, unsafe.Slice((*bucket)(unsafe.Pointer(unsafe.SliceData(mem))), buckets)
	return nil
}

// Close frees the memory. The table must not be used afterwards.
func (m *Table) Close() error {
	mem := m.mem
	m.mem, m.buckets, m.n = nil, nil, 0
	return hugemem.Free(mem)
}

// Reset empties the table and keeps its memory.
func (m *Table) Reset() {
	clear(m.mem)
	m.n = 0
}

// home returns a key's bucket.
func (m *Table) home(key uint64) int {
	hi, _ := bits.Mul64(key, uint64(len(m.buckets)))
	return int(hi)
}

// next returns the bucket after i. The first one follows the last.
func (m *Table) next(i int) int {
	if i++; i == len(m.buckets) {
		return 0
	}
	return i
}

// Reserve allocates buckets for n more entries, so that adding them cannot fail. They grow by
// exactly the factor growth up to the size for New's n entries, and then double. Behind a bucket
// with room begins a range whose entries move to places of no others, so ranges move in parallel.
func (m *Table) Reserve(n int, by Spread) error {
	buckets := len(m.buckets)
	for m.n+n > buckets*(perBucket-1) {
		if buckets < m.most {
			buckets *= growth
		} else {
			buckets *= 2
		}
	}
	if buckets == len(m.buckets) {
		return nil
	}
	old := *m
	if err := m.alloc(buckets); err != nil {
		return err
	}
	size := len(old.buckets)
	begin := func(part int) int { // behind the first bucket with room from the part's first one on
		i := part * size / by.Parts
		for old.buckets[i%size].n == perBucket {
			i++
		}
		return i + 1
	}
	by.Run(by.Parts, func(part int) {
		for i, end := begin(part), begin(part+1); i < end; i++ {
			b := &old.buckets[i%size]
			for j, key := range b.keys[:b.n] {
				m.put(m.free(key), key, b.docs[j])
			}
		}
	})
	return old.Close()
}

// Touch loads the buckets of keys into the cache. Unlike those of searches, the loads are
// independent, so their misses overlap. A use of the result keeps the compiler from dropping them.
func (m *Table) Touch(keys []uint64) (warm byte) {
	for _, k := range keys {
		warm += byte(m.buckets[m.home(k)].n)
	}
	return warm
}

// free returns the first bucket with room from a key's home on.
func (m *Table) free(key uint64) int {
	i := m.home(key)
	for m.buckets[i].n == perBucket {
		i = m.next(i)
	}
	return i
}

// The results of place.
const (
	empty  = iota // the bucket has room for the entry
	stale         // likewise, but the key has documents that are gone
	enough        // the entry is there, or its key has limit documents
	border        // neither, up to end
)

// place searches for the bucket of an entry, from its home to end.
func (m *Table) place(key uint64, doc uint32, end int) (at, found int) {
	i, same := m.home(key), 0
	for {
		b := &m.buckets[i]
		if b.mayHold(key) {
			for j, k := range b.keys[:b.n] {
				d := b.docs[j]
				if k != key {
					continue
				}
				if m.Gone != nil && m.Gone(d, doc) {
					found = stale
				} else {
					same++
				}
				if d == doc || same == m.limit {
					return i, enough
				}
			}
		}
		if b.n < perBucket {
			return i, found
		}
		if i++; i == end {
			return i, border
		}
		if i == len(m.buckets) {
			i = 0
		}
	}
}

// mayHold reports whether a bucket holds a key, or did so before Reset. Most keys are new: none of its
// branches is taken then. A loop that ends after n entries mispredicts its end.
func (b *bucket) mayHold(key uint64) bool {
	k := &b.keys
	return k[0] == key || k[1] == key || k[2] == key || k[3] == key || k[4] == key
}

// fill stores an entry by the result of place, and returns by how many entries the table grew. In
// place of a spare document of the key, it grows by none: every later document of the key moves up.
// Otherwise the versions of one page would make a chain of buckets that each of them walks.
func (m *Table) fill(at, found int, key uint64, doc uint32) (n int) {
	if found == stale {
		buckets := (at-m.home(key)+len(m.buckets))%len(m.buckets) + 1
		docs := m.Find(make([]uint32, 0, buckets*perBucket), key)
		switch spare := m.Spare(docs, doc); {
		case spare < 0:
			return 0
		case spare < len(docs):
			m.replace(key, append(slices.Delete(docs, spare, spare+1), doc))
			return 0
		}
	}
	if found <= stale {
		m.put(at, key, doc)
		return 1
	}
	return 0
}

// replace overwrites the documents of a key, as many as there are.
func (m *Table) replace(key uint64, docs []uint32) {
	for i := m.home(key); len(docs) > 0; i = m.next(i) {
		b := &m.buckets[i]
		for j, k := range b.keys[:b.n] {
			if k == key {
				b.docs[j], docs = docs[0], docs[1:]
			}
		}
	}
}

func (m *Table) put(at int, key uint64, doc uint32) {
	b := &m.buckets[at]
	b.keys[b.n], b.docs[b.n] = key, doc
	b.n++
}

// Find appends the documents of key to dst, up to its capacity.
func (m *Table) Find(dst []uint32, key uint64) []uint32 {
	for i := m.home(key); ; i = m.next(i) {
		b := &m.buckets[i]
		if b.mayHold(key) {
			for j, k := range b.keys[:b.n] {
				if k == key && len(dst) < cap(dst) {
					dst = append(dst, b.docs[j])
				}
			}
		}
		if b.n < perBucket || len(dst) == cap(dst) {
			return dst
		}
	}
}

// Collect appends the entries with keys in from..to to keys and docs, nearly in order.
func (m *Table) Collect(keys []uint64, docs []uint32, from, to uint64) ([]uint64, []uint32) {
	i := m.home(from)
	last := m.home(to) - i
	for step := range m.buckets {
		b := &m.buckets[i]
		for j, k := range b.keys[:b.n] {
			if k >= from && k <= to {
				keys, docs = append(keys, k), append(docs, b.docs[j])
			}
		}
		if b.n < perBucket && step >= last {
			break
		}
		i = m.next(i)
	}
	return keys, docs
}

// Len returns the number of entries.
func (m *Table) Len() int { return m.n }

// Bytes returns the size of the table's memory.
func (m *Table) Bytes() int { return len(m.mem) }
