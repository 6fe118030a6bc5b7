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
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/firstseen/firstseen/internal/base/hugemem"
)

const (
	slotBytes = 12 // key, document; packed, because the table is read at random
	minSlots  = 1 << 12
	// growth is the factor by which a table grows up to the size for New's n entries. Growing moves
	// every entry; doubling took twice as long as all other work on the first million.
	growth = 4
)

// A Table holds entries, each at or after its key's place in the key space. So a key range is a
// slot range. It is for one goroutine; Collect and Find may run on several while nothing is added.
type Table struct {
	mem   []byte
	slots uint64
	n     int    // entries
	most  uint64 // slots for New's n entries
	limit int    // documents kept for a key
	warm  byte   // see Touch

	// Gone, if not nil, reports whether document held no longer counts when doc arrives. A key may
	// then keep more documents. Spare gets the documents of a key with such ones, ascending. It
	// returns the position of one that doc may replace, len(docs) for none, and -1 if the key needs
	// no further document. Both are called concurrently. They are set together.
	Gone  func(held, doc uint32) bool
	Spare func(docs []uint32, doc uint32) int
}

// New returns a table that keeps limit documents per key. One step of its growth ends at n entries.
func New(n, limit int) (*Table, error) {
	m := &Table{limit: limit, most: slotsFor(n)}
	slots := m.most
	for slots > minSlots {
		slots = (slots + growth - 1) / growth
	}
	return m, m.alloc(slots)
}

// slotsFor returns the slots for n entries at a load of three quarters. A search for an absent key
// then ends after 8 slots, or 100 bytes. A spare 1/32 is for the document that fills the table.
func slotsFor(n int) uint64 { return (uint64(n)+uint64(n)/32)*4/3 + 1024 }

func (m *Table) alloc(slots uint64) error {
	mem, err := hugemem.Alloc(int(slots) * slotBytes)
	if err != nil {
		return err
	}
	m.mem, m.slots = mem, slots
	return nil
}

// Close frees the memory. The table must not be used afterwards.
func (m *Table) Close() error {
	mem := m.mem
	m.mem, m.slots, m.n = nil, 0, 0
	return hugemem.Free(mem)
}

// Reset empties the table and keeps its memory.
func (m *Table) Reset() {
	clear(m.mem)
	m.n = 0
}

// home returns the slot of a key in an empty table.
func (m *Table) home(key uint64) uint64 {
	hi, _ := bits.Mul64(key, m.slots)
	return hi
}

func (m *Table) slot(i uint64) (key uint64, doc uint32) {
	b := m.mem[i*slotBytes : i*slotBytes+slotBytes]
	return binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint32(b[8:])
}

// AddAll adds documents first, first+1 and so on, each under its keys. Numbers begin with 1 and
// must ascend. A repeated key counts once.
func (m *Table) AddAll(docs [][]uint64, first uint32, by Spread) error {
	total := 0
	for _, keys := range docs {
		total += len(keys)
	}
	if err := m.Reserve(total, by); err != nil {
		return err
	}
	if by.Parts > 1 {
		m.addShared(docs, first, by)
		return nil
	}
	for i, keys := range docs {
		m.warm = m.Touch(keys)
		for _, k := range keys {
			m.n += m.insert(k, first+uint32(i))
		}
	}
	return nil
}

// Reserve allocates slots for n more entries, so that adding them cannot fail. The slots grow by
// exactly the factor growth up to the size for New's n entries, and then double. Behind an empty slot
// begins a range whose entries move to places of no others, so the ranges move in parallel.
func (m *Table) Reserve(n int, by Spread) error {
	slots := m.slots
	for uint64(m.n+n)*4 > slots*3 {
		if slots < m.most {
			slots *= growth
		} else {
			slots *= 2
		}
	}
	if slots == m.slots {
		return nil
	}
	old := *m
	if err := m.alloc(slots); err != nil {
		return err
	}
	begin := func(part int) uint64 { // behind the first empty slot from the part's first one on
		i := uint64(part) * old.slots / uint64(by.Parts)
		for _, doc := old.slot(i % old.slots); doc != 0; _, doc = old.slot(i % old.slots) {
			i++
		}
		return i + 1
	}
	by.Run(by.Parts, func(part int) {
		for i, end := begin(part), begin(part+1); i < end; i++ {
			if key, doc := old.slot(i % old.slots); doc != 0 {
				m.put(m.free(key), key, doc)
			}
		}
	})
	return old.Close()
}

// Touch loads the slots of keys into the cache. Unlike those of searches, the loads are
// independent, so their misses overlap. A use of the result keeps the compiler from dropping them.
func (m *Table) Touch(keys []uint64) (warm byte) {
	for _, k := range keys {
		warm += m.mem[m.home(k)*slotBytes]
	}
	return warm
}

// free returns the first empty slot from a key's home on.
func (m *Table) free(key uint64) uint64 {
	i := m.home(key)
	for _, doc := m.slot(i); doc != 0; _, doc = m.slot(i) {
		if i++; i == m.slots {
			i = 0
		}
	}
	return i
}

// insert adds an entry that AddAll was given, and returns by how many entries the table grew.
func (m *Table) insert(key uint64, doc uint32) (n int) {
	at, found := m.place(key, doc, math.MaxUint64)
	return m.fill(at, found, key, doc)
}

