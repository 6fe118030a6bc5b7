package docmap

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/docmap/memtable"
)

// TestValuesStay checks that the owner's values stay until replaced or removed.
func TestValuesStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, smallOptions)
	for _, state := range []map[string][]byte{{"a": []byte("1"), "b": []byte("2")}, {"a": []byte("3")}, nil, {"c": []byte("4")}} {
		if err := table.Checkpoint(state); err != nil {
			t.Fatal(err)
		}
	}
	for _, reopen := range []bool{false, true} {
		if reopen {
			if err := table.Close(); err != nil {
				t.Fatal(err)
			}
			table = mustOpen(t, path, smallOptions)
		}
		for name, want := range map[string]string{"a": "3", "b": "2", "c": "4", "d": ""} {
			if got, err := table.State(name); string(got) != want || err != nil {
				t.Errorf("reopened %v: %s is %q, %v; want %q", reopen, name, got, err, want)
			}
		}
	}
}

// TestBlockIsFullToTheByte checks that blocks close just below 2,020 bytes in a window, as the format
// demands, and that a page of bbolt holds two. Without a window they have 32 KiB.
func TestBlockIsFullToTheByte(t *testing.T) {
	k := docBlock{first: 1}
	for range 3 {
		if !k.addDoc(strings.Repeat("x", 500), nil) {
			t.Fatalf("closed at %d bytes", len(k.encode()))
		}
	}
	head := len(appendRecord(nil, k.next(), "", nil)) + 4
	id := strings.Repeat("y", 2020-len(k.encode())-head+1)
	if k.addDoc(id, nil) {
		t.Errorf("a record is taken that makes %d bytes", len(k.encode()))
	}
	if !k.addDoc(id[1:], nil) || len(k.encode()) != 2020 {
		t.Errorf("%d bytes, want the block full at 2020", len(k.encode()))
	}
	table := mustOpen(t, filepath.Join(t.TempDir(), "table"), smallOptions)
	if most := table.recs.most; most != 32<<10 {
		t.Errorf("blocks of %d bytes without a window", most)
	}
	must(t, table.SetWindow(9))
	if most := table.recs.most; most != 2020 {
		t.Errorf("blocks of %d bytes in a window", most)
	}
	must(t, table.update(func(c *change) {
		for i := range uint64(100) {
			c.add(bucketDocs, i, k.encode())
		}
	}))
	must(t, table.look(func(s *snapshot) error {
		if st := s.tx.Bucket(bucketDocs).Stats(); st.LeafPageN+st.LeafOverflowN != 50 {
			t.Errorf("100 blocks have %d pages", st.LeafPageN+st.LeafOverflowN)
		}
		return nil
	}))
}

// TestRecordsAndIDsDoNotWaitWithoutEnd checks that Full asks for a checkpoint when records or ids
// fill memory, even with few keys.
func TestRecordsAndIDsDoNotWaitWithoutEnd(t *testing.T) {
	table := mustOpen(t, filepath.Join(t.TempDir(), "records"), Options{Scheme: "test", noSync: true})
	long := strings.Repeat("i", 60<<10)
	n := 0
	for ; !table.Full(); n++ {
		if n > pendingRecords/len(long) {
			t.Fatalf("%d documents of %d bytes wait", n, len(long))
		}
		if _, err := table.addDoc(Doc{ID: long}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if n < pendingRecords/len(long)/2 {
		t.Errorf("full at %d documents", n)
	}
	table = mustOpen(t, filepath.Join(t.TempDir(), "ids"), smallOptions)
	for n = 0; !table.memFull(); n++ {
		if n > smallOptions.MemtableKeys {
			t.Fatalf("%d ids wait", n)
		}
		if _, err := table.addDoc(Doc{ID: strings.Repeat("k", n+1)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if n != smallOptions.MemtableKeys/4+1 {
		t.Errorf("flushed at %d ids", n)
	}
}

// TestIDsOfOneHash checks that ids are compared, since two may have the same hash.
func TestIDsOfOneHash(t *testing.T) {
	table := mustOpen(t, filepath.Join(t.TempDir(), "table"), smallOptions)
	for _, id := range []string{"one", "two"} {
		if _, err := table.addDoc(Doc{ID: id}, []uint64{1}); err != nil {
			t.Fatal(err)
		}
	}
	// Pretend that "two" has the hash of "one".
	if err := table.spaces[ofIDs].mem.AddAll([][]uint64{{idKey("one")}}, 2, memtable.Alone); err != nil {
		t.Fatal(err)
	}
	if got, err := table.ByID("one"); !slices.Equal(got, []uint32{1}) || err != nil {
		t.Errorf("documents %v, %v", got, err)
	}
}
