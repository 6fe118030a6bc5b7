package docmap

import (
	"context"
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

func listRemoved(t *testing.T, table *Table) (list []Removed) {
	t.Helper()
	for r, err := range table.Removed() {
		must(t, err)
		list = append(list, r)
	}
	return list
}

// TestRemovedForABatch checks that a document removed because of another batch is noted until that
// batch's document is gone. An ended batch stays ended.
func TestRemovedForABatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	table, err := Open(path, smallOptions)
	must(t, err)
	defer func() { must(t, table.Close()) }()
	reopen := func() {
		t.Helper()
		must(t, table.Close())
		table, err = Open(path, smallOptions)
		must(t, err)
	}
	add := func(batch string, ids ...string) {
		t.Helper()
		must(t, table.SetBatch(batch))
		for _, id := range ids {
			_, err := table.addDoc(Doc{ID: id}, []uint64{7 << 50})
			must(t, err)
		}
	}
	add("a", "1", "2")
	table.NoteRemoved(1, "of the same batch")
	must(t, table.Checkpoint(nil))
	add("b", "3")
	table.NoteRemoved(1, "x")
	must(t, table.Checkpoint(nil))
	add("", "4")
	table.NoteRemoved(2, "y")
	table.NoteRemoved(3, "z")
	table.NoteRemoved(4, "of no batch")
	must(t, table.Checkpoint(nil))
	reopen()
	if got, want := listRemoved(t, table), []Removed{{1, "b", "x"}, {2, "", "y"}, {3, "", "z"}}; !slices.Equal(got, want) {
		t.Errorf("removed %v, want %v", got, want)
	}
	_, err = table.Forget([]uint32{1})
	must(t, err)
	must(t, table.SaveForgotten())
	must(t, table.Compact(context.Background()))
	table, err = Open(path, smallOptions)
	must(t, err)
	if got, want := listRemoved(t, table), []Removed{{2, "", "y"}, {3, "", "z"}}; !slices.Equal(got, want) {
		t.Errorf("removed, compacted: %v, want %v", got, want)
	}
	must(t, table.EndBatch("a"))
	must(t, table.SaveForgotten())
	reopen()
	if got, want := table.Batches(), []Batch{{"b", 1, 1}}; !slices.Equal(got, want) {
		t.Errorf("batches %v, want %v", got, want)
	}
}

// TestNothingTakenBackUnsaved checks that SaveForgotten and Compact refuse unsaved changes.
func TestNothingTakenBackUnsaved(t *testing.T) {
	table := mustOpen(t, filepath.Join(t.TempDir(), "table"), smallOptions)
	add := func() {
		t.Helper()
		_, err := table.addDoc(Doc{ID: "x"}, nil)
		must(t, err)
	}
	add()
	if table.SaveForgotten() == nil || table.Compact(context.Background()) == nil {
		t.Error("with a document in no checkpoint")
	}
	must(t, table.Checkpoint(nil))
	if n, err := table.Forget([]uint32{1}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if table.Compact(context.Background()) == nil {
		t.Error("compacted with a document taken back in no checkpoint")
	}
	table.Recall([]uint32{1})
	if !table.Live(1) {
		t.Error("the document is not live")
	}
	must(t, table.SetBatch("a"))
	add()
	must(t, table.Checkpoint(nil))
	must(t, table.EndBatch("a"))
	if table.Compact(context.Background()) == nil {
		t.Error("compacted with a batch ended in no checkpoint")
	}
}

// TestBlocksOfACompactTable checks that compacting divides blocks as adding does, for equal reads.
func TestBlocksOfACompactTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, smallOptions)
	for i := range 1200 {
		_, err := table.addDoc(Doc{ID: "some document", Data: make([]byte, 50+i%200)}, nil)
		must(t, err)
	}
	must(t, table.Checkpoint(nil))
	blocks := func() (list []string) {
		t.Helper()
		must(t, table.db.View(func(tx *bbolt.Tx) error {
			return tx.Bucket(bucketDocs).ForEach(func(key, value []byte) error {
				list = append(list, string(key)+string(value))
				return nil
			})
		}))
		return list
	}
	before := blocks()
	must(t, table.Compact(context.Background()))
	table = mustOpen(t, path, smallOptions)
	if after := blocks(); len(before) < 5 || !slices.Equal(before, after) {
		t.Errorf("%d blocks, %d before", len(after), len(before))
	}
}