// The results of place.
const (
	empty  = iota // the free slot for the entry
	stale         // likewise, but the key has documents that are gone
	enough        // the entry is there, or its key has limit documents
	border        // neither, up to end
)

// place searches for the slot of an entry, from its home to end.
func (m *Table) place(key uint64, doc uint32, end uint64) (at uint64, found int) {
	i, same := m.home(key), 0
	for {
		k, d := m.slot(i)
		if d == 0 {
			return i, found
		}
		if k == key {
			if m.Gone != nil && m.Gone(d, doc) {
				found = stale
			} else {
				same++
			}
			if d == doc || same == m.limit {
				return i, enough
			}
		}
		if i++; i == end {
			return i, border
		}
		if i == m.slots {
			i = 0
		}
	}
}

// fill stores an entry by the result of place, and returns by how many entries the table grew. In
// place of a spare document of the key, it grows by none: every later document of the key moves up.
// Otherwise the versions of one page would make a chain of slots that each of them walks.
func (m *Table) fill(at uint64, found int, key uint64, doc uint32) (n int) {
	if found == stale {
		docs := m.Find(make([]uint32, 0, (at+m.slots-m.home(key))%m.slots), key)
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
	for i := m.home(key); len(docs) > 0; {
		if k, _ := m.slot(i); k == key {
			m.put(i, key, docs[0])
			docs = docs[1:]
		}
		if i++; i == m.slots {
			i = 0
		}
	}
}

func (m *Table) put(at, key uint64, doc uint32) {
	b := m.mem[at*slotBytes : at*slotBytes+slotBytes]
	binary.LittleEndian.PutUint64(b, key)
	binary.LittleEndian.PutUint32(b[8:], doc)
}

// Find appends the documents of key to dst, up to its capacity.
func (m *Table) Find(dst []uint32, key uint64) []uint32 {
	for i := m.home(key); len(dst) < cap(dst); {
		k, d := m.slot(i)
		if d == 0 {
			break
		}
		if k == key {
			dst = append(dst, d)
		}
		if i++; i == m.slots {
			i = 0
		}
	}
	return dst
}

// Collect appends the entries with keys in from..to to keys and docs, nearly in order.
func (m *Table) Collect(keys []uint64, docs []uint32, from, to uint64) ([]uint64, []uint32) {
	last := m.home(to)
	i := m.home(from)
	for steps := uint64(0); steps < m.slots; steps++ {
		k, d := m.slot(i)
		if d == 0 && steps >= last-m.home(from) {
			break
		}
		if d != 0 && k >= from && k <= to {
			keys, docs = append(keys, k), append(docs, d)
		}
		if i++; i == m.slots {
			i = 0
		}
	}
	return keys, docs
}

// Len returns the number of entries.
func (m *Table) Len() int { return m.n }

// Bytes returns the size of the table's memory.
func (m *Table) Bytes() int { return len(m.mem) }

// Several goroutines add concurrently: each adds the keys at home in its part of the slots, in
// document order. A search stops at the end of its part, and one goroutine adds its entry
// afterwards. So each slot has one owner, and the documents of a key stay in order.

// A Spread runs work on goroutines: Run calls f with 0 to n-1, concurrently or not, and returns
// when all calls have.
type Spread struct {
	Parts int
	Run   func(n int, f func(part int))
}

// Alone does the work on the calling goroutine.
var Alone = Spread{1, func(n int, f func(part int)) {
	for i := range n {
		f(i)
	}
}}

func (m *Table) addShared(docs [][]uint64, first uint32, by Spread) {
	parts := make([]part, by.Parts)
	by.Run(by.Parts, func(i int) {
		n := uint64(by.Parts)
		p := part{table: m, from: m.slots / n * uint64(i), to: m.slots / n * uint64(i+1)}
		if i == by.Parts-1 {
			p.to = m.slots
		}
		p.addAll(docs, first)
		parts[i] = p
	})
	for i := range parts {
		m.n += parts[i].n
	}
	for i := range parts {
		for _, e := range parts[i].left {
			m.n += m.insert(e.key, e.doc)
		}
	}
}

// A part is a range of slots that a single goroutine fills.
type part struct {
	table    *Table
	from, to uint64
	n        int     // entries added
	left     []entry // entries whose search left the part
	waiting  []entry // entries whose slots are loaded together
	warm     byte    // see Touch
}

type entry struct {
	key uint64
	doc uint32
}

// together is the number of searches whose cache misses overlap.
const together = 64

func (p *part) addAll(docs [][]uint64, first uint32) {
	p.waiting = make([]entry, 0, together)
	for i, keys := range docs {
		for _, k := range keys {
			if p.table.home(k)-p.from >= p.to-p.from {
				continue // another part's
			}
			p.waiting = append(p.waiting, entry{k, first + uint32(i)})
			if len(p.waiting) == together {
				p.flush()
			}
		}
	}
	p.flush()
}

func (p *part) flush() {
	m := p.table
	for i := range p.waiting {
		p.warm += m.mem[m.home(p.waiting[i].key)*slotBytes]
	}
	for _, e := range p.waiting {
		at, found := m.place(e.key, e.doc, p.to)
		if found == border {
			p.left = append(p.left, e)
		}
		p.n += m.fill(at, found, e.key, e.doc)
	}
	p.waiting = p.waiting[:0]
}
