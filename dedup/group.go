package dedup

import (
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
)

// A Group is a sequence of documents to be decided together. It is for one goroutine at a time, but
// several goroutines can fill groups meanwhile: this needs neither filter nor table. It is reusable.
type Group struct {
	docs  []grouped
	keys  []uint64 // of all documents, concatenated; the last of each is the whole text's
	owner []int32  // the document of each key
	// Equal keys form a chain in document order: head is the first, next the following one or -1.
	head, next []int32
	repeats    []bool // for each pick, whether an earlier document may have it
}

type grouped struct {
	Document
	first   int  // index of its first key
	picks   int  // index of its first pick
	repeats bool // an earlier document of the group shares a key
}

// Memory returns the bytes that a group holds for that many documents with that many keys: one for
// each feature, and one for each whole text.
func (*Group) Memory(documents, keys int64) int64 { return 64*documents + (8+4+4+4)*keys }

// Reset empties the group.
func (b *Group) Reset() { b.docs = b.docs[:0] }

// Len returns the number of documents.
func (b *Group) Len() int { return len(b.docs) }

// Add appends a document with a Sketch. Its data must not change until the group is decided.
func (b *Group) Add(doc Document) {
	b.docs = append(b.docs, grouped{Document: doc})
}

// Document returns the i-th document. Its Time may be set until the group is decided.
func (b *Group) Document(i int) *Document { return &b.docs[i].Document }

// linkers are at hand for the goroutines that link groups.
var linkers = sync.Pool{New: func() any { return new(linker) }}

// A linker finds equal keys of a group. It holds reusable memory for one goroutine.
type linker struct {
	slots []int32
	picks []uint64
}

// Link prepares the group for deciding, once all documents are added.
func (b *Group) Link() {
	l := linkers.Get().(*linker)
	l.link(b)
	linkers.Put(l)
}

