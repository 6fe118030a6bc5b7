package dedup

import (
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
)

// A Group is documents to be decided together, in order. Filling it, after extraction, needs
// neither filter nor table. It is reused.
type Group struct {
	docs  []grouped
	keys  []uint64 // of all documents, one after the other; of each the whole text's last
	owner []int32  // the document that each is of
	// Equal keys are a chain in the order of documents: head is the first, next the
	// one that follows, or -1.
	head, next []int32
	repeats    []bool // of each pick, whether an earlier document may have it
}

type grouped struct {
	Document
	first   int  // index of its first key
	picks   int  // index of its first pick
	repeats bool // an earlier document of the group has one of its keys
}

// The memory of a group: for each document, and for each of its keys, one for each feature and one
// for the whole text.
const (
	GroupDocumentBytes = 64
	GroupKeyBytes      = 8 + 4 + 4 + 4
)

// Reset empties the group.
func (b *Group) Reset() { b.docs = b.docs[:0] }

// Len is how many documents there are.
func (b *Group) Len() int { return len(b.docs) }

// Add appends a document. Its data may not change until the group is decided.
func (b *Group) Add(doc Document) {
	b.docs = append(b.docs, grouped{Document: doc})
}

// Document is the i-th document. Until the group is decided its Time may be set.
func (b *Group) Document(i int) *Document { return &b.docs[i].Document }

// A Linker finds equal keys in batches. It holds reusable memory, for one goroutine.
type Linker struct {
	slots []int32
	picks []uint64
}

// Link makes the group ready to be decided, once all documents are added.
func (l *Linker) Link(b *Group) {
	b.keys, b.owner = b.keys[:0], b.owner[:0]
	for i := range b.docs {
		doc := &b.docs[i]
		doc.first = len(b.keys)
		b.keys = appendKeys(b.keys, doc.Sketch)
		for len(b.owner) < len(b.keys) {
			b.owner = append(b.owner, int32(i))
		}
	}
	n := len(b.keys)
	b.head, b.next = slices.Grow(b.head[:0], n)[:n], slices.Grow(b.next[:0], n)[:n]
	l.chain(b)
	l.repeatPicks(b)
	for p, next := range b.next { // a chain's head comes before the others
		if b.head[p] < 0 {
			b.head[p] = int32(p)
		}
		if next >= 0 {
			b.head[next] = b.head[p]
			if b.owner[next] != b.owner[p] {
				b.docs[b.owner[next]].repeats = true
			}
		}
	}
}

// chain puts equal keys into chains by a hash table, from the last on, so that each
// becomes the first of its chain.
func (l *Linker) chain(b *Group) {
	size := 1 << bits.Len(uint(2*len(b.keys)))
	if len(l.slots) < size {
		l.slots = make([]int32, size)
	}
	slots := l.slots[:size]
	clear(slots)
	shift := 64 - bits.Len(uint(size-1))
	for p := len(b.keys) - 1; p >= 0; p-- {
		b.head[p], b.next[p] = -1, -1
		// Keys are hashes, but not all of them: whole texts may be anything.
		at := b.keys[p] * 0x9e3779b97f4a7c15 >> shift
		for ; slots[at] != 0; at = (at + 1) & uint64(size-1) {
			if q := slots[at] - 1; b.keys[q] == b.keys[p] {
				b.next[p] = q
				break
			}
		}
		slots[at] = int32(p + 1)
	}
}

// repeatPicks marks the picks that occur twice, but for the first place of each.
func (l *Linker) repeatPicks(b *Group) {
	picks := 0
	for i := range b.docs {
		b.docs[i].picks = picks
		picks += len(b.docs[i].Sketch.Picks)
	}
	b.repeats = slices.Grow(b.repeats[:0], picks)[:0]
	if picks == 0 {
		return
	}
	size := 1 << bits.Len(uint(2*picks))
	l.picks = slices.Grow(l.picks[:0], size)[:size]
	clear(l.picks)
	for i := range b.docs {
		for _, key := range b.docs[i].Sketch.Picks {
			at := key & uint64(size-1)
			for l.picks[at] != 0 && l.picks[at] != key {
				at = (at + 1) & uint64(size-1)
			}
			b.repeats = append(b.repeats, l.picks[at] == key)
			l.picks[at] = key
		}
	}
}

// picksOf returns for each pick of a document whether an earlier one of the group may have it. It is
// empty if the document is alone.
func (b *Group) picksOf(i int) []bool {
	if len(b.repeats) == 0 {
		return nil
	}
	return b.repeats[b.docs[i].picks:][:len(b.docs[i].Sketch.Picks)]
}

// set makes the group one of a single document, which needs no links.
func (b *Group) set(doc Document, appendKeys func([]uint64, *feature.Sketch) []uint64) {
	b.docs, b.repeats = append(b.docs[:0], grouped{Document: doc}), b.repeats[:0]
	b.keys = appendKeys(b.keys[:0], doc.Sketch)
}

// keysOf returns the beginning and end of a document's keys.
func (b *Group) keysOf(i int) (from, to int) {
	if to = len(b.keys); i+1 < len(b.docs) {
		to = b.docs[i+1].first
	}
	return b.docs[i].first, to
}

