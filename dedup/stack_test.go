package dedup_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/testing/oracle"
)

// A dealt store is a stack that fills its earlier stores first, so that they are not empty.
type dealt struct {
	*dedup.Stack
	earlier []dedup.SharedStore
	sizes   []uint32
}

func newDealt(sizes []uint32, open func() dedup.SharedStore) *dealt {
	d := &dealt{sizes: sizes}
	for range sizes {
		d.earlier = append(d.earlier, open())
	}
	d.Stack = dedup.NewStack(d.earlier, open())
	return d
}

func (d *dealt) Add(ids []string, data [][]byte, keys [][]uint64, times []uint32, marks []bool) (first uint32, err error) {
	first = d.Documents() + 1
	if times == nil {
		times = make([]uint32, len(ids))
	}
	if marks == nil {
		marks = make([]bool, len(ids))
	}
	for i, store := range d.earlier {
		n := min(int(d.sizes[i]-store.Documents()), len(ids))
		if n == 0 {
			continue
		}
		if _, err := store.Add(ids[:n], data[:n], keys[:n], times[:n], marks[:n]); err != nil {
			return 0, err
		}
		ids, data, keys, times, marks = ids[n:], data[n:], keys[n:], times[n:], marks[n:]
	}
	_, err = d.Stack.Add(ids, data, keys, times, marks)
	return first, err
}

// TestStackIsAStore checks the contract of a store, however the documents are divided.
func TestStackIsAStore(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, sizes := range [][]uint32{{}, {0}, {1}, {3, 0, 5}, {7, 2}, {100, 1000}} {
		t.Run(fmt.Sprint(sizes), func(t *testing.T) {
			testStore(t, func(*testing.T) dedup.Store {
				return newDealt(sizes, func() dedup.SharedStore { return &dedup.Memory{} })
			})
		})
	}
	t.Run("in files", func(t *testing.T) {
		testStore(t, func(t *testing.T) dedup.Store {
			n := 0
			return newDealt([]uint32{5, 40}, func() dedup.SharedStore {
				n++
				return newTable(t, fmt.Sprint("table", n, ".db")).(dedup.SharedStore)
			})
		})
	})
}

// A full store leaves one number for a later store.
type full struct{ dedup.Memory }

func (*full) Documents() uint32 { return math.MaxUint32 - 1 }

func TestStackWithoutNumbers(t *testing.T) {
	s := dedup.NewStack([]dedup.SharedStore{&full{}}, &dedup.Memory{})
	if first, err := s.Add([]string{"a"}, [][]byte{nil}, [][]uint64{nil}, nil, nil); err != nil || first != math.MaxUint32 {
		t.Errorf("the last number: %d, %v", first, err)
	}
	if _, err := s.Add([]string{"b"}, [][]byte{nil}, [][]uint64{nil}, nil, nil); err == nil {
		t.Error("a document has a number that there is none of")
	}
	d, err := dedup.New(dedup.Config{Table: s})
	if err != nil || d.CanDecideAll(1) {
		t.Errorf("a batch has numbers that there are none of: %v", err)
	}
}

// TestStackEqualsOracle divides a stream into stores, each made against those before it. Every
// field equals the oracle's, one by one or in batches, with or without filters.
func TestStackEqualsOracle(t *testing.T) {
	events := map[string]int{}
	checkUntil(t, all(events, allEvents), func(rt *rapid.T) {
		rules := dedup.Rules{
			Score:         rapid.SampledFrom([]dedup.Score{dedup.ScoreText, dedup.ScoreText, dedup.ScoreSegments}).Draw(rt, "score"),
			RemoveMosaics: rapid.Bool().Draw(rt, "remove mosaics"),
		}
		w, scheme := drawWorld(rt, &rules)
		keys := rapid.SampledFrom(filterSizes).Draw(rt, "filter keys")
		pool := poolOf(rapid.IntRange(1, 3).Draw(rt, "workers"))
		o := oracle.New(rules)
		var earlier []dedup.SharedStore
		var filters []*bloomstore.Filter
		for part := range rapid.IntRange(2, 5).Draw(rt, "parts") {
			own, filter := &dedup.Memory{}, newFilter(rt, keys)
			cfg := dedup.Config{Scheme: scheme, Rules: rules, Table: own, Earlier: earlier, Filter: filter, Now: fixedNow}
			if filter != nil {
				cfg.EarlierFilters = filters
			}
			d, err := dedup.New(cfg)
			if err != nil {
				rt.Fatal(err)
			}
			var ids []string
			var sets []*feature.Sketch
			for i := range rapid.IntRange(0, 50).Draw(rt, "documents") {
				ids, sets = append(ids, fmt.Sprint("doc", part, "-", i%7)), append(sets, w.document())
			}
			got := judgePart(rt, d, pool, ids, sets, rapid.Bool().Draw(rt, "in a batch"))
			for i := range sets {
				want := o.Decide(ids[i], sets[i])
				if diff := gocmp.Diff(want, got[i], cmpopts.EquateEmpty()); diff != "" {
					rt.Fatalf("document %d of part %d (-oracle +stack):\n%s", i, part, diff)
				}
				events[event(&want)]++
			}
			earlier, filters = append(earlier, own), append(filters, filter)
		}
	})
	for _, e := range allEvents {
		if events[e] == 0 {
			t.Errorf("no decision was %q: the documents drawn show too little", e)
		}
	}
}