func (l *linker) link(b *Group) {
	b.keys, b.owner = b.keys[:0], b.owner[:0]
	for i := range b.docs {
		doc := &b.docs[i]
		doc.first = len(b.keys)
		if doc.Keys != nil {
			b.keys = append(b.keys, doc.Keys...)
		} else {
			b.keys = appendKeys(b.keys, doc.Sketch)
		}
		for len(b.owner) < len(b.keys) {
			b.owner = append(b.owner, int32(i))
		}
	}
	n := len(b.keys)
	b.head, b.next = slices.Grow(b.head[:0], n)[:n], slices.Grow(b.next[:0], n)[:n]
	l.chain(b)
	l.repeatPicks(b)
	for p, next := range b.next { // a chain's head comes before the rest
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

// chain links equal keys by a hash table, from the last on, so each becomes the head of its chain.
func (l *linker) chain(b *Group) {
	size := 1 << bits.Len(uint(2*len(b.keys)))
	if len(l.slots) < size {
		l.slots = make([]int32, size)
	}
	slots := l.slots[:size]
	clear(slots)
	shift := 64 - bits.Len(uint(size-1))
	for p := len(b.keys) - 1; p >= 0; p-- {
		b.head[p], b.next[p] = -1, -1
		// Not all keys are hashes: the whole text's may be any number.
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

// repeatPicks marks repeated picks, except their first occurrence.
func (l *linker) repeatPicks(b *Group) {
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

// picksOf returns, for each pick of a document, whether an earlier one of the group may have it. It
// is empty for a document decided alone.
func (b *Group) picksOf(i int) []bool {
	if len(b.repeats) == 0 {
		return nil
	}
	return b.repeats[b.docs[i].picks:][:len(b.docs[i].Sketch.Picks)]
}

// set makes the group hold a single document, which needs no links.
func (b *Group) set(doc Document, appendKeys func([]uint64, *feature.Sketch) []uint64) {
	b.docs, b.repeats = append(b.docs[:0], grouped{Document: doc}), b.repeats[:0]
	b.keys = appendKeys(b.keys[:0], doc.Sketch)
}

// keysOf returns the range of a document's keys.
func (b *Group) keysOf(i int) (from, to int) {
	if to = len(b.keys); i+1 < len(b.docs) {
		to = b.docs[i+1].first
	}
	return b.docs[i].first, to
}

// earlier reports whether an earlier document of the group has the key at p.
func (b *Group) earlier(p int) bool { return b.owner[b.head[p]] < b.owner[p] }

// A Pool runs goroutines concurrently. Run calls f with tasks 0 to tasks-1 and returns when all
// calls have returned. worker is below Size, and concurrent calls have different workers.
type Pool struct {
	Size int
	Run  func(tasks int, f func(worker, task int))
}

// NewPool returns a pool of goroutines, at least one. The caller of Run is number 0. Run waits for no
// goroutine that has not begun a task: if others take all processors, the caller does all tasks.
func NewPool(size int) Pool {
	return Pool{Size: size, Run: func(tasks int, f func(worker, task int)) {
		var next, done atomic.Int64
		finished := make(chan struct{}, 1)
		work := func(worker int) {
			for {
				task := int(next.Add(1)) - 1
				if task >= tasks {
					return
				}
				f(worker, task)
				if int(done.Add(1)) == tasks {
					finished <- struct{}{}
				}
			}
		}
		for worker := 1; worker < min(tasks, size); worker++ {
			go work(worker)
		}
		work(0)
		if tasks > 0 {
			<-finished
		}
	}}
}

// addMembers increases the number of members to at least n.
func (g *parallel) addMembers(n int) {
	cfg := &g.d.cfg
	for len(g.members) < n {
		judge := g.d.method.NewJudge(method.Rules{Threshold: cfg.Rules.Threshold, Score: cfg.Rules.Score})
		d := decider{rules: cfg.Rules, confirming: confirming{ask: cfg.Confirm}, judge: judge}
		g.members = append(g.members, &member{decider: d, parallel: g, worker: len(g.members)})
	}
}

func (g *parallel) divide(pool Pool) {
	n := g.group.Len()
	g.pool, g.chunk = pool, min(max(n/(8*pool.Size), 1), 64)
	tasks := (n + g.chunk - 1) / g.chunk
	g.owner = slices.Grow(g.owner[:0], tasks)[:tasks]
	if len(g.taken) < tasks {
		g.taken = make([]atomic.Bool, tasks)
	}
}

// share prepares the table for concurrent queries by the pool.
func (g *parallel) share() error {
	return g.store.Share(g.pool.Size, func(tasks int, f func(task int)) {
		g.pool.Run(tasks, func(_, task int) { f(task) })
	})
}

func (g *parallel) begin(b *Group, p purpose) {
	g.group, g.purpose, g.now = b, p, g.d.cfg.Now().Unix()
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

// each calls f for 0 to n-1 in tasks of chunk. It returns the error of the first failing task.
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

// eachAgain calls f for all documents again, by the tasks in owner. Most go to their previous
// worker, whose cache may still hold their data. With two workers and a filter of 1 GiB this saves
// 3% of a run's time.
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

// CanDecideAll reports whether DecideAll supports that many more documents. It needs a SharedStore
// with room for them, and a method that relies on equal keys alone.
func (d *Deduper) CanDecideAll(documents int) bool {
	s, ok := d.cfg.Table.(SharedStore)
	return ok && d.neighbors == nil && uint64(s.Documents())+uint64(documents) < math.MaxUint32
}

// DecideAll decides the documents of a group on a pool, as Decide would one after the other, and
// remembers the kept ones. It calls emit once for the i-th document, concurrently and in any order,
// after adding them to the table. seen are the positions in feature.Sketch.Features of the segments
// of a kept document that were seen before it. r and seen are valid until the next decision. If judging or adding fails, none is remembered; an error in finding passages
// comes after adding.
//
// Results, filter and table are the same as with Decide. Counts may differ slightly: a key of the
// group can cause a false positive for another key of the group, which is not noticed.
func (d *Deduper) DecideAll(b *Group, pool Pool, emit func(worker, i int, r *Result, seen []int)) error {
	if err := d.ready(); err != nil {
		return err
	}
	if !d.CanDecideAll(b.Len()) {
		return errAlone
	}
	return d.parallel.decide(b, pool, emit)
}