// earlier reports whether an earlier document of the group has the key at p.
func (b *Group) earlier(p int) bool { return b.owner[b.head[p]] < b.owner[p] }

// A Pool is goroutines that work at once: Run calls f with tasks 0 to tasks-1, each on
// some goroutine with the number of its worker, below Size, and returns when all calls
// have. No two calls at the same time have one worker.
type Pool struct {
	Size int
	Run  func(tasks int, f func(worker, task int))
}

// addMembers brings the members to n at least.
func (g *parallel) addMembers(n int) {
	cfg := &g.d.Cfg
	for len(g.members) < n {
		judge := g.d.method.NewJudge(method.Rules{Threshold: cfg.Rules.Threshold, Score: cfg.Rules.Score})
		d := decider{rules: cfg.Rules, confirming: confirming{ask: cfg.Confirm}, judge: judge}
		g.members = append(g.members, &member{decider: d, parallel: g, worker: len(g.members)})
	}
}

// divide makes tasks for a pool.
func (g *parallel) divide(pool Pool) {
	n := g.group.Len()
	g.pool, g.chunk = pool, min(max(n/(8*pool.Size), 1), 64)
	tasks := (n + g.chunk - 1) / g.chunk
	g.owner = slices.Grow(g.owner[:0], tasks)[:tasks]
	if len(g.taken) < tasks {
		g.taken = make([]atomic.Bool, tasks)
	}
}

// share lets the pool ask the table.
func (g *parallel) share() error {
	return g.store.Share(g.pool.Size, func(tasks int, f func(task int)) {
		g.pool.Run(tasks, func(_, task int) { f(task) })
	})
}

// begin makes room for the results of a group.
func (g *parallel) begin(b *Group, p purpose) {
	g.group, g.purpose, g.now = b, p, g.d.Cfg.Now().Unix()
	for _, m := range g.members {
		m.also, m.shared, m.seenAt, m.records = m.also[:0], m.shared[:0], m.seenAt[:0], m.records[:0]
		m.n, m.holders, m.links = m.n[:0], m.holders[:0], m.links[:0]
	}
	n := b.Len()
	g.seen = slices.Grow(g.seen[:0], len(b.keys))[:len(b.keys)]
	g.state = slices.Grow(g.state[:0], n)[:n]
	g.results = slices.Grow(g.results[:0], n)[:n]
	g.data = slices.Grow(g.data[:0], n)[:n]
	g.number = slices.Grow(g.number[:0], n)[:n]
	g.asked = slices.Grow(g.asked[:0], n)[:n]
	g.root = slices.Grow(g.root[:0], n)[:n]
	clear(g.state)
}

// each calls f for 0 to n-1, in tasks of neighbours, and returns the first error of the
// first task that has one.
func (g *parallel) each(n, chunk int, f func(m *member, i int) error) error {
	tasks := (n + chunk - 1) / chunk
	g.errs = slices.Grow(g.errs[:0], tasks)[:tasks]
	clear(g.errs)
	g.pool.Run(tasks, func(worker, task int) {
		m := g.members[worker]
		for i := task * chunk; i < min(n, (task+1)*chunk) && g.errs[task] == nil; i++ {
			g.errs[task] = f(m, i)
		}
	})
	for _, err := range g.errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// eachAgain is each for all documents once more, in the tasks given by owner. Most go to the worker
// that had them before, whose cache may still hold the data loaded for them. With two workers and a
// filter of 1 GiB that saves 3% of a run's time.
func (g *parallel) eachAgain(f func(m *member, i int)) {
	for task := range g.taken {
		g.taken[task].Store(false)
	}
	g.pool.Run(min(len(g.owner), g.pool.Size), func(worker, _ int) {
		for _, others := range []bool{false, true} {
			for task, owner := range g.owner {
				if others == (owner == worker) || g.taken[task].Swap(true) {
					continue
				}
				for i := task * g.chunk; i < min(g.group.Len(), (task+1)*g.chunk); i++ {
					f(g.members[worker], i)
				}
			}
		}
	})
}

// CanDecideAll reports whether this Deduper has what DecideAll needs: a table that can
// be asked by several at once, a method that finds by equal keys, with room for so many documents more.
func (d *Deduper) CanDecideAll(documents int) bool {
	s, ok := d.Cfg.Table.(SharedStore)
	return ok && d.neighbors == nil && uint64(s.Documents())+uint64(documents) < math.MaxUint32
}

// Decision is a decided document of a group.
type Decision struct {
	Result *Result
	// Seen are the positions in feature.Sketch.Features of those segments of a kept
	// document that were seen before it.
	Seen []int
}

// DecideAll decides the documents of a group as Decide would one after the other, by all of a pool,
// and remembers those kept. emit is called once for each, in any order and for several at the same
// time, after the table has them. If it fails, none is remembered.
//
// The results are those of Decide, and so are the contents of filter and table. Counts may differ a
// little: a key of the group can make the filter report another key of the same group that it does
// not hold. That is not noticed.
func (d *Deduper) DecideAll(b *Group, pool Pool, emit func(worker, i int, t Decision)) error {
	if err := d.ready(); err != nil {
		return err
	}
	return d.parallel.decide(b, pool, emit)
}
