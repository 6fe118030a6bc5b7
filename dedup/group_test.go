package dedup_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/base/fields"
	"github.com/firstseen/firstseen/internal/testing/oracle"
)

// poolOf returns a pool of size goroutines, which begin with the last task.
func poolOf(size int) dedup.Pool {
	return dedup.Pool{Size: size, Run: func(tasks int, f func(worker, task int)) {
		left := make(chan int, tasks)
		for i := range tasks {
			left <- tasks - 1 - i
		}
		close(left)
		var wg sync.WaitGroup
		for worker := range size {
			wg.Go(func() {
				for task := range left {
					f(worker, task)
				}
			})
		}
		wg.Wait()
	}}
}

// addedOf returns the field stored with an ID, none for some.
func addedOf(id string) []byte {
	if len(id)%3 == 0 {
		return nil
	}
	return fields.Append(nil, 200, []byte(id))
}

// decideAll decides documents in one batch and returns their results.
func decideAll(t interface{ Fatal(...any) }, d *dedup.Deduper, pool dedup.Pool, ids []string, sets []*feature.Sketch) []dedup.Result {
	var b dedup.Group
	for i := range ids {
		b.Add(dedup.Document{ID: ids[i], Sketch: sets[i], Added: addedOf(ids[i])})
	}
	b.Link()
	results := make([]dedup.Result, len(ids))
	calls := make([]int, len(ids))
	err := d.DecideAll(&b, pool, func(worker, i int, r *dedup.Result, _ []int) {
		if calls[i]++; worker < 0 || worker >= pool.Size {
			panic("a worker that is none of the crew")
		}
		results[i] = r.Clone()
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range calls {
		if n != 1 {
			t.Fatal(fmt.Sprintf("document %d was told %d times", i, n))
		}
	}
	return results
}

// checkBatches decides documents in batches and compares every field with the oracle, then the
// store and the filter with those of single decisions.
func checkBatches(rt *rapid.T, w drawer, scheme feature.Scheme, rules dedup.Rules, events map[string]int) {
	keys := rapid.SampledFrom(filterSizes).Draw(rt, "filter keys")
	finds := rapid.Bool().Draw(rt, "finds passages")
	var stores [2]dedup.Memory
	var dedupers [2]*dedup.Deduper
	for i := range stores {
		cfg := dedup.Config{Scheme: scheme, Rules: rules, Table: &stores[i], Filter: newFilter(rt, keys), Now: fixedNow}
		if finds { // must change no number in a result
			cfg.Passages = func(*dedup.Document, []dedup.PassageCandidate, *dedup.Result) error { return nil }
		}
		var err error
		if dedupers[i], err = dedup.New(cfg); err != nil {
			rt.Fatal(err)
		}
	}
	o := oracle.New(rules)
	pool := poolOf(rapid.IntRange(1, 5).Draw(rt, "workers"))
	most := rapid.SampledFrom([]int{1, 7, 40, 160}).Draw(rt, "batch")
	for at := 0; at < 160; {
		var ids []string
		var sets []*feature.Sketch
		for range rapid.IntRange(1, most).Draw(rt, "documents") {
			ids, sets = append(ids, fmt.Sprint("doc", at*at%40)), append(sets, w.document())
			at++
		}
		got := decideAll(rt, dedupers[0], pool, ids, sets)
		for i, set := range sets {
			want := o.Decide(ids[i], set)
			if diff := gocmp.Diff(want, got[i], cmpopts.EquateEmpty()); diff != "" {
				rt.Fatalf("document %d of a batch of %d (-oracle +batch):\n%s", i, len(sets), diff)
			}
			if _, err := dedupers[1].Decide(dedup.Document{ID: ids[i], Sketch: set, Added: addedOf(ids[i])}); err != nil {
				rt.Fatal(err)
			}
			events[event(&want)]++
		}
	}
	if !reflect.DeepEqual(&stores[0], &stores[1]) {
		rt.Fatal("the batches left another store than the documents one by one")
	}
	if keys > 0 && !bytes.Equal(exported(rt, dedupers[0]), exported(rt, dedupers[1])) {
		rt.Fatal("the batches left another filter than the documents one by one")
	}
	if a, b := dedupers[0].Counts(), dedupers[1].Counts(); keys != 1 && keys != 40 && a != b {
		rt.Fatalf("with no false positives batches count %+v, documents one by one %+v", a, b)
	}
}

func exported(t interface{ Fatal(...any) }, d *dedup.Deduper) []byte {
	var b bytes.Buffer
	if err := dedup.ConfigOf(d).Filter.Export(&b); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(&b, dedup.ConfigOf(d).Filter.Ones(), dedup.ConfigOf(d).Filter.Items())
	return b.Bytes()
}

// TestBatchesEqualOracle compares results, filter and store with those of single documents.
func TestBatchesEqualOracle(t *testing.T) {
	events := map[string]int{}
	checkUntil(t, all(events, allEvents), func(rt *rapid.T) {
		rules := dedup.Rules{
			Score:         rapid.SampledFrom([]dedup.Score{dedup.ScoreText, dedup.ScoreText, dedup.ScoreSegments}).Draw(rt, "score"),
			RemoveMosaics: rapid.Bool().Draw(rt, "remove mosaics"),
		}
		w, scheme := drawWorld(rt, &rules)
		checkBatches(rt, w, scheme, rules, events)
	})
	for _, e := range allEvents {
		if events[e] == 0 {
			t.Errorf("no decision was %q: the documents drawn show too little", e)
		}
	}
}

// TestBatchOfOneMenu puts all documents under one menu, which makes them one component of a batch.
// Some are twins, some are edited.
func TestBatchOfOneMenu(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rules := dedup.Rules{Threshold: 0.65}
		w := newTextWorld(rapid.Uint64().Draw(rt, "seed"), nil)
		checkBatches(rt, menuWorld{w}, w.scheme, rules, map[string]int{})
	})
}

