package dedup

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/firstseen/firstseen/bloomstore"
)

// Many workers decide a group at once, with the results of deciding one document after the other:
//
//  1. Each document by itself. It is unique if it would be so even with all earlier documents of
//     the group kept. If none of these shares a key with it, the table decides as usual. If the
//     table has its whole text, it is an exact copy. Otherwise it is open: its keys are looked up.
//  2. Open documents depend on each other. Those with a common key form a component, unless the
//     table already names the maximum number of holders of the key. Within a component, documents
//     are decided in order, by the table and the kept documents of the group. Components are
//     independent.
//  3. Kept documents are numbered, in order, and added to the table.
//  4. The passages of each are found.
//  5. Their keys are added to the filter, and all results are reported.
//
// Filter and table do not change before step 3. Until then a kept document has a provisional number
// above all in the table, in order of documents. A document decided alone takes the same steps,
// with any store or none. Its passages are found before it is added.

// parallel is the state of deciding a group.
type parallel struct {
	d     *Deduper
	group *Group
	store SharedStore // nil for a document decided alone
	base  uint32      // documents in the table
	now   int64
	pool  Pool

	members []*member     // by worker of the pool
	chunk   int           // documents per task
	errs    []error       // of tasks
	owner   []int         // worker of each task of step 1
	taken   []atomic.Bool // tasks taken in step 5

	purpose    purpose
	seen       []bool // for each key, whether the filter saw it before the group
	state      []state
	results    []Result
	data       [][]byte // the record of each kept document
	number     []uint32 // the number of each kept document in the table
	unresolved []int    // documents left open by step 1, ascending
	asked      []asked  // for each open document
	root       []int32  // for each open document, another of its component, or itself
	parts      [][]int  // components: subslices of unresolved, each ascending

	ids  []string // of added documents
	recs [][]byte
	keys [][]uint64
	// picks has the keys and picks of documents with picks.
	picks []uint64
	at    []uint32 // times of added documents
	// marks is set for documents that only count.
	marks []bool
}

type state uint8

const (
	unresolved state = iota
	kept
	counted // removed, but counts
	removed
)

// asked has the holders of an open document's keys in the table and the group.
type asked struct {
	n       []uint8  // holders of each key, and ClosedKey; 0 if not looked up
	holders []uint32 // of all keys, concatenated
	links   []int32  // the first unresolved document for each key
}

// A member is the state of one goroutine of the pool. Its buffers are reused.
type member struct {
	decider
	parallel *parallel
	worker   int
	table    Asker

	possible []bool
	record   Record
	view     view
	picking  picking
	stored   records // read from the table for the view

	also    []Source // of results
	shared  []int
	seenAt  []int // of results
	records []byte
	n       []uint8 // of asked.n
	holders []uint32
	links   []int32
}

// decideOne is decide for a group of one document.
func (g *parallel) decideOne(b *Group, p purpose) (Result, error) {
	g.begin(b, p)
	g.store, g.base = nil, math.MaxUint32 // no document of the group has a number
	m := g.members[0]
	m.table = g.d.cfg.Table
	err := m.first(0)
	if err == nil && p > checking {
		err = m.findPassages(0, math.MaxUint32)
	}
	if err != nil {
		return Result{}, err
	}
	if p == deciding {
		if err := g.add(); err != nil {
			return g.results[0], fmt.Errorf("remembering document %q: %w", b.docs[0].ID, err)
		}
		m.finish(0, (*bloomstore.Filter).Add)
	}
	return g.results[0], nil
}

