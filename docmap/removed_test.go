package docmap

import (
	"context"
	"encoding/binary"
	"path/filepath"
	"slices"
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

// TestRemovedForABatch: what was removed for the sake of a batch is noted, unless it came
// with it, over checkpoints, until its document is gone; an ended batch stays ended.
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

// TestNothingTakenBackUnsaved: what is in no checkpoint keeps a table from saving what was
// taken back, and from being compacted; the table is as it was.
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

// TestBlocksOfACompactTable: they are divided as those that were written one after the
// other, so nobody has to read more at once.
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

// TestTrimFirst: the first run keeps who was taken back after its last document came, for
// with him a key may have been closed by documents behind.
func TestTrimFirst(t *testing.T) {
	var g graves
	g.bury(1, 8)
	g.bury(2, 5)
	g.bury(3, 4)
	if got, want := g.trimFirst([]uint32{1, 2, 3, 4, 5}, 5), []uint32{1, 4, 5}; !slices.Equal(got, want) {
		t.Errorf("kept %v, want %v", got, want)
	}
}

// TestGravesThatCannotBe: ranges that overlap, or of documents that had not come, in a
// file whose checksums are right.
func TestGravesThatCannotBe(t *testing.T) {
	for _, g := range []grave{{1, 4, 3}, {4, 4, 3}, {1, 2, 6}, {0, 2, 5}} {
		list, _ := encodeGraves([]grave{g})
		key := binary.BigEndian.AppendUint32(nil, g.first)
		if err := new(graves).load(key, list, 5); err == nil {
			t.Errorf("documents %d to %d were taken back at %d of 5", g.first, g.last, g.when)
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
	must(t, table.update(func(tx *bbolt.Tx) error {
		head := table.head
		return writeGraves(tx, []grave{{3, 4, 5}}, &head)
	}))
	must(t, table.Close())
	if table, err := Open(path, smallOptions); err == nil {
		t.Errorf("%d dead documents", table.Stats().Dead)
		must(t, table.Close())
	}
	for _, list := range [][]span{{{1, 3}, {3, 4}}, {{2, 1}}, {{0, 1}}, {{4, 6}}} {
		if got, err := decodeSpans("a", encodeSpans("a", list), 5); err == nil {
			t.Errorf("the spans %v", got)
		}
	}
}
