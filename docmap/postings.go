package docmap

import (
	"slices"

	"github.com/firstseen/firstseen/docmap/sorted"
)

// The rule of docs/format.md, "Holders": who holds a key follows from which documents
// came with it and which were taken back, in order. docs are those stored of a key,
// ascending, dead ones included; 0 stands for a dead one of a closed key.

// count goes through docs up to the one that closes the key, and returns how many these
// are and, in held, those that count then; for a key that is not closed, all that count at
// the end, and maybe dead ones.
func (g *tombstones) count(held, docs []uint32) (n int, counted []uint32) {
	if len(docs) < keyLimit { // nearly always, and nothing is closed
		return len(docs), append(held, docs...)
	}
	for n, doc := range docs {
		if doc != 0 {
			held = slices.DeleteFunc(held, func(h uint32) bool { return h != 0 && g.goneBefore(h, doc) })
		}
		if held = append(held, doc); len(held) == keyLimit {
			return n + 1, held
		}
	}
	return len(docs), held
}

// named appends to dst whom a look-up names: the live holders and, of a key that is
// common, zeros in front that make them keyLimit.
func (g *tombstones) named(dst, docs []uint32) []uint32 {
	if g.win.length > 0 {
		return g.namedInSlices(dst, docs)
	}
	var room [keyLimit]uint32
	_, held := g.count(room[:0], docs)
	closed := len(held) == keyLimit
	held = slices.DeleteFunc(held, func(h uint32) bool { return h == 0 || g.gone(h) })
	if closed && len(held) > 0 {
		for range keyLimit - len(held) {
			dst = append(dst, 0)
		}
	}
	return g.tell(dst, held)
}

// tell appends holders that are not dead, and those that only count as what they are.
func (g *tombstones) tell(dst, held []uint32) []uint32 {
	for _, doc := range held {
		if g.counted.which.has(doc) {
			doc = Counted
		}
		dst = append(dst, doc)
	}
	return dst
}

// closed says that who comes now is no holder of the key.
func (g *tombstones) closed(docs []uint32) bool {
	if g.win.length > 0 {
		from, _ := slices.BinarySearch(docs, g.win.open().first)
		docs = docs[from:]
	}
	var room [keyLimit]uint32
	_, held := g.count(room[:0], docs)
	return len(held) == keyLimit
}

// namedInSlices is named for a table with a window: each slice closes keys for itself.
func (g *tombstones) namedInSlices(dst, docs []uint32) []uint32 {
	var room, all [keyLimit]uint32
	n, closed := 0, false
	for len(docs) > 0 {
		end := g.win.endOfSlice(docs)
		_, held := g.count(room[:0], docs[:end])
		live := slices.DeleteFunc(held, g.gone)
		closed = closed || len(held) == keyLimit && len(live) > 0
		n += copy(all[n:], live)
		docs = docs[end:]
	}
	if closed {
		for range keyLimit - n {
			dst = append(dst, 0)
		}
	}
	return g.tell(dst, all[:n])
}

// trim returns those of docs that are stored in a run, in place.
func (g *tombstones) trim(docs []uint32) []uint32 {
	var room [keyLimit]uint32
	n, _ := g.count(room[:0], docs)
	return docs[:n]
}

// trimFirst is trim for a run that covers all documents up to last.
func (g *tombstones) trimFirst(docs []uint32, last uint32) []uint32 {
	var room [keyLimit]uint32
	n, held := g.count(room[:0], docs)
	if len(held) < keyLimit {
		return slices.DeleteFunc(docs[:n], func(d uint32) bool { return g.forgotten(d) && g.when(d) <= last })
	}
	live := slices.DeleteFunc(held, func(h uint32) bool { return h == 0 || g.gone(h) })
	docs = docs[:keyLimit]
	zeros := keyLimit - len(live)
	clear(docs[:zeros])
	copy(docs[zeros:], live)
	return docs
}

// compacted is trimFirst for all documents, but that a key of which no holder is live is
// forgotten.
func (g *tombstones) compacted(docs []uint32) []uint32 {
	docs = g.trimFirst(docs, never)
	if len(docs) > 0 && docs[len(docs)-1] == 0 {
		return docs[:0]
	}
	return docs
}

// liveOnly leaves out all dead ones, which is the rule for ids.
func (g *tombstones) liveOnly(docs []uint32) []uint32 {
	return slices.DeleteFunc(docs, func(d uint32) bool { return d == 0 || g.has(d) })
}

// keep is what a run of a space is to store of a key, nil where that is no more than
// the first documents.
func (t *Table) keep(space int, first, last uint32) func(docs []uint32) []uint32 {
	g := &t.tombstones
	switch {
	case !g.any() && first > 0:
		return nil
	case space == ofIDs:
		return func(docs []uint32) []uint32 {
			docs = g.liveOnly(docs)
			return docs[:min(len(docs), idLimit)]
		}
	case first == 0:
		return func(docs []uint32) []uint32 { return g.trimFirst(docs, last) }
	}
	return g.trim
}

// leaveOutDead replaces what was found of keys by whom the rule names, where anybody of
// them was taken back, or only counts. Few keys are: of these all entries are read.
func (r *reader) leaveOutDead(s *snapshot, q *question) error {
	g := &r.table.tombstones
	for i, key := range q.keys {
		found := q.holders[i*keyLimit : i*keyLimit+int(q.n[i])]
		if !slices.ContainsFunc(found, func(d uint32) bool { return d == 0 || g.gone(d) }) {
			g.tell(found[:0], found)
			continue
		}
		docs, err := r.all(s, ofKeys, key)
		if err != nil {
			return err
		}
		q.n[i] = uint8(len(g.named(q.holders[i*keyLimit:i*keyLimit:(i+1)*keyLimit], docs)))
	}
	return nil
}

// all returns every entry of a key that is stored, ascending. It is valid until the next
// call.
func (r *reader) all(s *snapshot, of int, key uint64) ([]uint32, error) {
	space := &r.table.spaces[of]
	room := max(cap(r.entries), keyLimit)
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

// leaveOut drops the entries of documents that are not named.
func (g *tombstones) leaveOut(e *sorted.Entries) {
	if !g.unnamed() {
		return
	}
	n := 0
	for i, doc := range e.Docs {
		if doc != 0 && !g.has(doc) {
			e.Keys[n], e.Docs[n] = e.Keys[i], doc
			n++
		}
	}
	e.Keys, e.Docs = e.Keys[:n], e.Docs[:n]
}