func judgePart(rt *rapid.T, d *dedup.Deduper, pool dedup.Pool, ids []string, sets []*feature.Sketch, batch bool) (got []dedup.Result) {
	if batch {
		return decideAll(rt, d, pool, ids, sets)
	}
	for i := range ids {
		r, err := d.Decide(dedup.Document{ID: ids[i], Sketch: sets[i]})
		if err != nil {
			rt.Fatal(err)
		}
		r = r.Clone()
		got = append(got, r)
	}
	return got
}

// TestStackOfStoresMadeApart checks that stores made independently count as one with all their
// documents. The holders named for a key are the first over all stores.
func TestStackOfStoresMadeApart(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rules := dedup.Rules{Threshold: 0.5}
		w := newWorld(rapid.Uint64().Draw(rt, "seed"))
		one := &dedup.Memory{}
		var parts []dedup.SharedStore
		for part := range rapid.IntRange(1, 4).Draw(rt, "parts") {
			own := &dedup.Memory{}
			d, err := dedup.New(dedup.Config{Rules: rules, Table: recorder{own, one}, Now: fixedNow})
			if err != nil {
				rt.Fatal(err)
			}
			for i := range 30 {
				if _, err := d.Decide(dedup.Document{ID: fmt.Sprint(part, "-", i), Sketch: w.document()}); err != nil {
					rt.Fatal(err)
				}
			}
			parts = append(parts, own)
		}
		stacked, err := dedup.New(dedup.Config{Rules: rules, Table: &dedup.Memory{}, Earlier: parts, Now: fixedNow})
		if err != nil {
			rt.Fatal(err)
		}
		whole, err := dedup.New(dedup.Config{Rules: rules, Table: one, Now: fixedNow})
		if err != nil {
			rt.Fatal(err)
		}
		for i := range 60 {
			set := w.document()
			want, err := whole.Decide(dedup.Document{ID: fmt.Sprint(i), Sketch: set})
			if err != nil {
				rt.Fatal(err)
			}
			got, err := stacked.Decide(dedup.Document{ID: fmt.Sprint(i), Sketch: set})
			if err != nil {
				rt.Fatal(err)
			}
			if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				rt.Fatalf("document %d (-one +stack):\n%s", i, diff)
			}
		}
	})
}

// A recorder also adds documents to another store.
type recorder struct {
	*dedup.Memory
	also *dedup.Memory
}

func (r recorder) Add(ids []string, data [][]byte, keys [][]uint64, times []uint32, marks []bool) (uint32, error) {
	if _, err := r.also.Add(ids, data, keys, times, marks); err != nil {
		return 0, err
	}
	return r.Memory.Add(ids, data, keys, times, marks)
}

// TestStackOfLongDocuments checks that the filters of earlier stores are asked for all keys of a
// long document. The last is that of its whole text.
func TestStackOfLongDocuments(t *testing.T) {
	scheme := feature.Scheme{Segments: 500}
	extractor, err := feature.NewExtractor(scheme)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for i := range 200 {
		text += fmt.Sprintf("This is sentence number s%d of a long document.\n", i)
	}
	var set feature.Sketch
	extractor.Extract(&set, []byte(text))
	earlier, filter := &dedup.Memory{}, newFilter(t, 1000)
	for i, cfg := range []dedup.Config{
		{Table: earlier, Filter: filter},
		{Table: &dedup.Memory{}, Filter: newFilter(t, 1000), Earlier: []dedup.SharedStore{earlier}, EarlierFilters: []*bloomstore.Filter{filter}},
	} {
		cfg.Scheme, cfg.Now = scheme, fixedNow
		d, err := dedup.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := d.Decide(dedup.Document{ID: "x", Sketch: &set}); err != nil || r.Segments < 150 || r.Exact != (i == 1) {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// TestStackWithoutTheForgotten checks a key closed in a later store: it is common, and the live
// holders of both stores are named. Forgotten documents are not live.
func TestStackWithoutTheForgotten(t *testing.T) {
	type forgetful interface {
		dedup.SharedStore
		Forget(nums []uint32) (int, error)
	}
	first, last := newTable(t, "first.db").(forgetful), newTable(t, "last.db").(forgetful)
	add := func(s dedup.Store, keys ...uint64) {
		t.Helper()
		if _, err := s.Add([]string{""}, [][]byte{nil}, [][]uint64{keys}, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	const common, rare = 1 << 60, 2 << 60
	add(first, common, rare)
	add(first, common)
	for range dedup.MaxHolders {
		add(last, common)
	}
	add(last, rare)
	for s, nums := range map[forgetful][]uint32{first: {2}, last: {1, 2, 3, 4, 5}} {
		if n, err := s.Forget(nums); n != len(nums) || err != nil {
			t.Fatal(n, err)
		}
	}
	stack := dedup.NewStack([]dedup.SharedStore{first}, last)
	holders, n := make([]uint32, 2*dedup.MaxHolders), make([]uint8, 2)
	if err := stack.Lookup([]uint64{common, rare}, holders, n); err != nil {
		t.Fatal(err)
	}
	if got, want := holders[:n[0]], []uint32{0, 0, 0, 0, 1, 8, 9, 10}; !slices.Equal(got, want) {
		t.Errorf("the common key is held by %v, want %v", got, want)
	}
	if got, want := holders[dedup.MaxHolders:][:n[1]], []uint32{1, 11}; !slices.Equal(got, want) {
		t.Errorf("the rare key is held by %v, want %v", got, want)
	}
	for num := range uint32(13) {
		if want := num == 1 || num >= 8 && num <= 11; stack.Live(num) != want {
			t.Errorf("document %d is live: %v", num, !want)
		}
	}
}