// TestRecallUndoesUnsavedForget checks that Recall undoes only a Forget that is not in the file.
func TestRecallUndoesUnsavedForget(t *testing.T) {
	table := mustOpen(t, filepath.Join(t.TempDir(), "table"), smallOptions)
	for range 4 {
		_, err := table.addDoc(Doc{ID: "x"}, nil)
		must(t, err)
	}
	must(t, table.Checkpoint(nil))
	for _, num := range []uint32{0, 5, 6} {
		if n, err := table.Forget([]uint32{1, num}); n != 0 || !errors.Is(err, ErrNoDoc) || !table.Live(1) {
			t.Errorf("document %d: %d, %v", num, n, err)
		}
	}
	forget := func(want int, nums ...uint32) {
		t.Helper()
		if n, err := table.Forget(nums); n != want || err != nil {
			t.Errorf("%v: %d were live, %v, want %d", nums, n, err, want)
		}
	}
	forget(2, 1, 2, 1)
	must(t, table.SaveForgotten())
	forget(1, 2, 3)
	table.Recall([]uint32{1, 2, 3, 4})
	for num, live := range map[uint32]bool{1: false, 2: false, 3: true, 4: true} {
		if table.Live(num) != live {
			t.Errorf("document %d: live %v", num, !live)
		}
	}
	if dead := table.Stats().Forgotten; dead != 2 {
		t.Errorf("%d are dead", dead)
	}
}

// TestForgetCountsNamedDocuments takes back documents that only count without counting them.
func TestForgetCountsNamedDocuments(t *testing.T) {
	table := mustOpen(t, filepath.Join(t.TempDir(), "table"), smallOptions)
	keys := [][]uint64{{7}, {7}, {7}}
	_, err := table.Add([]string{"a", "", "c"}, make([][]byte, 3), keys, nil, []bool{false, true, false})
	must(t, err)
	if n, err := table.Forget([]uint32{1, 2}); n != 1 || err != nil {
		t.Errorf("%d were live, %v, want 1", n, err)
	}
	holders, n := make([]uint32, MaxHolders), make([]uint8, 1)
	must(t, table.Lookup(keys[0], holders, n))
	if n[0] != 1 || holders[0] != 3 {
		t.Errorf("held by %v", holders[:n[0]])
	}
}

