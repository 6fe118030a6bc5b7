package dedup

import (
	"cmp"
	"slices"
)

// Step 2 of a group: documents that may depend on others of the group. If the table names
// MaxHolders of a key or has closed it, no document of the group is among the first holders. For
// any other key, all its open documents are in one component.

// askTable looks up the holders of an open document's keys.
func (m *member) askTable(i int) error {
	c := &m.decider
	// The filter lacks the keys of documents that only count. So the look-up includes the whole
	// text and all keys that a document of the group may hold.
	for p, whole := 0, c.keys[len(c.keys)-1]; p < len(c.keys); p++ {
		m.possible[p] = m.possible[p] || c.keys[p] == whole
	}
	if err := c.answers.lookupSeen(m.table, c.keys, m.possible); err != nil {
		return m.settle(i, Result{}, err)
	}
	a, at, from := 0, len(m.n), len(m.holders)
	for _, asked := range m.possible {
		n := uint8(0)
		if asked {
			n, m.holders = c.answers.n[a], append(m.holders, c.answers.of(a)...)
			a++
		}
		m.n = append(m.n, n)
	}
	m.parallel.asked[i] = asked{n: m.n[at:len(m.n):len(m.n)], holders: m.holders[from:len(m.holders):len(m.holders)]}
	return nil
}

// findLinks finds earlier open documents of the group that may hold a key of document i.
func (m *member) findLinks(i int) {
	g, b := m.parallel, m.parallel.group
	a, at := &g.asked[i], len(m.links)
	from, to := b.keysOf(i)
	for p := from; p < to; p++ {
		if a.n[p-from] >= MaxHolders {
			continue
		}
		for q := b.head[p]; b.owner[q] < int32(i); q = b.next[q] {
			if j := b.owner[q]; g.state[j] == unresolved {
				m.links = append(m.links, j)
				break
			}
		}
	}
	a.links = m.links[at:len(m.links):len(m.links)]
}

// decideComponents is step 2.
func (g *parallel) decideComponents() error {
	const chunk = 4
	err := g.each(len(g.unresolved), chunk, func(m *member, o int) error {
		m.findLinks(g.unresolved[o])
		return nil
	})
	if err != nil {
		return err
	}
	g.findComponents()
	return g.each(len(g.parts), 1, func(m *member, part int) error {
		for _, i := range g.parts[part] {
			if err := m.decideUnresolved(i); err != nil {
				return err
			}
		}
		return nil
	})
}

func (g *parallel) findComponents() {
	for _, i := range g.unresolved {
		g.root[i] = int32(i)
		for _, j := range g.asked[i].links {
			g.root[g.rootOf(int32(i))] = g.rootOf(j)
		}
	}
	slices.SortStableFunc(g.unresolved, func(a, b int) int {
		return cmp.Compare(g.rootOf(int32(a)), g.rootOf(int32(b)))
	})
	g.parts = g.parts[:0]
	for from, to := 0, 0; from < len(g.unresolved); from = to {
		root := g.rootOf(int32(g.unresolved[from]))
		for to < len(g.unresolved) && g.rootOf(int32(g.unresolved[to])) == root {
			to++
		}
		g.parts = append(g.parts, g.unresolved[from:to])
	}
}

// rootOf returns the document that represents a component, and shortens the path to it.
func (g *parallel) rootOf(i int32) int32 {
	for g.root[i] != i {
		g.root[i] = g.root[g.root[i]]
		i = g.root[i]
	}
	return i
}

// decideUnresolved decides a document once all earlier documents of its component are decided.
func (m *member) decideUnresolved(i int) error {
	m.loadDocument(i)
	g := m.parallel
	from, _ := g.group.keysOf(i)
	m.view = view{m, &g.asked[i], from}
	for p, n := range g.asked[i].n { // sequentially, the filter would also have seen these
		m.seen[p] = m.seen[p] || n < MaxHolders && g.keptBefore(from+p)
	}
	r, err := m.decide(&m.view)
	return m.settle(i, r, err)
}

// keptBefore reports whether an earlier kept document of the group has the key at p.
func (g *parallel) keptBefore(p int) bool {
	b := g.group
	for q := b.head[p]; b.owner[q] < b.owner[p]; q = b.next[q] {
		if g.state[b.owner[q]] == kept {
			return true // usually the first
		}
	}
	return false
}

// holders appends the group's earlier holders of the key at p, the earliest first, up to the
// capacity of dst. It appends the number of a kept document, and Counted for one that only counts.
//
// It unlinks removed documents from the chain, which belongs to one component. Otherwise each of a
// thousand copies of one page would visit all copies before it.
func (g *parallel) holders(dst []uint32, p int) []uint32 {
	b, last, of := g.group, int32(-1), int32(-1)
	for q := b.head[p]; b.owner[q] < b.owner[p] && len(dst) < cap(dst); q = b.next[q] {
		j := b.owner[q]
		switch {
		case j == of: // a repeat within the document
		case g.state[j] == kept:
			dst = append(dst, g.base+1+uint32(j))
		case g.state[j] == counted:
			dst = append(dst, Counted)
		}
		of = j
		if g.state[j] == removed && last >= 0 {
			b.next[last] = b.next[q]
			continue
		}
		last = q
	}
	return dst
}

// A view is the table as if all earlier documents of the group had been decided and added.
type view struct {
	m     *member
	asked *asked
	first int // index of the document's first key in the group
}

// Lookup implements Asker for keys of the document, in their order.
func (v *view) Lookup(keys []uint64, holders []uint32, n []uint8) error {
	at, from := 0, 0
	for i, key := range keys {
		for ; v.m.keys[at] != key; at++ {
			from += int(v.asked.n[at] &^ ClosedKey)
		}
		named := v.asked.holders[from : from+int(v.asked.n[at]&^ClosedKey)]
		found := append(holders[i*MaxHolders:i*MaxHolders:(i+1)*MaxHolders], named...)
		if v.asked.n[at]&ClosedKey == 0 {
			found = v.m.parallel.holders(found, v.first+at)
		}
		n[i] = uint8(len(found))
	}
	return nil
}

// Records implements Asker.
func (v *view) Records(nums []uint32, ids, data [][]byte) error {
	g, m := v.m.parallel, v.m
	m.stored.nums = m.stored.nums[:0]
	for _, num := range nums {
		if num <= g.base {
			m.stored.nums = append(m.stored.nums, num)
		}
	}
	if err := m.stored.read(m.table); err != nil {
		return err
	}
	stored := 0
	for i, num := range nums {
		if num <= g.base {
			ids[i], data[i] = m.stored.ids[stored], m.stored.data[stored]
			stored++
			continue
		}
		j := num - g.base - 1
		ids[i], data[i] = []byte(g.group.docs[j].ID), g.data[j]
	}
	return nil
}