func (g *parallel) decide(b *Group, pool Pool, emit func(worker, i int, r *Result, seen []int)) error {
	g.addMembers(pool.Size)
	g.begin(b, deciding)
	if g.d.cfg.Filter != nil {
		g.d.cfg.Filter.Expect(len(b.keys))
	}
	g.divide(pool)
	g.store = g.d.cfg.Table.(SharedStore)
	g.base = g.store.Documents()
	if err := g.share(); err != nil {
		return err
	}
	for _, m := range g.members[:pool.Size] {
		m.table = g.store.Asker(m.worker)
	}
	for _, step := range []func() error{g.decideAlone, g.decideComponents} {
		if err := step(); err != nil {
			return err
		}
	}
	if err := g.add(); err != nil {
		return fmt.Errorf("remembering document %q and those after it: %w", g.ids[0], err)
	}
	if err := g.findAllPassages(); err != nil {
		return err
	}
	g.eachAgain(func(m *member, i int) {
		seen := m.finish(i, (*bloomstore.Filter).AddShared)
		emit(m.worker, i, &g.results[i], seen)
	})
	return nil
}

func (m *member) loadDocument(i int) {
	g := m.parallel
	from, to := g.group.keysOf(i)
	c := &m.confirming
	c.text, c.active, c.exact = g.group.docs[i].Text, g.purpose >= judging && c.ask != nil, failed{}
	m.load(g.group.docs[i].Sketch, g.group.keys[from:to], g.seen[from:to])
}

// decideAlone is step 1.
func (g *parallel) decideAlone() error {
	err := g.each(g.group.Len(), g.chunk, func(m *member, i int) error {
		g.owner[i/g.chunk] = m.worker
		return m.first(i)
	})
	g.unresolved = g.unresolved[:0]
	for i, s := range g.state {
		if s == unresolved {
			g.unresolved = append(g.unresolved, i)
		}
	}
	return err
}

// first is step 1 for one document.
func (m *member) first(i int) error {
	g := m.parallel
	b, d := g.group, g.d
	from, to := b.keysOf(i)
	test := (*bloomstore.Filter).Test
	if g.store != nil { // the words read leave the cache before step 5 adds the keys
		test = (*bloomstore.Filter).TestLazily
	}
	d.testFilter(b.keys[from:to], g.seen[from:to], test)
	m.loadDocument(i)
	switch {
	case d.cfg.Table == nil:
		return m.settle(i, m.decideByFilter(d.cfg.Filter.Rate()), nil)
	case b.docs[i].repeats:
		return m.firstOfRepeating(i)
	case d.neighbors != nil:
		d.neighbors.load(&m.decider, m.sketch)
	}
	r, err := m.decide(m.table)
	return m.settle(i, r, err)
}

// firstOfRepeating is step 1 for a document that shares keys with earlier ones in the group.
func (m *member) firstOfRepeating(i int) error {
	b := m.parallel.group
	from, to := b.keysOf(i)
	m.possible = append(m.possible[:0], m.seen...)
	for p := from; p < to; p++ {
		m.possible[p-from] = m.possible[p-from] || b.earlier(p)
	}
	n := to - from - 1
	if !m.possible[n] && !m.judge.MayReach(m.possible[:n]) {
		return m.settle(i, m.unique(), nil)
	}
	if m.seen[n] {
		r, before := m.unique(), m.counts
		if done, err := m.decideExact(m.table, &r); done || err != nil {
			return m.settle(i, r, err)
		}
		m.counts = before // it will be decided again
	}
	return m.askTable(i)
}

// publish makes the state of a document visible to others.
func (g *parallel) publish(i int) {
	switch r := &g.results[i]; {
	case r.Kept:
		g.state[i] = kept
	case r.Counted && !g.group.docs[i].Uncounted:
		g.state[i] = counted
	default:
		g.state[i] = removed
	}
}

// settle stores the result of a document and publishes its state.
func (m *member) settle(i int, r Result, err error) error {
	g := m.parallel
	id := g.group.docs[i].ID
	if err != nil {
		return fmt.Errorf("judging document %q: %w", id, err)
	}
	r.SameID = r.Of.Num != 0 && r.Of.ID == id
	r.Also, m.also = copied(r.Also, m.also)
	r.SharedSegments, m.shared = copied(r.SharedSegments, m.shared)
	g.results[i] = r
	g.publish(i)
	if g.purpose == deciding && g.d.cfg.Table != nil && (r.Kept || r.Counted) {
		m.record = Record{Verdict: r.Verdict, Time: g.now, Sketch: m.record.Sketch[:0]}
		if r.Kept {
			m.record.Added, m.record.Sketch = g.group.docs[i].Added, m.judge.Record(m.record.Sketch)
		}
		at := len(m.records)
		m.records = m.record.Append(m.records)
		g.data[i] = m.records[at:len(m.records):len(m.records)]
	}
	return nil
}

