package docmap

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// takenOracle implements docs/format.md, "Holders", with maps.
type takenOracle struct {
	docs    []Doc
	keys    map[uint64]*holding
	dead    map[uint32]bool
	batch   []string // of each document
	names   map[string]bool
	removed []Removed
	current string
}

// holding lists the live holders of a key or, once it is closed, all eight.
type holding struct {
	closed bool
	by     []uint32
}

func newTakenOracle() *takenOracle {
	return &takenOracle{keys: map[uint64]*holding{}, dead: map[uint32]bool{}, names: map[string]bool{}}
}

func (o *takenOracle) clone() *takenOracle {
	c := newTakenOracle()
	for k, h := range o.keys {
		c.keys[k] = &holding{h.closed, slices.Clone(h.by)}
	}
	c.docs, c.batch, c.removed = slices.Clone(o.docs), slices.Clone(o.batch), slices.Clone(o.removed)
	c.dead, c.names = maps.Clone(o.dead), maps.Clone(o.names)
	return c
}

func (o *takenOracle) add(d Doc, keys []uint64) {
	o.docs, o.batch = append(o.docs, d), append(o.batch, o.current)
	if o.current != "" {
		o.names[o.current] = true
	}
	num := uint32(len(o.docs))
	for _, k := range keys {
		h := o.keys[k]
		if h == nil {
			h = &holding{}
			o.keys[k] = h
		}
		if h.closed || slices.Contains(h.by, num) {
			continue
		}
		h.by = append(h.by, num)
		h.closed = len(h.by) == 8
	}
}

func (o *takenOracle) forget(num uint32) {
	o.dead[num] = true
	for _, h := range o.keys {
		if i := slices.Index(h.by, num); i >= 0 && !h.closed {
			h.by = slices.Delete(h.by, i, i+1)
		}
	}
}

// compact opens the closed keys that have no live holder.
func (o *takenOracle) compact() {
	for k, h := range o.keys {
		if h.closed && len(o.named(k)) == 0 {
			delete(o.keys, k)
		}
	}
	o.removed = slices.DeleteFunc(o.removed, func(r Removed) bool { return o.dead[r.Of] || !o.names[o.batch[r.Of-1]] })
}

func (o *takenOracle) named(key uint64) []uint32 {
	h := o.keys[key]
	if h == nil {
		return nil
	}
	live := slices.DeleteFunc(slices.Clone(h.by), func(n uint32) bool { return o.dead[n] })
	if h.closed && len(live) > 0 {
		return append(make([]uint32, 8-len(live)), live...)
	}
	return live
}

func (o *takenOracle) equal(t tb, table *Table) {
	t.Helper()
	if found, err := table.Verify(context.Background()); err != nil || len(found) > 0 {
		t.Fatalf("%v, %v", found, err)
	}
	all := slices.Sorted(maps.Keys(o.keys))
	o.equalClosed(t, table, all)
	var p postings
	for part := range slices.Chunk(all, 61) {
		if err := table.ask(part, &p); err != nil {
			t.Fatalf("%v", err)
		}
		for i, k := range part {
			if want := o.named(k); !slices.Equal(p.of(i), want) {
				t.Fatalf("Lookup(%x) = %v, want %v", k, p.of(i), want)
			}
		}
	}
	held := map[uint64]bool{}
	for _, k := range all {
		if want := o.named(k); len(want) > 0 {
			held[k] = true
		}
	}
	n := 0
	for p, err := range table.All() {
		if err != nil || !slices.Equal(p.Docs, o.named(p.Key)) {
			t.Fatalf("All: %x: %v, %v, want %v", p.Key, p.Docs, err, o.named(p.Key))
		}
		n++
	}
	if n != len(held) {
		t.Fatalf("All gives %d keys, want %d", n, len(held))
	}
	for keys, err := range table.Keys() {
		if err != nil {
			t.Fatalf("%v", err)
		}
		for _, k := range keys {
			delete(held, k)
		}
	}
	if len(held) > 0 {
		t.Fatalf("Keys lacks %d", len(held))
	}
	o.equalDocs(t, table)
	o.equalBatches(t, table)
}

// equalClosed compares closed keys that are not common. Tables report those if a document is dead.
func (o *takenOracle) equalClosed(t tb, table *Table, keys []uint64) {
	t.Helper()
	if len(o.dead) == 0 {
		return
	}
	equalClosed(t, table, keys, func(key uint64) bool { return o.keys[key].closed })
}

func equalClosed(t tb, table *Table, keys []uint64, want func(key uint64) bool) {
	t.Helper()
	var p postings
	if err := table.ask(keys, &p); err != nil {
		t.Fatalf("%v", err)
	}
	for i, key := range keys {
		if closed := p.n[i]&ClosedKey > 0; closed != want(key) && p.n[i] != MaxHolders {
			t.Fatalf("key %x: closed %v, want %v", key, closed, !closed)
		}
	}
}

