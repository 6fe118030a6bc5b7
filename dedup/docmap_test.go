package dedup_test

import (
	"path/filepath"
	"testing"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
)

// TestTableIsAStore checks the contract of a store in memory, and amid checkpoints and merges.
func TestTableIsAStore(t *testing.T) {
	t.Parallel()
	t.Run("in memory", func(t *testing.T) {
		testStore(t, func(t *testing.T) dedup.Store { return openTable(t, 1<<20) })
	})
	t.Run("in the file", func(t *testing.T) {
		testStore(t, func(t *testing.T) dedup.Store { return &eager{openTable(t, 3000)} })
	})
}

func openTable(t *testing.T, memtable int) *docmap.Table {
	t.Helper()
	table, err := docmap.Open(filepath.Join(t.TempDir(), "table"), docmap.Options{Scheme: "test", MemtableKeys: memtable})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// eager is a table that makes a checkpoint every few documents.
type eager struct{ *docmap.Table }

func (e *eager) Add(ids []string, data [][]byte, keys [][]uint64, times []uint32, marks []bool) (uint32, error) {
	first, err := e.Table.Add(ids, data, keys, times, marks)
	if err == nil && (e.Full() || first%10 == 1) {
		err = e.Checkpoint(nil)
	}
	return first, err
}
