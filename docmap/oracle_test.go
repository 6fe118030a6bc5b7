package docmap

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/docmap/sorted"
)

// oracle models a Table by Go maps with the same limits.
type oracle struct {
	keys  map[uint64][]uint32
	ids   map[string][]uint32
	docs  []Doc
	state map[string][]byte
	seq   uint64

	content uint64
}

func newOracle() *oracle {
	return &oracle{keys: map[uint64][]uint32{}, ids: map[string][]uint32{}, state: map[string][]byte{}}
}

func (o *oracle) add(d Doc, keys []uint64) uint32 {
	o.docs = append(o.docs, d)
	num := uint32(len(o.docs))
	o.content = contentAfter(o.content, num, d, keys)
	for _, k := range keys {
		l := o.keys[k]
		if len(l) < MaxHolders && !slices.Contains(l, num) {
			o.keys[k] = append(l, num)
		}
	}
	if d.ID != "" && len(o.ids[d.ID]) < idLimit {
		o.ids[d.ID] = append(o.ids[d.ID], num)
	}
	return num
}

// clone returns a copy of the state, to restore after a crash.
func (o *oracle) clone() *oracle {
	c := newOracle()
	for k, v := range o.keys {
		c.keys[k] = slices.Clone(v)
	}
	for k, v := range o.ids {
		c.ids[k] = slices.Clone(v)
	}
	for k, v := range o.state {
		c.state[k] = slices.Clone(v)
	}
	c.docs, c.seq, c.content = slices.Clone(o.docs), o.seq, o.content
	return c
}

// tb holds the common methods of testing.T and rapid.T.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

func (o *oracle) equal(t tb, table *Table) {
	t.Helper()
	sorted := make([]uint64, 0, len(o.keys))
	for k := range o.keys {
		sorted = append(sorted, k)
	}
	slices.Sort(sorted)
	i := 0
	for p, err := range table.All() {
		if err != nil {
			t.Fatalf("All: %v", err)
		}
		if i >= len(sorted) || p.Key != sorted[i] || !slices.Equal(p.Docs, o.keys[p.Key]) {
			t.Fatalf("All: posting %d is %x: %v, want one of %d keys: %v", i, p.Key, p.Docs, len(sorted), o.keys[p.Key])
		}
		i++
	}
	if i != len(sorted) {
		t.Fatalf("All gives %d keys, want %d", i, len(sorted))
	}
	if found, err := table.Verify(context.Background()); err != nil || len(found) > 0 {
		t.Fatalf("%v, %v", found, err)
	}
	o.equalLookups(t, table, sorted)
	o.equalDocs(t, table)
	seen := map[uint64]bool{}
	for batch, err := range table.Keys() {
		if err != nil {
			t.Fatalf("Keys: %v", err)
		}
		for _, k := range batch {
			seen[k] = true
		}
	}
	if len(seen) != len(sorted) {
		t.Fatalf("Keys gives %d keys, want %d", len(seen), len(sorted))
	}
}

func (o *oracle) equalLookups(t tb, table *Table, keys []uint64) {
	t.Helper()
	ask := slices.Clone(keys)
	for _, k := range keys {
		ask = append(ask, k+1, k^1<<40, ^k)
	}
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(ask), func(i, j int) { ask[i], ask[j] = ask[j], ask[i] })
	var p postings
	for part := range slices.Chunk(ask, 61) {
		if err := table.ask(part, &p); err != nil {
			t.Fatalf("Lookup: %v", err)
		}
		for i, k := range part {
			if !slices.Equal(p.of(i), o.keys[k]) {
				t.Fatalf("Lookup(%x) = %v, want %v", k, p.of(i), o.keys[k])
			}
		}
	}
}

func (o *oracle) equalDocs(t tb, table *Table) {
	t.Helper()
	n := 0
	for d, err := range table.Docs(1) {
		if err != nil {
			t.Fatalf("Docs: %v", err)
		}
		n++
		if diff := cmp.Diff(NumberedDoc{uint32(n), o.docs[n-1]}, d, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("Docs (-want +got):\n%s", diff)
		}
	}
	if n != len(o.docs) {
		t.Fatalf("Docs gives %d, want %d", n, len(o.docs))
	}
	for id, want := range o.ids {
		got, err := table.ByID(id)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("ByID(%q) = %v, %v, want %v", id, got, err, want)
		}
	}
	for name, want := range o.state {
		got, err := table.State(name)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("State(%q) = %q, %v, want %q", name, got, err, want)
		}
	}
	if seq := table.Generation().Sequence; seq != o.seq {
		t.Fatalf("sequence %d, want %d", seq, o.seq)
	}
	if table.content != o.content {
		t.Fatalf("content %x, want %x", table.content, o.content)
	}
}