func (o *takenOracle) equalDocs(t tb, table *Table) {
	t.Helper()
	ids := map[string][]uint32{}
	for i, d := range o.docs {
		num := uint32(i + 1)
		got, err := table.Doc(num)
		switch {
		case o.dead[num]:
			if !errors.Is(err, ErrNoDoc) || table.Live(num) {
				t.Fatalf("dead document %d: %v, %v", num, got, err)
			}
		case err != nil || got.ID != d.ID || string(got.Data) != string(d.Data) || !table.Live(num):
			t.Fatalf("document %d: %v, %v", num, got, err)
		case d.ID != "":
			ids[d.ID] = append(ids[d.ID], num)
		}
	}
	for _, d := range o.docs {
		if got, err := table.ByID(d.ID); err != nil || !slices.Equal(got, ids[d.ID]) {
			t.Fatalf("ByID(%q) = %v, %v, want %v", d.ID, got, err, ids[d.ID])
		}
	}
	if st := table.Stats(); int(st.Forgotten) != len(o.dead) || int(st.Documents) != len(o.docs) {
		t.Fatalf("%d of %d documents dead, want %d of %d", st.Forgotten, st.Documents, len(o.dead), len(o.docs))
	}
}

func (o *takenOracle) equalBatches(t tb, table *Table) {
	t.Helper()
	var want []Batch
	for _, name := range slices.Sorted(maps.Keys(o.names)) {
		b := Batch{Name: name}
		for i, n := range o.batch {
			if n == name {
				b.Documents++
				if !o.dead[uint32(i+1)] {
					b.Live++
				}
			}
		}
		want = append(want, b)
	}
	if got := table.Batches(); !slices.Equal(got, want) {
		t.Fatalf("batches %v, want %v", got, want)
	}
	for i, name := range o.batch {
		if got := table.BatchOf(uint32(i + 1)); o.names[name] && got != name || !o.names[name] && got != "" {
			t.Fatalf("document %d is in batch %q, want %q", i+1, got, name)
		}
	}
}

func (o *takenOracle) equalRemoved(t tb, table *Table) {
	t.Helper()
	var got []Removed
	for r, err := range table.Removed() {
		if err != nil {
			t.Fatalf("%v", err)
		}
		got = append(got, r)
	}
	if !slices.Equal(got, o.removed) {
		t.Fatalf("removed %v, want %v", got, o.removed)
	}
}

// sequences is the number of random sequences in the model test, besides those of rapid.
var sequences = flag.Int("sequences", 60, "random sequences of TestTakingBackEqualsOracle")

// TestTakingBackEqualsOracle compares any sequence of adding, taking back, saving, crashing and
// compacting with the rules.
func TestTakingBackEqualsOracle(t *testing.T) {
	t.Parallel()
	n := *sequences
	if testing.Short() {
		n = min(n, 25)
	}
	dir := t.TempDir()
	for seed := range n {
		takeBack(t, filepath.Join(dir, "table"), rand.New(rand.NewPCG(uint64(seed), 7)))
		if t.Failed() {
			t.Fatalf("in sequence %d", seed)
		}
	}
}

func takeBack(t *testing.T, path string, r *rand.Rand) {
	defer os.Remove(path)
	opt := smallOptions
	opt.MemtableKeys = []int{20, 60, 300}[r.IntN(3)]
	names := slices.Sorted(maps.Keys(smallSizes))
	opt.sizes = smallSizes[names[r.IntN(len(names))]]
	opt.Stepwise = r.IntN(2) == 0
	workers := r.IntN(4)
	open := func() *Table {
		table, err := Open(path, opt)
		must(t, err)
		if workers > 0 {
			must(t, table.Share(workers, together))
		}
		return table
	}
	table := open()
	defer func() { must(t, table.Close()) }()
	want := newTakenOracle()
	saved := want.clone()
	space := 1 + r.IntN(60) // of keys; a small one makes keys collide
	for range 10 + r.IntN(40) {
		switch op := r.IntN(24); {
		case op < 9:
			for range 1 + r.IntN(8) {
				d, keys := randomDoc(r, len(want.docs)), fewKeys(r, space)
				want.add(d, keys)
				_, err := table.addDoc(d, keys)
				must(t, err)
			}
		case op < 13:
			forgetSome(t, table, want, r)
		case op == 13:
			forgetBatch(t, table, want, r)
		case op == 14:
			want.current = []string{"", "a", "b", "c"}[r.IntN(4)]
			must(t, table.SetBatch(want.current))
		case op == 15 && len(want.docs) > 0:
			of, id := 1+r.Uint32N(uint32(len(want.docs))), fmt.Sprint("gone-", r.IntN(100))
			table.NoteRemoved(of, id)
			if b := want.batch[of-1]; want.names[b] && b != want.current {
				want.removed = append(want.removed, Removed{of, want.current, id})
			}
		case op == 16:
			must(t, table.Close())
			table = open()
			want = saved.clone()
		case op == 17:
			must(t, table.Checkpoint(nil))
			must(t, table.Compact(context.Background()))
			table = open()
			want.compact()
			want.current = ""
			saved = want.clone()
			want.equalRemoved(t, table)
		case op < 20:
			replaceSome(t, table, want, r, space)
		case op < 22:
			_, err := table.Step()
			must(t, err)
		default:
			must(t, table.Checkpoint(nil))
			saved = want.clone()
			want.equalRemoved(t, table)
		}
		if r.IntN(4) == 0 {
			want.equal(t, table)
		}
	}
	want.equal(t, table)
}

