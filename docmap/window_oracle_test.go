package docmap

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"testing"
)

// windowOracle keeps all documents, in maps. By design rule 12, their times decide if they count.
type windowOracle struct {
	window, clock, edge uint32
	docs                []windowDoc
	slice               int    // slice of the next document
	begun               uint32 // clock at the first document of that slice
	empty               bool   // whether that slice is empty
	keys                map[uint64]map[int]*holding
}

type windowDoc struct {
	id    string
	time  uint32
	slice int
	keys  []uint64
	dead  bool // taken back, or once below the edge
}

func newWindowOracle(window uint32) *windowOracle {
	return &windowOracle{window: window, empty: true, keys: map[uint64]map[int]*holding{}}
}

func (o *windowOracle) clone() *windowOracle {
	c := *o
	c.docs = slices.Clone(o.docs)
	c.keys = map[uint64]map[int]*holding{}
	for k, by := range o.keys {
		c.keys[k] = map[int]*holding{}
		for s, h := range by {
			c.keys[k][s] = &holding{h.closed, slices.Clone(h.by)}
		}
	}
	return &c
}

// advance moves the clock for a document, and takes back the documents that no longer count.
func (o *windowOracle) advance(time uint32) (late bool) {
	o.clock = max(o.clock, time)
	step := max(1, o.window/4096)
	if o.clock > o.window {
		o.edge = max(o.edge, (o.clock-o.window)/step*step)
	}
	for i := range o.docs {
		if !o.docs[i].dead && o.docs[i].time < o.edge {
			o.takeBack(uint32(i + 1))
		}
	}
	return time < o.edge
}

func (o *windowOracle) takeBack(num uint32) {
	d := &o.docs[num-1]
	d.dead = true
	for _, k := range d.keys {
		h := o.keys[k][d.slice]
		if i := slices.Index(h.by, num); i >= 0 && !h.closed {
			h.by = slices.Delete(h.by, i, i+1)
		}
	}
}

func (o *windowOracle) add(id string, time uint32, keys []uint64) {
	if !o.empty && o.clock-o.begun >= max(1, o.window/8) {
		o.slice, o.empty = o.slice+1, true
	}
	if o.empty {
		o.begun, o.empty = o.clock, false
	}
	o.docs = append(o.docs, windowDoc{id: id, time: time, slice: o.slice, keys: keys})
	num := uint32(len(o.docs))
	for _, k := range keys {
		if o.keys[k] == nil {
			o.keys[k] = map[int]*holding{}
		}
		h := o.keys[k][o.slice]
		if h == nil {
			h = &holding{}
			o.keys[k][o.slice] = h
		}
		if !h.closed && !slices.Contains(h.by, num) {
			h.by = append(h.by, num)
			h.closed = len(h.by) == 8
		}
	}
}

func (o *windowOracle) named(key uint64) []uint32 {
	var live []uint32
	common := false
	for _, s := range slices.Sorted(maps.Keys(o.keys[key])) {
		h := o.keys[key][s]
		n := len(live)
		for _, num := range h.by {
			if !o.docs[num-1].dead {
				live = append(live, num)
			}
		}
		common = common || h.closed && len(live) > n
	}
	if live = live[:min(len(live), 8)]; common {
		return append(make([]uint32, 8-len(live)), live...)
	}
	return live
}

func (o *windowOracle) equal(t *testing.T, table *Table) {
	t.Helper()
	if found, err := table.Verify(context.Background()); err != nil || len(found) > 0 {
		t.Fatalf("%v, %v", found, err)
	}
	if length, clock, edge := table.Window(); length != o.window || clock != o.clock || edge != o.edge {
		t.Fatalf("window %d, clock %d, edge %d, want %d, %d, %d", length, clock, edge, o.window, o.clock, o.edge)
	}
	all := slices.Sorted(maps.Keys(o.keys))
	if w := &table.tombstones.win; !w.due && w.open().times.n > 0 { // otherwise the next document begins a slice
		equalClosed(t, table, all, func(key uint64) bool { h := o.keys[key][o.slice]; return h != nil && h.closed })
	}
	held := map[uint64]bool{}
	var p postings
	for part := range slices.Chunk(all, 61) {
		must(t, table.ask(part, &p))
		for i, k := range part {
			want := o.named(k)
			if !slices.Equal(p.of(i), want) {
				t.Fatalf("Lookup(%x) = %v, want %v", k, p.of(i), want)
			}
			held[k] = len(want) > 0
		}
	}
	for p, err := range table.All() {
		if err != nil || !held[p.Key] || !slices.Equal(p.Docs, o.named(p.Key)) {
			t.Fatalf("All: %x: %v, %v, want %v", p.Key, p.Docs, err, o.named(p.Key))
		}
	}
	for keys, err := range table.Keys() {
		must(t, err)
		for _, k := range keys {
			delete(held, k)
		}
	}
	for k, there := range held {
		if there {
			t.Fatalf("Keys lacks %x", k)
		}
	}
	o.equalDocs(t, table)
}

func (o *windowOracle) equalDocs(t *testing.T, table *Table) {
	t.Helper()
	ids, dead := map[string][]uint32{}, uint32(0)
	for i := range o.docs {
		d, num := &o.docs[i], uint32(i+1)
		got, err := table.Doc(num)
		if d.dead {
			if dead++; !errors.Is(err, ErrNoDoc) || table.Live(num) {
				t.Fatalf("dead document %d: %v, %v", num, got, err)
			}
			continue
		}
		if err != nil || got.ID != d.id || binary.LittleEndian.Uint32(got.Data) != d.time || !table.Live(num) {
			t.Fatalf("document %d: %v, %v", num, got, err)
		}
		ids[d.id] = append(ids[d.id], num)
	}
	for i := range o.docs {
		id := o.docs[i].id
		if got, err := table.ByID(id); err != nil || !slices.Equal(got, ids[id]) {
			t.Fatalf("ByID(%q) = %v, %v, want %v", id, got, err, ids[id])
		}
	}
	if st := table.Stats(); st.Forgotten+st.Window.Expired != dead || int(st.Documents) != len(o.docs) {
		t.Fatalf("%d of %d documents dead, want %d of %d", st.Forgotten+st.Window.Expired, st.Documents, dead, len(o.docs))
	}
}
