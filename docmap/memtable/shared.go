package memtable

import "math/bits"

// Several goroutines add at once by dividing the slots: each adds the keys with a home in its
// part, in the order of the documents. A search stops at the end of its part; its entry is
// added afterwards by one goroutine. So no slot has two owners, and the documents of a key
// stay in order.

// A Spread runs work on goroutines: Run calls f with 0 to Parts-1, at the same time or not, and
// returns when all calls have.
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

// AddAll adds documents first, first+1 and so on, each under its keys, as Add would one after the
// other.
func (m *Table) AddAll(docs [][]uint64, first uint32, by Spread) error {
	total := 0
	for _, keys := range docs {
		total += len(keys)
	}
	if err := m.Reserve(total, by); err != nil {
		return err
	}
	if by.Parts > 1 {
		m.divide(by, func(p *part) { p.addAll(docs, first) })
		return nil
	}
	for i, keys := range docs {
		m.addDoc(keys, first+uint32(i))
	}
	return nil
}

// Reserve makes room for n more entries, so that adding them cannot fail. The slots grow by
// exactly the factor growth until they are those for New's n entries, and then double.
func (m *Table) Reserve(n int, by Spread) error {
	if uint64(m.n+n)*4 <= m.slots*3 {
		return nil
	}
	slots := m.slots
	for uint64(m.n+n)*4 > slots*3 {
		if slots < m.most {
			slots *= growth
		} else {
			slots *= 2
		}
	}
	old := *m
	if err := m.alloc(slots); err != nil {
		return err
	}
	m.n = 0
	m.divide(by, func(p *part) { p.addTable(&old) })
	return old.Close()
}

// divide runs the work of each part, and then adds the leftovers.
func (m *Table) divide(by Spread, work func(*part)) {
	parts := make([]part, by.Parts)
	by.Run(by.Parts, func(i int) {
		n := uint64(by.Parts)
		p := part{table: m, from: m.slots / n * uint64(i), to: m.slots / n * uint64(i+1)}
		if i == by.Parts-1 {
			p.to = m.slots
		}
		work(&p)
		p.flush()
		parts[i] = p
	})
	for i := range parts {
		m.n += parts[i].n
	}
	for i := range parts {
		for _, e := range parts[i].left {
			m.insert(e.key, e.doc)
		}
	}
}

// A part is the slots that one goroutine adds to.
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

func (p *part) owns(home uint64) bool { return home-p.from < p.to-p.from }

func (p *part) addAll(docs [][]uint64, first uint32) {
	p.waiting = make([]entry, 0, together)
	for i, keys := range docs {
		for _, k := range keys {
			if p.owns(p.table.home(k)) {
				p.add(entry{k, first + uint32(i)})
			}
		}
	}
}

// addTable adds the part's entries of another table with fewer slots. The first slot with such a
// key is at or after the home of the least key; the last comes before an empty slot. Entries that
// a cluster at the end of the slots has put at their beginning come after all others, so that the
// documents of a key stay in order.
func (p *part) addTable(old *Table) {
	p.waiting = make([]entry, 0, together)
	scale := func(slot uint64) uint64 {
		hi, lo := bits.Mul64(slot, old.slots)
		q, _ := bits.Div64(hi, lo, p.table.slots)
		return q
	}
	i, end, round := scale(p.from), scale(p.to), false
	for {
		k, d := old.slot(i)
		if d == 0 && (round || i >= end) {
			return
		}
		if d != 0 && p.owns(p.table.home(k)) && round == (old.home(k) > i) {
			p.add(entry{k, d})
		}
		if i++; i == old.slots {
			if round {
				return
			}
			i, round = 0, true
		}
	}
}

func (p *part) add(e entry) {
	if p.waiting = append(p.waiting, e); len(p.waiting) == together {
		p.flush()
	}
}

func (p *part) flush() {
	m := p.table
	for i := range p.waiting {
		p.warm += m.mem[m.home(p.waiting[i].key)*slotBytes]
	}
	for _, e := range p.waiting {
		switch at, found := m.place(e.key, e.doc, p.to); found {
		case empty:
			m.put(at, e.key, e.doc)
			p.n++
		case border:
			p.left = append(p.left, e)
		}
	}
	p.waiting = p.waiting[:0]
}
