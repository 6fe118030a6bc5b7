package bulk

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// allMarked is a table that treats every key as marked.
type allMarked struct{ *table }

func (s allMarked) Add(ids []string, data [][]byte, keys [][]uint64, times []uint32, marks []bool) (uint32, error) {
	var all [][]uint64
	for _, keys := range keys {
		all = append(all, named(keys))
	}
	return s.table.Add(ids, data, all, times, marks)
}

func (s allMarked) Lookup(keys []uint64, holders []uint32, n []uint8) error {
	return s.table.Lookup(named(keys), holders, n)
}

func named(keys []uint64) (names []uint64) {
	for _, key := range keys {
		names = append(names, nameOf(key))
	}
	return names
}

// TestTable compares the table with a store of maps once all keys are marked: holders of keys alone,
// in common and closed, records in any order, and numbers that there are none of.
func TestTable(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		got, want := allMarked{newTable()}, &dedup.Memory{}
		key := rapid.Map(rapid.IntRange(0, 40), func(n int) uint64 { return uint64(n) << 58 / 3 })
		var nums []uint32
		for range rapid.IntRange(1, 30).Draw(rt, "batches") {
			n := rapid.IntRange(0, 3).Draw(rt, "documents")
			ids, data, keys, marks := make([]string, n), make([][]byte, n), make([][]uint64, n), make([]bool, n)
			for i := range n {
				ids[i], data[i] = rapid.String().Draw(rt, "id"), rapid.SliceOf(rapid.Byte()).Draw(rt, "data")
				keys[i], marks[i] = rapid.SliceOf(key).Draw(rt, "keys"), rapid.IntRange(0, 3).Draw(rt, "counts") == 0
			}
			first, err := got.Add(ids, data, keys, nil, marks)
			if wanted, _ := want.Add(ids, data, keys, nil, marks); err != nil || first != wanted {
				rt.Fatalf("the first number is %d, not %d: %v", first, wanted, err)
			}
			for i, counts := range marks {
				if !counts {
					nums = append(nums, first+uint32(i))
				}
			}
			asked := rapid.SliceOf(key).Draw(rt, "asked")
			if a, b := heldBy(got, asked), heldBy(want, asked); !slices.EqualFunc(a, b, slices.Equal[[]uint32]) {
				rt.Fatalf("the holders of %x are %v, not %v", asked, a, b)
			}
		}
		ids, data, n := make([][]byte, 2*len(nums)), make([][]byte, 2*len(nums)), len(nums)
		slices.Reverse(nums)
		if err := errors.Join(got.Records(nums, ids[:n], data[:n]), want.Records(nums, ids[n:], data[n:])); err != nil {
			rt.Fatal(err)
		}
		if !slices.EqualFunc(ids[:n], ids[n:], bytes.Equal) || !slices.EqualFunc(data[:n], data[n:], bytes.Equal) {
			rt.Fatalf("records %q, %q", ids, data)
		}
		for _, num := range []uint32{0, uint32(len(got.docs)) + 1, 1<<32 - 1} {
			if got.Records([]uint32{num}, make([][]byte, 1), make([][]byte, 1)) == nil {
				rt.Fatalf("there is a document %d", num)
			}
		}
	})
}

// heldBy returns the holders of each key, looked up together over old answers.
func heldBy(s dedup.Store, keys []uint64) (held [][]uint32) {
	holders, n := slices.Repeat([]uint32{7777}, len(keys)*dedup.MaxHolders), bytes.Repeat([]byte{99}, len(keys))
	if err := s.Lookup(keys, holders, n); err != nil {
		panic(err)
	}
	for i := range keys {
		held = append(held, holders[i*dedup.MaxHolders:][:n[i]])
	}
	return held
}

// TestManyPostings checks that the parts of a table have lists of their own, and that a full one is
// an error, with a small limit.
func TestManyPostings(t *testing.T) {
	defer func(most int) { maxPostings = most }(maxPostings)
	maxPostings = 4
	s := allMarked{newTable()}
	keys := make([]uint64, 300)
	for i := range keys {
		keys[i] = uint64(i) * mixer
	}
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

// TestManyDocuments checks that a decision of too many documents ends before the first one, and that a
// table refuses one more than it holds.
func TestManyDocuments(t *testing.T) {
	defer func(most int) { maxDocuments = most }(maxDocuments)
	dir := t.TempDir()
	write(t, dir, feature.Scheme{}, newWorld(3).texts(60), 60)
	set, marks := readSet(t, dir), filepath.Join(dir, "marks")
	if err := os.WriteFile(marks, []byte(reduce(t, rowsOf(t, set))), 0o600); err != nil {
		t.Fatal(err)
	}
	d := &Decision{Set: set, Marks: marks, Begin: func(*Manifest) error { return errors.New("a document was read") }}
	f, err := d.Expect()
	if err != nil {
		t.Fatal(err)
	}
	maxDocuments = int(f.Documents) - 1
	if err := d.Run(t.Context()); !errors.Is(err, errTable) || !strings.Contains(err.Error(), "documents have a marked key") {
		t.Error(err)
	}
	maxDocuments = 2
	s := newTable()
	_, err = s.Add([]string{"a", "b"}, make([][]byte, 2), make([][]uint64, 2), nil, nil)
	_, last := s.Add([]string{"c"}, make([][]byte, 1), make([][]uint64, 1), nil, nil)
	if err != nil || !errors.Is(last, errTable) {
		t.Error(err, last)
	}
}

// TestUnmarked checks that the name of a key without a mark is neither stored nor looked up, and that
// a marked key has another, whatever number it is.
func TestUnmarked(t *testing.T) {
	s := newTable()
	keys := []uint64{0, unmarked - 1, nameOf(0), nameOf(unmarked - 1), nameOf(unmarked)}
	if _, err := s.Add([]string{"a"}, [][]byte{nil}, [][]uint64{keys}, nil, nil); err != nil {
		t.Fatal(err)
	}
	holders, n := make([]uint32, len(keys)*dedup.MaxHolders), make([]uint8, len(keys))
	if err := s.Lookup(keys, holders, n); err != nil || !slices.Equal(n, []uint8{0, 0, 1, 1, 1}) {
		t.Error(n, err)
	}
}

// TestTableIsShared checks the numbers that a group of documents is decided by.
func TestTableIsShared(t *testing.T) {
	s := newTable()
	if _, err := s.Add([]string{"a", "", "b"}, [][]byte{{1}, {2}, {3}}, make([][]uint64, 3), nil, []bool{false, true, false}); err != nil {
		t.Fatal(err)
	}
	for num, live := range map[uint32]bool{0: false, 1: true, 2: false, 3: true, 4: false} {
		if s.Live(num) != live {
			t.Errorf("document %d is live: %v", num, !live)
		}
	}
	if n := s.Documents(); n != 3 {
		t.Errorf("%d documents", n)
	}
}
