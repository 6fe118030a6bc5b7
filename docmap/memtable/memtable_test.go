package memtable

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
)

func newTable(t testing.TB, n, limit int) *Table {
	t.Helper()
	m, err := New(n, limit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func add(t testing.TB, m *Table, doc uint32, keys ...uint64) {
	t.Helper()
	if err := m.AddAll([][]uint64{keys}, doc, Alone); err != nil {
		t.Fatal(err)
	}
}

// model is a memtable as a map.
type model struct {
	limit int
	docs  map[uint64][]uint32
	n     int
}

func (w *model) add(doc uint32, keys []uint64) {
	for _, k := range keys {
		l := w.docs[k]
		if len(l) < w.limit && !slices.Contains(l, doc) {
			w.docs[k] = append(l, doc)
			w.n++
		}
	}
}

func (w *model) equal(t *testing.T, m *Table) {
	t.Helper()
	if m.Len() != w.n {
		t.Fatalf("%d entries, want %d", m.Len(), w.n)
	}
	found := make([]uint32, 0, w.limit)
	for k, want := range w.docs {
		if got := m.Find(found[:0], k); !slices.Equal(got, want) {
			t.Fatalf("key %x: %v, want %v", k, got, want)
		}
		if got := m.Find(found[:0], k^1<<20); !slices.Equal(got, w.docs[k^1<<20]) {
			t.Fatalf("key %x: %v, want %v", k^1<<20, got, w.docs[k^1<<20])
		}
	}
	w.collected(t, m, 1)
	w.collected(t, m, 7)
}

// collected checks that consecutive ranges yield each entry once and, if there are several, those of a
// key in order.
func (w *model) collected(t *testing.T, m *Table, parts uint64) {
	t.Helper()
	all := map[uint64][]uint32{}
	for i := range parts {
		from, to := i*(math.MaxUint64/parts), (i+1)*(math.MaxUint64/parts)-1
		if i == parts-1 {
			to = math.MaxUint64
		}
		keys, docs := m.Collect(nil, nil, from, to)
		for j, k := range keys {
			if k < from || k > to {
				t.Fatalf("key %x is not in %x..%x", k, from, to)
			}
			all[k] = append(all[k], docs[j])
		}
	}
	for k, want := range w.docs {
		if parts == 1 { // entries behind the end, in the first buckets, come first
			slices.Sort(all[k])
		}
		if !slices.Equal(all[k], want) {
			t.Fatalf("collected of key %x: %v, want %v", k, all[k], want)
		}
		delete(all, k)
	}
	if len(all) > 0 {
		t.Fatalf("%d keys too many are collected", len(all))
	}
}

// TestTableEqualsModel compares with a map: while growing, with keys of many documents, with a
// cluster around the end, and after Reset.
func TestTableEqualsModel(t *testing.T) {
	for _, limit := range []int{1, 8, 100} {
		r := rand.New(rand.NewPCG(1, uint64(limit)))
		m := newTable(t, 100_000, limit)
		for round := range 2 {
			w := &model{limit: limit, docs: map[uint64][]uint32{}}
			for doc := uint32(1); doc <= 400; doc++ {
				keys := make([]uint64, r.IntN(60))
				for i := range keys {
					keys[i] = r.Uint64()
					switch r.IntN(10) {
					case 0:
						keys[i] = uint64(r.IntN(20)) * 0x9e3779b97f4a7c15
					case 1:
						keys[i] = uint64(r.IntN(6)) - 3 // around the end of the key space
					}
				}
				add(t, m, doc, keys...)
				w.add(doc, keys)
				if doc%100 == 0 {
					w.equal(t, m)
				}
			}
			if m.Reset(); m.Len() != 0 || len(m.Find(make([]uint32, 0, 8), 0)) > 0 {
				t.Fatal("entries are left after a reset in round ", round)
			}
		}
	}
}

// TestFindIsBounded checks that Find stops when its slice is full.
func TestFindIsBounded(t *testing.T) {
	m := newTable(t, 10, 8)
	for doc := range uint32(5) {
		add(t, m, doc+1, 7)
	}
	if got := m.Find(make([]uint32, 1, 3), 7); !slices.Equal(got, []uint32{0, 1, 2}) {
		t.Error(got)
	}
}

// TestReserveKeepsMemoryInPlace checks that nothing grows or moves after Reserve.
func TestReserveKeepsMemoryInPlace(t *testing.T) {
	m := newTable(t, 10, 8)
	before := m.Bytes()
	if err := m.Reserve(50_000, Alone); err != nil {
		t.Fatal(err)
	}
	room := m.Bytes()
	if room < 50_000*12 || room < before {
		t.Fatalf("%d bytes, %d before", room, before)
	}
	r := rand.New(rand.NewPCG(2, 2))
	for doc := range uint32(1000) {
		keys := make([]uint64, 50)
		for i := range keys {
			keys[i] = r.Uint64()
		}
		add(t, m, doc+1, keys...)
	}
	if m.Bytes() != room || m.Len() != 50_000 {
		t.Errorf("%d entries in %d bytes, want %d", m.Len(), m.Bytes(), room)
	}
}

func BenchmarkAdd(b *testing.B) {
	m := newTable(b, 6<<20, 8)
	r := rand.New(rand.NewPCG(3, 3))
	keys := make([]uint64, 51)
	for doc := uint32(1); b.Loop(); doc++ {
		for i := range keys {
			keys[i] = r.Uint64()
		}
		if m.Len() > 6<<20 {
			m.Reset()
		}
		add(b, m, doc, keys...)
	}
}

// BenchmarkAddAll adds the documents of a block on one goroutine and on one per processor. An
// operation is a document of 51 keys.
func BenchmarkAddAll(b *testing.B) {
	for name, parts := range map[string]int{"alone": 1, "together": runtime.GOMAXPROCS(0)} {
		b.Run(name, func(b *testing.B) {
			m := newTable(b, 6<<20, 8)
			by := Spread{parts, func(n int, f func(int)) {
				var wg sync.WaitGroup
				for i := range n {
					wg.Go(func() { f(i) })
				}
				wg.Wait()
			}}
			r := rand.New(rand.NewPCG(3, 3))
			docs := make([][]uint64, 290)
			for i := range docs {
				docs[i] = make([]uint64, 51)
			}
			first := uint32(1)
			for done := 0; done < b.N; done += len(docs) {
				b.StopTimer()
				for _, keys := range docs {
					for i := range keys {
						keys[i] = r.Uint64()
					}
				}
				if m.Len() > 6<<20 {
					m.Reset()
				}
				b.StartTimer()
				if err := m.AddAll(docs, first, by); err != nil {
					b.Fatal(err)
				}
				first += uint32(len(docs))
			}
		})
	}
}

// TestAddAllEqualsModel compares AddAll, in any number of parts and goroutines, with adding
// documents one by one. Tables grow, and clusters cross the borders of parts and the end.
func TestAddAllEqualsModel(t *testing.T) {
	for _, parts := range []int{1, 2, 3, 8, 61} {
		by := Spread{parts, func(n int, f func(int)) {
			var wg sync.WaitGroup
			for i := range n {
				wg.Go(func() { f(i) })
			}
			wg.Wait()
		}}
		for _, limit := range []int{1, 8} {
			r := rand.New(rand.NewPCG(uint64(parts), uint64(limit)))
			m := newTable(t, 60_000, limit)
			w := &model{limit: limit, docs: map[uint64][]uint32{}}
			for first := uint32(1); first < 1500; {
				docs := make([][]uint64, r.IntN(90))
				for i := range docs {
					for range r.IntN(50) {
						key := r.Uint64()
						switch r.IntN(8) {
						case 0:
							key = uint64(r.IntN(20)) * 0x9e3779b97f4a7c15
						case 1:
							key = uint64(r.IntN(6)) - 3 // around the end of the key space
						case 2: // just below the border of a part
							key = (1<<63/uint64(parts))*2*uint64(1+r.IntN(parts)) - 1 - uint64(r.IntN(3))
						}
						docs[i] = append(docs[i], key)
					}
					w.add(first+uint32(i), docs[i])
				}
				if err := m.AddAll(docs, first, by); err != nil {
					t.Fatal(err)
				}
				first += uint32(len(docs))
			}
			w.equal(t, m)
		}
	}
}

// TestGrowthIsSpread checks that goroutines move the entries of a growing table to the same slots as
// one does, also those of keys that go on behind its end.
func TestGrowthIsSpread(t *testing.T) {
	grown := func(parts int) *Table {
		m := newTable(t, 200_000, 8)
		by := Spread{parts, func(n int, f func(part int)) {
			var running sync.WaitGroup
			for i := range n {
				running.Go(func() { f(i) })
			}
			running.Wait()
		}}
		rng := rand.New(rand.NewPCG(7, 7))
		for doc := range uint32(3000) {
			keys := []uint64{-uint64(doc%40) - 1, uint64(doc % 40)}
			for range 50 {
				keys = append(keys, rng.Uint64())
			}
			if err := m.AddAll([][]uint64{keys}, doc+1, Spread{1, by.Run}); err != nil {
				t.Fatal(err)
			}
			if err := m.Reserve(50, by); err != nil {
				t.Fatal(err)
			}
		}
		return m
	}
	want := grown(1)
	for _, parts := range []int{2, 7, 64} {
		if m := grown(parts); m.n != want.n || !slices.Equal(m.mem, want.mem) {
			t.Errorf("%d parts: the slots differ", parts)
		}
	}
}
