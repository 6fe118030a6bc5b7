package memtable

import (
	"math"
	"slices"
)

// Several goroutines add concurrently: each adds the keys at home in its part of the buckets, in
// document order. A search stops at the end of its part, and one goroutine adds its entry
// afterwards. So each bucket has one owner, and the documents of a key stay in order.

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
	parts := slices.Grow(m.parts[:0], by.Parts)[:by.Parts]
	n := len(m.buckets)
	for i := range parts {
		parts[i] = part{table: m, from: i * n / by.Parts, to: (i + 1) * n / by.Parts}
	}
	if m.parts = parts; by.Parts == 1 { // without allocations
		parts[0].addAll(docs, first)
	} else {
		by.Run(by.Parts, func(i int) {
			p := parts[i] // a copy, since parts share cache lines
			p.addAll(docs, first)
			parts[i] = p
		})
	}
	for i := range parts {
		m.n += parts[i].n
	}
	for i := range parts {
		for _, e := range parts[i].left {
			at, found := m.place(e.key, e.doc, math.MaxInt)
			m.n += m.fill(at, found, e.key, e.doc)
		}
	}
	return nil
}

// A part is a range of buckets that a single goroutine fills.
type part struct {
	table    *Table
	from, to int
	n        int     // entries added
	left     []entry // entries whose search left the part
}

type entry struct {
	key uint64
	doc uint32
}

// together is the number of searches whose cache misses overlap. A store does not wait for its line,
// so it starts more of them than a load. That and the second line save a third of the time.
const together = 64

func (p *part) addAll(docs [][]uint64, first uint32) {
	var waiting [together]entry // for their buckets, loaded together
	n := 0
	for i, keys := range docs {
		for _, k := range keys {
			home := p.table.home(k)
			if home < p.from || home >= p.to {
				continue // another part's
			}
			waiting[n] = entry{k, first + uint32(i)}
			if n++; n == together {
				p.add(waiting[:])
				n = 0
			}
		}
	}
	p.add(waiting[:n])
}

func (p *part) add(entries []entry) {
	m := p.table
	for i := range entries {
		m.buckets[m.home(entries[i].key)].touched = 0
	}
	for i := range entries { // a full bucket's entry goes to the next one, which misses as well
		at := m.home(entries[i].key)
		if at += int((m.buckets[at].n + 8 - perBucket) / 8); at < p.to { // without a branch for full ones
			m.buckets[at].touched = 0
		}
	}
next:
	for _, e := range entries {
		// Most keys are new: calls would take a tenth of the time.
		for at := m.home(e.key); at < p.to; at++ {
			b := &m.buckets[at]
			if b.mayHold(e.key) {
				break
			}
			if b.n < perBucket {
				m.put(at, e.key, e.doc)
				p.n++
				continue next
			}
		}
		at, found := m.place(e.key, e.doc, p.to)
		if found == border {
			p.left = append(p.left, e)
		}
		p.n += m.fill(at, found, e.key, e.doc)
	}
}
