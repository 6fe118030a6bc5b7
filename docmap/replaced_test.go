package docmap

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
)

// TestVersionsLeaveFewEntries replaces one document many times. Look-ups, memory and runs must not
// grow with the number of versions, in memory or after any number of flushes.
func TestVersionsLeaveFewEntries(t *testing.T) {
	const versions = 3000
	for name, most := range map[string]int{"in memory": 1 << 16, "in runs": 300} {
		t.Run(name, func(t *testing.T) {
			opt := smallOptions
			opt.MemtableKeys = most
			path := filepath.Join(t.TempDir(), "table")
			table := mustOpen(t, path, opt)
			keys := make([]uint64, 20)
			for i := range keys {
				keys[i] = uint64(i+1) * 0x9e3779b97f4a7c15
			}
			for range versions {
				earlier, err := table.ByID("page")
				must(t, err)
				_, err = table.Forget(earlier)
				must(t, err)
				_, err = table.addDoc(Doc{ID: "page"}, keys)
				must(t, err)
				if table.Full() {
					must(t, table.Checkpoint(nil))
				}
				if p := table.head.pending; most == 300 && p > 4*300+50 {
					t.Fatalf("%d keys are pending", p)
				}
			}
			must(t, table.Checkpoint(nil))
			if most == 300 && table.head.merges == 0 {
				t.Error("no run was merged")
			}
			fewEntries(t, table, keys, versions)
			must(t, table.Close())
			fewEntries(t, mustOpen(t, path, opt), keys, versions)
		})
	}
}

func fewEntries(t *testing.T, table *Table, keys []uint64, last uint32) {
	t.Helper()
	must(t, table.look(func(s *snapshot) error {
		for of, key := range []uint64{ofKeys: keys[0], ofIDs: idKey("page")} {
			docs, err := table.all(s, of, key)
			must(t, err)
			// The first of each run, which alone tells that one document held the key, and the last.
			if n := 2 * (len(table.spaces[of].runs) + 1); len(docs) > n || !slices.Contains(docs, last) {
				t.Errorf("space %d: %d documents are read for a key, want at most %d: %v", of, len(docs), n, docs)
			}
		}
		return nil
	}))
	var p postings
	must(t, table.ask(keys, &p))
	if got, err := table.ByID("page"); !slices.Equal(got, p.of(0)) || !slices.Equal(got, []uint32{last}) {
		t.Errorf("by key %v, by id %v, %v", p.of(0), got, err)
	}
	if found, err := table.Verify(context.Background()); len(found) > 0 || err != nil {
		t.Errorf("%v, %v", found, err)
	}
}

// TestTrimKeepsWhatCanClose checks that a run keeps dead documents that, with those before the run,
// may have closed a key.
func TestTrimKeepsWhatCanClose(t *testing.T) {
	var g tombstones
	for num, when := range map[uint32]uint32{11: 14, 12: 13, 13: 15, 14: 16, 15: 15, 16: 18} {
		g.forget(num, when)
	}
	// Together they hold the key: 11; 11 and 12; 11, 12 and 13; 11, 13 and 14; then fewer.
	got := g.trim([]uint32{11, 12, 13, 14, 15, 16, 17}, 18, g.gone)
	if want := []uint32{11, 12, 13, 16, 17}; !slices.Equal(got, want) {
		t.Errorf("kept %v, want %v", got, want)
	}
}

// TestTrimIsBounded trims random documents that go at random: the format promises at most 36.
func TestTrimIsBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 500 {
		var g tombstones
		docs := make([]uint32, 300)
		for i := range docs {
			docs[i] = uint32(i + 1)
			if r.IntN(40) > 0 {
				g.forget(docs[i], docs[i]+r.Uint32N(9))
			}
		}
		if got := g.trim(docs, 320, g.gone); len(got) > 36 {
			t.Fatalf("%d are kept: %v", len(got), got)
		}
	}
}

// TestClosedKeyTakesNoVersions closes a key whose holders then go. Later documents do not hold it,
// so they must take no memory.
func TestClosedKeyTakesNoVersions(t *testing.T) {
	table := mustOpen(t, filepath.Join(t.TempDir(), "table"), smallOptions)
	for n := range uint32(100) {
		if n >= 8 {
			_, err := table.Forget([]uint32{1 + n%7})
			must(t, err)
		}
		_, err := table.addDoc(Doc{}, []uint64{7})
		must(t, err)
	}
	if n := table.Entries(); n != 8 {
		t.Errorf("the key has %d entries", n)
	}
}

// TestStepsKeepWhatACrashRevives merges in steps while documents are taken back without a
// checkpoint. A crash brings them back, so the merge must keep their keys and ids.
func TestStepsKeepWhatACrashRevives(t *testing.T) {
	opt := smallOptions
	opt.MemtableKeys, opt.Stepwise, opt.sizes = 20, true, smallSizes["many bins"]
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, opt)
	key := []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for n := 1; n <= 8; n++ {
		_, err := table.addDoc(Doc{ID: fmt.Sprint(n)}, key)
		must(t, err)
		if n == 1 { // so that merges leave out dead documents
			_, err = table.Forget([]uint32{1})
			must(t, err)
		}
		if table.Full() {
			must(t, table.Checkpoint(nil))
		}
	}
	if !table.Owes() {
		t.Fatal("no merge is left to steps")
	}
	_, err := table.Forget([]uint32{5, 6, 7})
	must(t, err)
	for table.Owes() {
		_, err := table.Step()
		must(t, err)
	}
	must(t, table.Close())
	table = mustOpen(t, path, opt)
	var p postings
	must(t, table.ask(key, &p))
	if want := []uint32{2, 3, 4, 5, 6, 7, 8}; !slices.Equal(p.of(0), want) {
		t.Errorf("after a crash %v, want %v", p.of(0), want)
	}
	if got, err := table.ByID("6"); !slices.Equal(got, []uint32{6}) {
		t.Errorf("after a crash the id has %v, %v", got, err)
	}
}
