package memtable

import (
	"slices"
	"testing"
)

// TestMemoryKeepsTheFirst checks that only the first documents of a key, up to the limit, take
// memory. A key of every document would fill it.
func TestMemoryKeepsTheFirst(t *testing.T) {
	m, err := New(100, 8)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for doc := range uint32(50) {
		if err := m.AddAll([][]uint64{{7, 7}}, doc+1, Alone); err != nil {
			t.Fatal(err)
		}
	}
	if got := m.Find(make([]uint32, 0, 50), 7); m.n != 8 || !slices.Equal(got, []uint32{1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("%d entries, documents %v", m.n, got)
	}
}