// A menuWorld puts every document under one menu.
type menuWorld struct{ *textWorld }

func (w menuWorld) document() *feature.Sketch {
	old := w.fresh(4 + w.rng.IntN(8))
	if n := len(w.earlier); n > 0 {
		switch w.rng.IntN(4) {
		case 0:
			old = w.earlier[n-1]
		case 1:
			old = w.edit(w.earlier[w.rng.IntN(n)], 1+w.rng.IntN(3))
		}
	}
	w.earlier = append(w.earlier, old)
	return w.extract(strings.Join(append(slices.Clone(w.menus[0]), old...), ". "))
}

// TestFileTableInBatches queries a table in a file concurrently, over checkpoints, runs and merges.
func TestFileTableInBatches(t *testing.T) {
	for seed := range 6 {
		table := newTable(t, fmt.Sprint("table", seed, ".db")).(*docmap.Table)
		rules := dedup.Rules{Threshold: 0.3 + 0.1*float64(seed)}
		d, err := dedup.New(dedup.Config{Rules: rules, Table: table, Filter: newFilter(t, filterSizes[seed%len(filterSizes)])})
		if err != nil {
			t.Fatal(err)
		}
		o, w, pool := oracle.New(rules), newWorld(uint64(seed)), poolOf(3)
		for batch := range 12 {
			var ids []string
			var sets []*feature.Sketch
			for range 5 + 7*batch%40 {
				ids, sets = append(ids, "id"), append(sets, w.document())
			}
			for i, got := range decideAll(t, d, pool, ids, sets) {
				if diff := gocmp.Diff(o.Decide("id", sets[i]), got, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("seed %d, batch %d, document %d (-oracle +batch):\n%s", seed, batch, i, diff)
				}
			}
			if table.Full() {
				if err := table.Checkpoint(nil); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func fixedNow() time.Time { return time.Unix(1_700_000_000, 0) }

// TestGroupsRefused checks that DecideAll refuses what CanDecideAll says it cannot decide.
func TestGroupsRefused(t *testing.T) {
	var b dedup.Group
	b.Add(dedup.Document{ID: "a", Sketch: segmentsOf(1, 11, 12, 13)})
	b.Link()
	f, err := bloomstore.New(bloomstore.ForItems(1000), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for name, cfg := range map[string]dedup.Config{
		"a filter alone":         {Filter: f},
		"a store for one reader": {Table: struct{ dedup.Store }{&dedup.Memory{}}},
		"a method with a memory": {Table: &dedup.Memory{}, Scheme: feature.Scheme{Method: "simhash"}},
	} {
		d, err := dedup.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		err = d.DecideAll(&b, poolOf(1), func(int, int, *dedup.Result, []int) { t.Errorf("%s: a document was decided", name) })
		if err == nil || d.CanDecideAll(1) {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestKeysOfADocument checks that the keys given with a document replace those of its sketch, in its
// group and in the table, but not in its record.
func TestKeysOfADocument(t *testing.T) {
	s := segmentsOf(1, 11, 12, 13)
	d, err := dedup.New(dedup.Config{Table: &dedup.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	for i, keys := range [][][]uint64{{nil, {21, 22, 23, 2}}, {nil, {21, 22, 23, 3}}} {
		var b dedup.Group
		for j, keys := range keys {
			b.Add(dedup.Document{ID: fmt.Sprint(i, j), Sketch: s, Keys: keys})
		}
		b.Link()
		of := make([]string, b.Len())
		if err := d.DecideAll(&b, dedup.NewPool(3), func(_, i int, r *dedup.Result, _ []int) { of[i] = r.Of.ID }); err != nil {
			t.Fatal(err)
		}
		if want := [][]string{{"", ""}, {"0 0", "0 1"}}[i]; !slices.Equal(of, want) {
			t.Errorf("group %d: the documents are copies of %q, not of %q", i, of, want)
		}
	}
}
