package docmap

import (
	"slices"
	"sort"
)

// These functions implement docs/format.md, "Holders". The holders of a key follow from the
// documents added with it and those taken back, in order. The argument docs holds a key's stored
// documents, ascending, including dead ones. In it, 0 stands for a dead document of a closed key.

// count reads docs up to the one that closes the key. It returns their number n, and appends the
// holders at that moment to held. For an open key, n counts all, and holders may be dead.
func (g *tombstones) count(held, docs []uint32) (n int, counted []uint32) {
	if len(docs) < MaxHolders { // the usual case: the key is open
		return len(docs), append(held, docs...)
	}
	for n, doc := range docs {
		if doc != 0 {
			held = slices.DeleteFunc(held, func(h uint32) bool { return h != 0 && g.goneBefore(h, doc) })
		}
		if held = append(held, doc); len(held) == MaxHolders {
			return n + 1, held
		}
	}
	return len(docs), held
}

// named appends the live holders to dst, after zeros that make them MaxHolders if the key is common.
// With a window, each slice closes keys independently; closed refers to the open slice.
func (g *tombstones) named(dst, docs []uint32) (named []uint32, closed bool) {
	var room, all [MaxHolders]uint32
	n, common := 0, false
	for len(docs) > 0 {
		last := g.win.last(docs[0], never)
		end := sort.Search(len(docs), func(i int) bool { return docs[i] > last })
		_, held := g.count(room[:0], docs[:end])
		live := g.living(held)
		common = common || len(held) == MaxHolders && len(live) > 0
		closed = len(held) == MaxHolders && last == never
		n += copy(all[n:], live)
		docs = docs[end:]
	}
	if common {
		for range MaxHolders - n {
			dst = append(dst, 0)
		}
	}
	return g.emit(dst, all[:n]), closed
}

// posted returns the documents of a Posting. It reuses docs.
func (g *tombstones) posted(docs []uint32) []uint32 {
	var room [MaxHolders]uint32
	found, _ := g.named(room[:0], docs)
	named := docs[:0]
	for _, d := range found {
		if d != 0 && d != Counted {
			named = append(named, d)
		}
	}
	if len(found) < MaxHolders || len(named) == 0 {
		return named
	}
	return slices.Insert(named, 0, make([]uint32, MaxHolders-len(named))...)
}

func (g *tombstones) living(held []uint32) []uint32 {
	return slices.DeleteFunc(held, func(h uint32) bool { return h == 0 || g.gone(h) })
}

// emit appends live holders, and Counted for those that only count.
func (g *tombstones) emit(dst, held []uint32) []uint32 {
	for _, doc := range held {
		if g.counted.has(doc) {
			doc = Counted
		}
		dst = append(dst, doc)
	}
	return dst
}

// trim selects the documents of a key, in place, that matter once document next comes. Dead ones
// matter if they were among the most that held the key at one moment: only such a moment can close
// it, whatever documents before these hold it. So at most 36 are kept. gone limits what may go.
func (g *tombstones) trim(docs []uint32, next uint32, gone func(num uint32) bool) []uint32 {
	var room, all [MaxHolders]uint32
	n, _ := g.count(room[:0], docs)
	useless := func(d uint32) bool { return gone(d) && g.goneBefore(d, next) }
	if docs = docs[:n]; !slices.ContainsFunc(docs, useless) {
		return docs
	}
	var needed []uint32
	held, most := all[:0], 0
	for _, doc := range docs {
		held = append(slices.DeleteFunc(held, func(h uint32) bool { return g.goneBefore(h, doc) }), doc)
		if len(held) > most {
			most = len(held)
			needed = append(needed, held...)
		}
	}
	return slices.DeleteFunc(docs, func(d uint32) bool { return useless(d) && !slices.Contains(needed, d) })
}

// spare implements Spare of a memory table of keys.
func (g *tombstones) spare(docs []uint32, next uint32) int {
	var room [MaxHolders]uint32
	if n, held := g.count(room[:0], docs); n < len(docs) || len(held) == MaxHolders {
		return -1
	}
	kept := g.trim(slices.Clone(docs), next, g.gone)
	i := 0
	for i < len(kept) && kept[i] == docs[i] {
		i++
	}
	return i
}