// TestBatchNames checks that a name has at most 255 bytes of UTF-8. A new batch ends a span.
func TestBatchNames(t *testing.T) {
	table := mustOpen(t, filepath.Join(t.TempDir(), "table"), smallOptions)
	for name, ok := range map[string]bool{strings.Repeat("x", 255): true, strings.Repeat("x", 256): false, "\xff": false, "名": true, "": true} {
		if err := table.SetBatch(name); (err == nil) != ok {
			t.Errorf("a name of %d bytes: %v", len(name), err)
		}
	}
	for _, batch := range []string{"a", "", "a", "b"} {
		must(t, table.SetBatch(batch))
		_, err := table.addDoc(Doc{ID: "x"}, nil)
		must(t, err)
	}
	if got := table.BatchOf(2); got != "" {
		t.Errorf("the second document is of %q", got)
	}
	table.NoteRemoved(2, "for the sake of one in no batch")
	must(t, table.Checkpoint(nil))
	if got := listRemoved(t, table); len(got) > 0 {
		t.Errorf("noted: %v", got)
	}
	_, err := table.Forget([]uint32{3})
	must(t, err)
	if got, want := table.Batches(), []Batch{{"a", 2, 1}, {"b", 1, 1}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, err := table.BatchDocs("a"); err != nil || !slices.Equal(got, []uint32{1}) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestTombstonesBelow drops the dead below a watermark, and lowers their number accordingly.
func TestTombstonesBelow(t *testing.T) {
	for mark := uint32(1); mark < 300; mark++ {
		var g tombstones
		buried := func(num uint32) bool { return num%7 < 3 || num > 120 && num < 190 }
		for num := uint32(1); num < 300; num++ {
			if buried(num) {
				g.forget(num, 300+num/40)
			}
		}
		g.saved(g.unsaved())
		g.dropBelow(mark)
		left := uint32(0)
		for num := mark; num < 310; num++ {
			if is := num < 300 && buried(num); g.dead.has(num) != is || is && g.when(num) != 300+num/40 {
				t.Fatalf("below %d: document %d: %v", mark, num, !is)
			} else if is {
				left++
			}
		}
		between := !buried(mark-1) || !buried(mark) || mark%40 == 0 // otherwise a range includes documents below
		if g.dead.n != left && between {
			t.Fatalf("below %d: %d are dead, and %d are left", mark, g.dead.n, left)
		}
	}
}

// TestFirstRunKeepsWhatClosedAKey checks that the first run keeps a document taken back after the
// run's last one. Together with later documents, it may have closed a key.
func TestFirstRunKeepsWhatClosedAKey(t *testing.T) {
	var g tombstones
	g.forget(1, 8)
	g.forget(2, 5)
	g.forget(3, 4)
	if got, want := g.trimFirst([]uint32{1, 2, 3, 4, 5}, 5, g.gone), []uint32{1, 4, 5}; !slices.Equal(got, want) {
		t.Errorf("kept %v, want %v", got, want)
	}
}

// TestTombstonesThatCannotBe refuses overlapping ranges and future documents with valid checksums.
func TestTombstonesThatCannotBe(t *testing.T) {
	for _, g := range []tombstone{{1, 4, 3}, {4, 4, 3}, {1, 2, 6}, {0, 2, 5}} {
		list, _ := encodeTombstones([]tombstone{g}, seedDead)
		key := binary.BigEndian.AppendUint32(nil, g.first)
		if err := new(tombstones).loadList(key, list, 5); err == nil {
			t.Errorf("documents %d to %d were taken back at %d of 5", g.first, g.last, g.when)
		}
	}
	var many []tombstone
	for num := uint32(1); num < 6000; num += 2 {
		many = append(many, tombstone{num, num, 6000})
	}
	for rest, all := many, 0; ; { // a list's length is bounded
		list, left := encodeTombstones(rest, seedDead)
		if all += len(rest) - len(left); len(list) > 2<<10+32 {
			t.Fatalf("a list of %d bytes", len(list))
		}
		if rest = left; len(rest) == 0 {
			if all != len(many) {
				t.Errorf("%d of %d ranges", all, len(many))
			}
			break
		}
	}
	path := filepath.Join(t.TempDir(), "table")
	table, err := Open(path, smallOptions)
	must(t, err)
	for range 5 {
		_, err := table.addDoc(Doc{}, nil)
		must(t, err)
	}
	must(t, table.Checkpoint(nil))
	_, err = table.Forget([]uint32{2, 3})
	must(t, err)
	must(t, table.SaveForgotten())
	must(t, table.update(func(c *change) {
		deadList.write(c, []tombstone{{3, 4, 5}})
	}))
	must(t, table.Close())
	if table, err := Open(path, smallOptions); err == nil {
		t.Errorf("%d dead documents", table.Stats().Forgotten)
		must(t, table.Close())
	}
	if err := countedList.check(tombstone{1, 2, 3}, 5); err == nil || strings.Contains(err.Error(), "exceed") {
		t.Errorf("documents that only count, with a time of forgetting: %v", err)
	}
	for _, list := range [][]span{{{1, 3, "a"}, {3, 4, "a"}}, {{2, 1, "a"}}, {{0, 1, "a"}}, {{4, 6, "a"}}} {
		if got, err := decodeSpans("a", encodeSpans("a", list), 5); err == nil {
			t.Errorf("the spans %v", got)
		}
	}
	if got, err := decodeSpans("b", encodeSpans("a", []span{{1, 3, "a"}}), 5); err == nil {
		t.Errorf("the spans of another batch: %v", got)
	}
}