// copied appends values to memory and returns the copy and the memory.
func copied[T any](values, memory []T) (copied, all []T) {
	at := len(memory)
	memory = append(memory, values...)
	return memory[at:len(memory):len(memory)], memory
}

// add is step 3.
func (g *parallel) add() error {
	if g.d.cfg.Table == nil {
		return nil
	}
	g.ids, g.recs, g.keys, g.at, g.marks = g.ids[:0], g.recs[:0], g.keys[:0], g.at[:0], g.marks[:0]
	g.picks = g.picks[:0]
	next := g.base + 1
	for i := range g.state {
		if g.state[i] != kept && g.state[i] != counted {
			continue
		}
		g.number[i] = next
		next++
		from, to := g.group.keysOf(i)
		doc, id := &g.group.docs[i], ""
		if g.state[i] == kept {
			id = doc.ID
		}
		g.marks = append(g.marks, g.state[i] == counted)
		keys := g.group.keys[from:to]
		if g.state[i] == kept && len(doc.Sketch.Picks) > 0 {
			first := len(g.picks)
			g.picks = append(append(g.picks, keys...), remembered(&doc.Document)...)
			keys = g.picks[first:len(g.picks):len(g.picks)]
		}
		g.ids, g.recs, g.keys, g.at = append(g.ids, id), append(g.recs, g.data[i]), append(g.keys, keys), append(g.at, doc.Time)
	}
	if len(g.ids) == 0 {
		return nil
	}
	_, err := g.d.cfg.Table.Add(g.ids, g.recs, g.keys, g.at, g.marks)
	if err == nil && g.d.neighbors != nil && g.state[0] == kept {
		err = g.d.neighbors.add(g.members[0].record.Sketch)
	}
	return err
}

// finish is step 5 for one document. It returns the segments of a kept document that were seen
// before it. add is one of the filter's methods to add keys.
func (m *member) finish(i int, add func(*bloomstore.Filter, []uint64)) (seen []int) {
	g := m.parallel
	if r := &g.results[i]; r.Of.Num != 0 || len(r.Also) > 0 {
		g.renumber(&r.Of)
		for a := range r.Also {
			g.renumber(&r.Also[a])
		}
	}
	if g.state[i] != kept {
		return nil
	}
	from, to := g.group.keysOf(i)
	if g.d.cfg.Filter != nil {
		add(g.d.cfg.Filter, g.group.keys[from:to])
		if !m.addsPicks() {
			add(g.d.cfg.Filter, remembered(&g.group.docs[i].Document))
		}
	}
	return m.seenBefore(i)
}

// seenBefore returns the segments of a kept document seen before it, and counts unseen keys.
func (m *member) seenBefore(i int) []int {
	g, first := m.parallel, len(m.seenAt)
	from, to := g.group.keysOf(i)
	parts, repeats := g.group.docs[i].Sketch.Parts(), g.group.docs[i].repeats
	for p := from; p < to; p++ {
		switch seen := g.seen[p] || repeats && g.keptBefore(p); {
		case !seen:
			m.counts.Fresh++
		case p-from < parts:
			m.seenAt = append(m.seenAt, p-from)
		}
	}
	return m.seenAt[first:len(m.seenAt):len(m.seenAt)]
}

// renumber replaces the provisional number of a document in the group.
func (g *parallel) renumber(s *Source) {
	if s.Num > g.base {
		s.Num = g.number[s.Num-g.base-1]
	}
}