// spareID implements Spare of a memory table of ids.
func (g *tombstones) spareID(docs []uint32, next uint32) int {
	if i := slices.IndexFunc(docs, func(d uint32) bool { return g.goneBefore(d, next) }); i >= 0 {
		return i
	}
	return len(docs)
}

// trimFirst selects a key's documents for a run of all documents up to last.
func (g *tombstones) trimFirst(docs []uint32, last uint32, gone func(num uint32) bool) []uint32 {
	var room [MaxHolders]uint32
	n, held := g.count(room[:0], docs)
	if len(held) < MaxHolders {
		return slices.DeleteFunc(docs[:n], func(d uint32) bool { return gone(d) && g.goneBefore(d, last+1) })
	}
	live := slices.DeleteFunc(held, func(h uint32) bool { return h == 0 || gone(h) })
	docs = docs[:MaxHolders]
	zeros := MaxHolders - len(live)
	clear(docs[:zeros])
	copy(docs[zeros:], live)
	return docs
}

// liveOnly drops documents that are dead or only count.
func (g *tombstones) liveOnly(docs []uint32) []uint32 {
	return slices.DeleteFunc(docs, func(d uint32) bool { return d == 0 || g.has(d) })
}

// trimID selects an id's documents for a run. From 1024 entries on it keeps 1024, if necessary with
// dead ones: a full list signals that live ones may be missing.
func trimID(docs []uint32, gone func(num uint32) bool) []uint32 {
	spare := len(docs) - idLimit
	if spare < 0 {
		return slices.DeleteFunc(docs, gone)
	}
	docs = slices.DeleteFunc(docs, func(d uint32) bool {
		drop := spare > 0 && gone(d)
		if drop {
			spare--
		}
		return drop
	})
	return docs[:idLimit]
}

// keep returns the function that selects a key's documents for a run; nil keeps the first ones. A
// flush stores which documents are dead. A merge in steps does not, and a crash may revive some.
func (t *Table) keep(space int, first, last uint32) func(docs []uint32) []uint32 {
	g, gone := &t.tombstones, t.settled
	if first > t.head.flushed {
		gone = g.gone
	}
	switch {
	case !g.any() && first > 0:
		return nil
	case space == ofIDs:
		return func(docs []uint32) []uint32 { return trimID(docs, gone) }
	case first == 0:
		return func(docs []uint32) []uint32 { return g.trimFirst(docs, last, gone) }
	}
	return func(docs []uint32) []uint32 { return g.trim(docs, last+1, gone) }
}

// settled reports whether a document is dead in the file, too.
func (t *Table) settled(num uint32) bool {
	g := &t.tombstones
	_, fresh := g.fresh[num]
	return g.dead.has(num) && !fresh || g.win.length > 0 && g.win.older(num, t.head.win.edge)
}

// leaveOutDead corrects the holders of keys with documents that were taken back or only count. For
// the few keys with dead documents it reads all entries.
func (r *reader) leaveOutDead(s *snapshot, q *question) error {
	g := &r.table.tombstones
	for i, key := range q.keys {
		found := q.holders[i*MaxHolders : i*MaxHolders+int(q.n[i])]
		if !slices.ContainsFunc(found, func(d uint32) bool { return d == 0 || g.gone(d) }) {
			g.emit(found[:0], found)
			continue
		}
		docs, err := r.all(s, ofKeys, key)
		if err != nil {
			return err
		}
		named, closed := g.named(q.holders[i*MaxHolders:i*MaxHolders:(i+1)*MaxHolders], docs)
		if q.n[i] = uint8(len(named)); closed && len(named) < MaxHolders {
			q.n[i] |= ClosedKey
		}
	}
	return nil
}

// all returns every stored entry of a key, ascending. It is valid until the next call.
func (r *reader) all(s *snapshot, of int, key uint64) ([]uint32, error) {
	space := &r.table.spaces[of]
	room := max(cap(r.entries), MaxHolders)
	for {
		if room > cap(r.entries) {
			r.entries = make([]uint32, 0, room)
		}
		docs, err := r.entries[:0], error(nil)
		for _, run := range space.runs {
			if !run.holds(key) {
				continue
			}
			if docs, err = run.find(s, docs, key); err != nil {
				return nil, err
			}
		}
		if docs = space.mem.Find(docs, key); len(docs) < cap(docs) {
			return docs, nil
		}
		room *= 2 // there may be more
	}
}
