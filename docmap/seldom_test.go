package docmap

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// The memory keeps the first documents of a key up to its limit and no more: a key
// of every document would fill it.
func TestMemoryKeepsTheFirst(t *testing.T) {
	m, err := newMemtable(100, 8)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	for doc := range uint32(50) {
		if err := m.addAll([]uint64{7, 7}, doc+1); err != nil {
			t.Fatal(err)
		}
	}
	if got := m.find(make([]uint32, 0, 50), 7); m.n != 8 || !slices.Equal(got, []uint32{1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("%d entries, documents %v", m.n, got)
	}
}

// A page in use that is listed as free, in its order among the others and in place
// of one that is free, would be written over.
func TestUsedPageAmongTheFree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	sampleTable(t, path)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := &pageFile{t: t, b: good}
	le, list := binary.LittleEndian, f.free()
	n, changed := int(le.Uint16(list[10:])), false
	id := func(i int) []byte { return list[pageHead+8*i:] }
	for i := range n {
		next := le.Uint64(id(i)) + 1
		if next < le.Uint64(f.newest()[40:]) && (i+1 == n || next < le.Uint64(id(i+1))) {
			le.PutUint64(id(i), next)
			changed = true
			break
		}
	}
	if !changed {
		t.Fatalf("no page in use lies behind one of %d free ones", n)
	}
	if err := os.WriteFile(path, f.b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := checkPages(path); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "cannot be free") {
		t.Errorf("the error is %v", err)
	}
}

// A record that tells of a document more than there are, and of nothing pending, is
// refused: a number would be given out twice.
func TestRecordAheadOfItsDocuments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	sampleTable(t, path)
	table := mustOpen(t, path, smallOptions)
	h := table.head
	h.docs++
	h.flushed, h.chunks, h.pending = h.docs, 0, 0
	for i, runs := range h.runs {
		h.runs[i] = slices.Clone(runs)
		h.runs[i][len(runs)-1].last = h.docs
	}
	err := table.update(func(tx *bbolt.Tx) error { return putHeader(tx, &h, nil) })
	if err := errors.Join(err, table.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, smallOptions); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "the documents end at") {
		t.Errorf("the error is %v", err)
	}
}
