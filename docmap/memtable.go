package docmap

import (
	"encoding/binary"
	"math/bits"

	"github.com/firstseen/firstseen/internal/hugemem"
)

const (
	slotBytes = 12 // key, document; packed, as the table is read at random
	minSlots  = 1 << 12
)

// A memtable holds recent entries: a hash table that keeps the order of keys
// (an entry stands at or after the place its key has among all keys), so a
// range of keys is a range of slots. It lies outside the Go heap.
type memtable struct {
	mem   []byte
	slots uint64
	n     int  // entries
	limit int  // documents a key keeps
	full  int  // entries after which the owner empties it
	warm  byte // keeps the compiler from dropping loads made for the cache
}

func newMemtable(full, limit int) (*memtable, error) {
	m := &memtable{limit: limit, full: full}
	slots := slotsFor(full)
	for slots > minSlots {
		slots = (slots + 1) / 2
	}
	return m, m.alloc(slots)
}

// slotsFor returns the slots for n entries at a load of three quarters, where
// a search for an absent key ends after 8 slots, or 100 bytes. One in 32 more
// is for the document that fills the table.
func slotsFor(n int) uint64 { return (uint64(n)+uint64(n)/32)*4/3 + 1024 }

func (m *memtable) alloc(slots uint64) error {
	mem, err := hugemem.Alloc(int(slots) * slotBytes)
	if err != nil {
		return err
	}
	m.mem, m.slots = mem, slots
	return nil
}

func (m *memtable) close() error {
	mem := m.mem
	m.mem, m.slots, m.n = nil, 0, 0
	return hugemem.Free(mem)
}

// reset empties the table and keeps its memory.
func (m *memtable) reset() {
	clear(m.mem)
	m.n = 0
}

// home is the slot a key would have if nothing were in its way.
func (m *memtable) home(key uint64) uint64 {
	hi, _ := bits.Mul64(key, m.slots)
	return hi
}

func (m *memtable) slot(i uint64) (key uint64, doc uint32) {
	b := m.mem[i*slotBytes : i*slotBytes+slotBytes]
	return binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint32(b[8:])
}

// addAll adds a document's keys. A key given twice counts once. Documents must
// come in ascending order for lookups to give the earliest first.
func (m *memtable) addAll(keys []uint64, doc uint32) error {
	if err := m.reserve(len(keys)); err != nil {
		return err
	}
	m.touch(keys)
	for _, k := range keys {
		m.add(k, doc)
	}
	return nil
}

// touch loads the places of keys into the cache. The loads do not depend on
// each other, so their misses overlap; those of the searches would not.
func (m *memtable) touch(keys []uint64) {
	sum := byte(0)
	for _, k := range keys {
		sum += m.mem[m.home(k)*slotBytes]
	}
	m.warm = sum
}

func (m *memtable) add(key uint64, doc uint32) {
	i, same := m.home(key), 0
	for {
		k, d := m.slot(i)
		if d == 0 {
			break
		}
		if k == key {
			if same++; d == doc || same == m.limit {
				return
			}
		}
		if i++; i == m.slots {
			i = 0
		}
	}
	b := m.mem[i*slotBytes : i*slotBytes+slotBytes]
	binary.LittleEndian.PutUint64(b, key)
	binary.LittleEndian.PutUint32(b[8:], doc)
	m.n++
}

// reserve makes room for n more entries.
func (m *memtable) reserve(n int) error {
	if uint64(m.n+n)*4 <= m.slots*3 {
		return nil
	}
	slots := 2 * m.slots
	for uint64(m.n+n)*4 > slots*3 {
		slots += slots / 4
	}
	old := *m
	if err := m.alloc(slots); err != nil {
		return err
	}
	m.n = 0
	// From a slot that is empty, so that a cluster around the end of the
	// table comes in one piece and the documents of a key stay in order.
	start := uint64(0)
	for _, d := old.slot(start); d != 0; _, d = old.slot(start) {
		start++
	}
	m.addSlots(&old, start, old.slots)
	m.addSlots(&old, 0, start)
	return old.close()
}

func (m *memtable) addSlots(old *memtable, from, to uint64) {
	for i := from; i < to; i++ {
		if k, d := old.slot(i); d != 0 {
			m.add(k, d)
		}
	}
}

// find appends the documents of key to dst, up to its capacity.
func (m *memtable) find(dst []uint32, key uint64) []uint32 {
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

// collect appends the entries with keys in from..to, nearly in order.
func (m *memtable) collect(e *entries, from, to uint64) {
	last := m.home(to)
	i := m.home(from)
	for steps := uint64(0); steps < m.slots; steps++ {
		k, d := m.slot(i)
		if d == 0 && steps >= last-m.home(from) {
			break
		}
		if d != 0 && k >= from && k <= to {
			e.add(k, d)
		}
		if i++; i == m.slots {
			i = 0
		}
	}
}
