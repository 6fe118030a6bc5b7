package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

func openedAgainst(t *testing.T, dirs ...string) *Against {
	t.Helper()
	a, err := OpenAgainst(context.Background(), dirs, nil)
	indextest.Must(t, err)
	t.Cleanup(func() { a.Close() })
	return a
}

// TestNumbersAgainst checks that documents are numbered consecutively across all indexes.
func TestNumbersAgainst(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	grown(t, a, smallIndex, 0, 2)
	grown(t, b, smallIndex, 2, 5)
	x := opened(t, filepath.Join(dir, "own"), smallIndex)
	indextest.Must(t, x.UseAgainst(openedAgainst(t, a, b)))
	if kept := see(t, x, 0, 7); kept != 2 {
		t.Errorf("%d kept, want 2", kept)
	}
	for num, id := range []string{"0", "1", "2", "3", "4", "5", "6"} {
		num := uint32(num + 1)
		k, err := x.Kept(num)
		if err != nil || k.ID != id || x.Owns(num) != (num > 5) {
			t.Errorf("document %d is %q (%v), own: %v", num, k.ID, err, x.Owns(num))
		}
	}
}

// TestForgottenAgainst checks that documents forgotten by another index keep their numbers.
func TestForgottenAgainst(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	grown(t, other, smallIndex, 0, 3)
	e, err := Edit(other)
	indextest.Must(t, err)
	_, err = e.Forget("0")
	indextest.Must(t, errors.Join(err, e.Save(), e.Close()))
	x := opened(t, filepath.Join(dir, "own"), smallIndex)
	a := openedAgainst(t, other)
	indextest.Must(t, x.UseAgainst(a))
	if kept := see(t, x, 2, 4); kept != 1 || a.Documents() != 2 {
		t.Errorf("%d kept, want 1; %d count, want 2", kept, a.Documents())
	}
	for num, owns := range map[uint32]bool{2: false, 3: false, 4: true} {
		if k, err := x.Kept(num); err != nil || k.ID != fmt.Sprint(num-1) || x.Owns(num) != owns {
			t.Errorf("document %d is %q (%v), own: %v", num, k.ID, err, !owns)
		}
	}
}

// TestIdentityAgainst checks that a copy is the same index until either gets different documents.
func TestIdentityAgainst(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	grown(t, dir, smallIndex, 0, 2)
	twin := indextest.Copy(t, dir)
	id := func(dir string) AgainstID {
		a := openedAgainst(t, dir)
		defer func() { indextest.Must(t, a.Close()) }()
		return a.IDs()[0]
	}
	if x, y := id(dir), id(twin); x != y {
		t.Errorf("a copy is another: %v, %v", x, y)
	}
	grown(t, dir, smallIndex, 2, 3)
	grown(t, twin, smallIndex, 3, 4)
	if x, y := id(dir), id(twin); x.Documents != y.Documents || x == y {
		t.Errorf("other documents, and they are the same: %v, %v", x, y)
	}
}

// TestWrittenAgainst refuses an index that is being written, but not one that a killed writer left.
func TestWrittenAgainst(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	grown(t, dir, smallIndex, 0, 2)
	x := opened(t, dir, smallIndex)
	if a, err := OpenAgainst(context.Background(), []string{dir}, func(func(string) ([]byte, error)) error { return nil }); !errors.Is(err, docmap.ErrLocked) {
		t.Errorf("%v, %v", a, err)
	}
	indextest.Must(t, x.Close())
	indextest.Must(t, os.WriteFile(filepath.Join(dir, TableFile+".readers"), nil, 0o666))
	own := opened(t, filepath.Join(t.TempDir(), "own"), smallIndex)
	indextest.Must(t, own.UseAgainst(openedAgainst(t, dir)))
	if kept := see(t, own, 0, 3); kept != 1 {
		t.Errorf("%d kept, want 1", kept)
	}
}

// TestStaleFilterAgainst checks that a filter of another state of the table is not used.
func TestStaleFilterAgainst(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	small := smallIndex
	small.MemtableKeys = 10
	grown(t, dir, small, 0, 2)
	stale, err := os.ReadFile(filepath.Join(dir, FilterFile))
	indextest.Must(t, err)
	grown(t, dir, small, 2, 4)
	indextest.Must(t, os.WriteFile(filepath.Join(dir, FilterFile), stale, 0o666))
	x := opened(t, filepath.Join(t.TempDir(), "own"), smallIndex)
	indextest.Must(t, x.UseAgainst(openedAgainst(t, dir)))
	if kept := see(t, x, 0, 4); kept != 0 {
		t.Errorf("%d documents of the other index are kept", kept)
	}
}

// TestMosaicIsNotedOnceForABatch checks that a removed mosaic is noted once for each batch of its
// sources in this index, and for none of another index.
func TestMosaicIsNotedOnceForABatch(t *testing.T) {
	dir := t.TempDir()
	other, own := filepath.Join(dir, "other"), filepath.Join(dir, "own")
	grown(t, other, smallIndex, 0, 2)
	x := opened(t, own, smallIndex)
	indextest.Must(t, x.UseAgainst(openedAgainst(t, other)))
	indextest.Must(t, x.Begin(Policy{}))
	indextest.Must(t, x.SetBatch("a"))
	see(t, x, 2, 4)
	indextest.Must(t, x.SetBatch("b"))
	see(t, x, 4, 5)
	indextest.Must(t, x.SetBatch("c"))
	for num := range uint32(6) { // two belong to the other index
		x.NoteDependent(fmt.Sprint("copy ", num), &dedup.Result{Verdict: dedup.Duplicate, Of: dedup.Source{Num: num}})
	}
	x.NoteDependent("mosaic", &dedup.Result{Verdict: dedup.Mosaic, Also: []dedup.Source{{Num: 1}, {Num: 3}, {Num: 4}, {Num: 5}}})
	indextest.Must(t, x.Finish(nil))
	indextest.Must(t, errors.Join(x.Save(), x.Close()))
	e, err := Edit(own)
	indextest.Must(t, err)
	defer func() { indextest.Must(t, e.Close()) }()
	for batch, want := range map[string][]Dependent{
		"a": {{"copy 3", "c", "2"}, {"copy 4", "c", "3"}, {"mosaic", "c", "2"}},
		"b": {{"copy 5", "c", "4"}, {"mosaic", "c", "4"}}, "c": nil,
	} {
		var got []Dependent
		indextest.Must(t, e.Dependents(batch, func(v Dependent) error { got = append(got, v); return nil }))
		if !slices.Equal(got, want) {
			t.Errorf("removed for the sake of %s: %v, want %v", batch, got, want)
		}
	}
}

// TestTableIsAStore checks that a table and a Deduper agree on the special numbers in look-ups.
func TestTableIsAStore(t *testing.T) {
	if docmap.MaxHolders != dedup.MaxHolders || docmap.ClosedKey != dedup.ClosedKey || docmap.Counted != dedup.Counted {
		t.Error("a Deduper would misread a table")
	}
}
