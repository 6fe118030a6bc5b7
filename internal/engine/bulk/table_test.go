package bulk

import (
	"errors"
	"slices"
	"testing"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/internal/testing/storetest"
)

// allMarked is a table that treats every key as marked.
type allMarked struct{ *table }

func (s allMarked) Add(ids []string, data [][]byte, keys [][]uint64, times []uint32, marks []bool) (uint32, error) {
	s.marked = slices.Concat(keys...)
	return s.table.Add(ids, data, keys, times, marks)
}

func (s allMarked) Lookup(keys []uint64, holders []uint32, n []uint8) error {
	s.marked = slices.Clone(keys)
	return s.table.Lookup(keys, holders, n)
}

// TestTable checks that the table passes the tests of a store once all keys are marked.
func TestTable(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	storetest.Run(t, func(*testing.T) dedup.Store { return allMarked{newTable()} })
}

// TestManyPostings checks that the parts of a table have lists of their own, and that a full one is
// an error, with a small limit.
func TestManyPostings(t *testing.T) {
	defer func(most int) { maxPostings = most }(maxPostings)
	maxPostings = 4
	s := newTable()
	keys := make([]uint64, 300)
	for i := range keys {
		keys[i] = uint64(i) * mixer
	}
	s.marked = keys
	add := func(keys []uint64) error {
		_, err := s.Add([]string{"a"}, [][]byte{nil}, [][]uint64{keys}, nil, nil)
		return err
	}
	for range 3 { // the second and the third document of each key have a posting
		if err := add(keys); err != nil {
			t.Fatal(err)
		}
	}
	holders, n := make([]uint32, len(keys)*dedup.MaxHolders), make([]uint8, len(keys))
	if err := s.Lookup(keys, holders, n); err != nil {
		t.Fatal(err)
	}
	for i := range keys {
		if got := holders[i*dedup.MaxHolders:][:n[i]]; !slices.Equal(got, []uint32{1, 2, 3}) {
			t.Fatalf("key %d has %v", i, got)
		}
	}
	if err := errors.Join(add(keys), add(keys)); !errors.Is(err, errTable) {
		t.Errorf("a full part: %v", err)
	}
}

// TestUnmarked checks that a key without a mark is neither stored nor looked up.
func TestUnmarked(t *testing.T) {
	s := newTable()
	s.marked = []uint64{1, 2}
	if _, err := s.Add([]string{"a"}, [][]byte{nil}, [][]uint64{{1, 2, 3}}, nil, nil); err != nil {
		t.Fatal(err)
	}
	s.marked = []uint64{2, 3}
	holders, n := make([]uint32, 3*dedup.MaxHolders), make([]uint8, 3)
	if err := s.Lookup([]uint64{1, 2, 3}, holders, n); err != nil || !slices.Equal(n, []uint8{0, 1, 0}) {
		t.Error(n, err)
	}
}