// smallSizes make small tables act like large ones: many bins per run, merges that stop halfway,
// several levels and many transactions.
var smallSizes = map[string]sizes{
	"as they are":   {},
	"many bins":     {division: sorted.Division{BlockBits: 3, MaxSubBits: 1}, low: 2, high: 2, sliceBytes: 500},
	"one sub-block": {division: sorted.Division{BlockBits: 4, MaxSubBits: 0}, low: 3, high: 2, sliceBytes: 1},
	"one slice":     {division: sorted.Division{BlockBits: 5, MaxSubBits: 2}, low: 2, high: 3, sliceBytes: 1 << 20},
}

var smallOptions = Options{Scheme: "test", MemtableKeys: 300, PendingKeys: 50, UUID: [16]byte{1}, noSync: true}

// mustOpen opens a table that the test closes at its end.
func mustOpen(t testing.TB, path string, opt Options) *Table {
	t.Helper()
	table, err := Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	})
	return table
}

// docKeys draws keys of a document: mostly uniform, some common, some at the ends of the key space.
func docKeys(r *rand.Rand, n int) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		switch r.IntN(10) {
		case 0:
			keys[i] = uint64(r.IntN(20)) * 0x9e3779b97f4a7c15
		case 1:
			keys[i] = uint64(r.IntN(3)) - 1
		case 2:
			keys[i] = 0x7777<<48 | uint64(r.IntN(1000))
		default:
			keys[i] = r.Uint64()
		}
	}
	return keys
}

func randomDoc(r *rand.Rand, num int) Doc {
	d := Doc{ID: fmt.Sprint("doc-", r.IntN(num+1)), Data: make([]byte, r.IntN(40))}
	for i := range d.Data {
		d.Data[i] = byte(r.Uint32())
	}
	if r.IntN(20) == 0 {
		d.ID = ""
	}
	return d
}

func TestTableEqualsOracle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		path := filepath.Join(dir, fmt.Sprint(run))
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		opt := smallOptions
		opt.MemtableKeys = rapid.SampledFrom([]int{20, 200, 600}).Draw(rt, "memtable")
		opt.sizes = smallSizes[rapid.SampledFrom(slices.Sorted(maps.Keys(smallSizes))).Draw(rt, "sizes")]
		opt.Stepwise = rapid.Bool().Draw(rt, "stepwise")
		workers := rapid.IntRange(0, 3).Draw(rt, "workers")
		open := func() (*Table, error) {
			table, err := Open(path, opt)
			if err == nil && workers > 0 {
				err = table.Share(workers, together)
			}
			return table, err
		}
		table, err := open()
		if err != nil {
			rt.Fatalf("%v", err)
		}
		want, saved := newOracle(), newOracle()
		reopen := func() {
			if err := table.Close(); err != nil {
				rt.Fatalf("%v", err)
			}
			if table, err = open(); err != nil {
				rt.Fatalf("%v", err)
			}
			want = saved.clone()
		}
		rt.Repeat(map[string]func(*rapid.T){
			"add": func(*rapid.T) {
				for range 1 + r.IntN(15) {
					d, keys := randomDoc(r, len(want.docs)), docKeys(r, r.IntN(60))
					num, err := table.addDoc(d, keys)
					if w := want.add(d, keys); err != nil || num != w {
						rt.Fatalf("Add = %d, %v, want %d", num, err, w)
					}
				}
			},
			"checkpoint": func(*rapid.T) {
				v := []byte(fmt.Sprint(len(want.docs)))
				if err := table.Checkpoint(map[string][]byte{"progress": v}); err != nil {
					rt.Fatalf("%v", err)
				}
				want.state["progress"] = v
				want.seq++
				saved = want.clone()
			},
			"step": func(*rapid.T) {
				if _, err := table.Step(); err != nil {
					rt.Fatalf("%v", err)
				}
			},
			"reopen":  func(*rapid.T) { reopen() },
			"compare": func(rt *rapid.T) { want.equal(rt, table) },
		})
		reopen()
		want.equal(rt, table)
		if err := table.Close(); err != nil {
			rt.Fatalf("%v", err)
		}
	})
}
