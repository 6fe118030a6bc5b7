package docmap

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// together runs all tasks at once.
func together(tasks int, f func(task int)) {
	var wg sync.WaitGroup
	for task := range tasks {
		wg.Go(func() { f(task) })
	}
	wg.Wait()
}

// TestSharedTableAnswersLikeOne compares a table shared by several goroutines with an unshared one.
func TestSharedTableAnswersLikeOne(t *testing.T) {
	t.Parallel()
	const readers = 4
	paths := []string{filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "many")}
	one, many := mustOpen(t, paths[0], manyBins), mustOpen(t, paths[1], manyBins)
	rng := rand.New(rand.NewPCG(7, 7))
	var asked []uint64
	for range 60 {
		var ids []string
		var data [][]byte
		var keys [][]uint64
		for range 1 + rng.IntN(12) {
			ids = append(ids, []string{"", "same", fmt.Sprint("id", rng.Uint64())}[rng.IntN(3)])
			data = append(data, fmt.Append(nil, "data", len(asked)))
			var of []uint64
			for range rng.IntN(9) {
				of = append(of, rng.Uint64()>>rng.IntN(2)&^0x7ff)
				if len(asked) > 0 && rng.IntN(3) == 0 {
					of[len(of)-1] = asked[rng.IntN(len(asked))]
				}
			}
			asked, keys = append(asked, of...), append(keys, of)
		}
		for i := range ids {
			if _, err := one.Add(ids[i:i+1], data[i:i+1], keys[i:i+1], nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := many.Share(readers, together); err != nil {
			t.Fatal(err)
		}
		if _, err := many.Add(ids, data, keys, nil, nil); err != nil {
			t.Fatal(err)
		}
		askAll(t, one, many, readers, asked)
		if one.Full() != many.Full() {
			t.Fatal("one table is full and the other is not")
		}
		if one.Full() {
			for _, table := range []*Table{one, many} {
				if err := table.Checkpoint(nil); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	a, b := one.Stats(), many.Stats()
	if one.Generation().Content != many.Generation().Content || a.Documents != b.Documents || a.Entries != b.Entries || !cmp.Equal(a.Runs, b.Runs) || a.Merges == 0 {
		t.Errorf("%+v, %+v", a, b)
	}
	if x, _ := one.ByID("same"); len(x) == 0 || !slices.Equal(x, second(many.ByID("same"))) {
		t.Error("documents of one id differ")
	}
	// Flushes and merges were shared, too, and must write the same values.
	if err := errors.Join(one.Close(), many.Close()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(contents(t, paths[0], ""), contents(t, paths[1], "")); diff != "" {
		t.Error(diff)
	}
}

func second(nums []uint32, _ error) []uint32 { return nums }

// askAll looks up everything with one reader in the first table, and with several in the other.
func askAll(t *testing.T, one, many *Table, readers int, keys []uint64) {
	t.Helper()
	holders, n := make([]uint32, len(keys)*MaxHolders), make([]uint8, len(keys))
	if err := one.Lookup(keys, holders, n); err != nil {
		t.Fatal(err)
	}
	if err := many.Share(readers, together); err != nil {
		t.Fatal(err)
	}
	together(readers, func(reader int) {
		got, gotN := make([]uint32, len(holders)), make([]uint8, len(n))
		if err := many.Asker(reader).Lookup(keys, got, gotN); err != nil || !slices.Equal(n, gotN) {
			t.Errorf("reader %d: %v", reader, err)
		}
		for i := range n {
			if at := i * MaxHolders; !slices.Equal(got[at:at+int(n[i])], holders[at:at+int(n[i])]) {
				t.Errorf("reader %d: key %x", reader, keys[i])
			}
		}
		ids, data := make([][]byte, 1), make([][]byte, 1)
		for num := uint32(1); num <= many.Documents(); num++ {
			if err := many.Asker(reader).Records([]uint32{num}, ids, data); err != nil || len(data[0]) < 4 {
				t.Errorf("reader %d, document %d: %q, %v", reader, num, data[0], err)
			}
		}
	})
}

// TestSharedTableClosedIsAnError checks that a look-up in a closed table is an error.
func TestSharedTableClosedIsAnError(t *testing.T) {
	table := mustOpen(t, filepath.Join(t.TempDir(), "table"), manyBins)
	if err := table.Share(1, together); err != nil {
		t.Fatal(err)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	if err := table.Asker(0).Lookup([]uint64{1}, make([]uint32, 8), make([]uint8, 1)); err == nil {
		t.Error("looked up in a closed table")
	}
}