// replaceSome adds versions of a few documents, each when the one before is forgotten.
func replaceSome(t *testing.T, table *Table, want *takenOracle, r *rand.Rand, space int) {
	keys := fewKeys(r, space)
	for range r.IntN(30) {
		d := Doc{ID: fmt.Sprint("page-", r.IntN(3))}
		earlier, err := table.AllByID(d.ID)
		must(t, err)
		forget(t, table, want, earlier)
		want.add(d, keys)
		_, err = table.addDoc(d, keys)
		must(t, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func fewKeys(r *rand.Rand, space int) []uint64 {
	keys := make([]uint64, r.IntN(12))
	for i := range keys {
		keys[i] = uint64(1+r.IntN(space)) * 0x9e3779b97f4a7c15
	}
	return keys
}

func forgetSome(t *testing.T, table *Table, want *takenOracle, r *rand.Rand) {
	if len(want.docs) == 0 {
		return
	}
	var nums []uint32
	for range 1 + r.IntN(6) {
		nums = append(nums, 1+r.Uint32N(uint32(len(want.docs))))
	}
	if r.IntN(4) == 0 { // all, or the first few
		nums = nums[:0]
		for i := range want.docs[:1+r.IntN(len(want.docs))] {
			nums = append(nums, uint32(i+1))
		}
	}
	forget(t, table, want, nums)
}

func forget(t *testing.T, table *Table, want *takenOracle, nums []uint32) {
	live := 0
	for _, num := range nums {
		if !want.dead[num] {
			live++
			want.forget(num)
		}
	}
	if n, err := table.Forget(nums); err != nil || n != live {
		t.Fatalf("Forget = %d, %v, want %d", n, err, live)
	}
}

func forgetBatch(t *testing.T, table *Table, want *takenOracle, r *rand.Rand) {
	name := []string{"a", "b", "c"}[r.IntN(3)]
	nums, err := table.BatchDocs(name)
	if !want.names[name] {
		if !errors.Is(err, ErrNoBatch) || !errors.Is(table.EndBatch(name), ErrNoBatch) {
			t.Fatal(err)
		}
		return
	}
	must(t, err)
	forget(t, table, want, nums)
	must(t, table.EndBatch(name))
	delete(want.names, name)
	for i, n := range want.batch {
		if n == name {
			want.batch[i] = ""
		}
	}
	if want.current == name {
		want.current = ""
		must(t, table.SetBatch(""))
	}
}

// TestNeedsAreTheFeaturesInUse checks that a table declares only the features that readers need.
func TestNeedsAreTheFeaturesInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, smallOptions)
	_, err := table.addDoc(Doc{ID: "a"}, []uint64{1})
	must(t, err)
	must(t, table.Checkpoint(nil))
	if table.head.needs != 0 {
		t.Errorf("a table of before needs %#x", table.head.needs)
	}
	if _, err := table.Forget([]uint32{2}); !errors.Is(err, ErrNoDoc) {
		t.Errorf("a document that there is not: %v", err)
	}
	before := table.Generation()
	_, err = table.Forget([]uint32{1})
	must(t, err)
	must(t, table.SaveForgotten())
	if table.head.needs != needsDead || table.Generation() != before {
		t.Errorf("needs %#x, %+v, before %+v", table.head.needs, table.Generation(), before)
	}
	must(t, table.SetBatch("b"))
	_, err = table.addDoc(Doc{ID: "a"}, []uint64{1})
	must(t, err)
	if err := table.SaveForgotten(); err == nil {
		t.Error("saved beside a document in no checkpoint")
	}
	must(t, table.Checkpoint(nil))
	if table.head.needs != needsDead|needsBatches {
		t.Errorf("needs %#x", table.head.needs)
	}
}

// TestManyBatches checks that a checkpoint scans the documents once, not once for each batch.
func TestManyBatches(t *testing.T) {
	tab, err := Open(filepath.Join(t.TempDir(), "table"), Options{Scheme: "s", noSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	const batches = 5000
	for i := range uint64(batches) {
		must(t, tab.SetBatch(fmt.Sprint(i)))
		_, err := tab.Add([]string{""}, [][]byte{nil}, [][]uint64{{i << 40}}, nil, nil)
		must(t, err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	must(t, tab.Checkpoint(nil))
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 50<<20 || len(tab.Batches()) != batches {
		t.Errorf("%d bytes were allocated for %d batches", bytes, len(tab.Batches()))
	}
}
