package memtable

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// replaced makes each document replace another, in the way of package docmap: document doc is gone
// from document at[doc] on.
func replaced(m *Table, at []uint32) {
	m.Gone = func(held, doc uint32) bool { return at[held] <= doc }
	m.Spare = func(docs []uint32, doc uint32) int {
		if i := slices.IndexFunc(docs, func(d uint32) bool { return m.Gone(d, doc) }); i >= 0 {
			return i
		}
		return len(docs)
	}
}

// TestVersionsVisitFewBuckets bounds the buckets that a document's keys visit, however many versions of
// it came before.
func TestVersionsVisitFewBuckets(t *testing.T) {
	const versions, frame = 4000, 46
	m := newTable(t, 1<<16, 8)
	at := make([]uint32, versions+1)
	for doc := range at {
		at[doc] = uint32(doc) + 1
	}
	replaced(m, at)
	r := rand.New(rand.NewPCG(1, 2))
	keys := make([]uint64, frame)
	for i := range keys {
		keys[i] = r.Uint64()
	}
	for doc := uint32(1); doc <= versions; doc++ {
		add(t, m, doc, keys...)
	}
	visited := 0
	for _, k := range keys {
		visited += m.free(k) - m.home(k)
	}
	if m.Len() != frame || visited > frame/2 {
		t.Errorf("%d keys have %d entries, and a document visits %d more buckets", frame, m.Len(), visited)
	}
}

// TestReplacedTogether compares goroutines with one, and with a model, while documents go.
func TestReplacedTogether(t *testing.T) {
	const batches, size = 60, 40
	r := rand.New(rand.NewPCG(3, 4))
	at := make([]uint32, batches*size+1)
	for doc := range at {
		at[doc] = uint32(doc) + 1 + r.Uint32N(300)
		at[doc] -= (at[doc] - 1) % size // a batch begins
	}
	alone, shared := newTable(t, 1<<12, 8), newTable(t, 1<<12, 8)
	replaced(alone, at)
	replaced(shared, at)
	want := map[uint64][]uint32{}
	for batch := range uint32(batches) {
		first := batch*size + 1
		docs := make([][]uint64, size)
		for i := range docs {
			for range 20 {
				k := r.Uint64N(100) * 0x28f5c28f5c28f5c // all over the key space
				docs[i] = append(docs[i], k+r.Uint64N(2))
			}
			for _, k := range docs[i] {
				want[k] = replace(want[k], at, first+uint32(i))
			}
		}
		for m, by := range map[*Table]Spread{alone: Alone, shared: {4, backwards}} {
			if err := m.AddAll(docs, first, by); err != nil {
				t.Fatal(err)
			}
		}
	}
	n := 0
	for k, docs := range want {
		n += len(docs)
		for _, m := range []*Table{alone, shared} {
			if got := m.Find(make([]uint32, 0, 100), k); !slices.Equal(got, docs) {
				t.Fatalf("key %x: %v, want %v", k, got, docs)
			}
		}
	}
	if alone.Len() != n || shared.Len() != n {
		t.Errorf("%d and %d entries, want %d", alone.Len(), shared.Len(), n)
	}
}

// replace is what a table does with a document of one key.
func replace(docs []uint32, at []uint32, doc uint32) []uint32 {
	live := 0
	for _, d := range docs {
		if at[d] > doc {
			live++
		}
	}
	if live >= 8 || slices.Contains(docs, doc) {
		return docs
	}
	if i := slices.IndexFunc(docs, func(d uint32) bool { return at[d] <= doc }); i >= 0 {
		docs = slices.Delete(docs, i, i+1)
	}
	return append(docs, doc)
}

// backwards runs the parts in the other order.
func backwards(n int, f func(part int)) {
	for i := range n {
		f(n - 1 - i)
	}
}
