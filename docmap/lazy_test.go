package docmap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestPagesAreCheckedBeforeUse flips bits in the heads of pages and opens the table to read, which
// checks most pages when they are first used. Every answer must be right, or ErrDamaged.
func TestPagesAreCheckedBeforeUse(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	path := filepath.Join(t.TempDir(), "table")
	sampleTable(t, path)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ask := func() (uint64, error) {
		table, err := Open(path, Options{ReadOnly: true})
		if err != nil {
			return 0, err
		}
		defer table.Close()
		return answers(table)
	}
	want, err := ask()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	refused, late := 0, 0
	n := 3000
	if testing.Short() {
		n = 500
	}
	for range n {
		bad := append([]byte(nil), good...)
		at := rng.IntN(len(good)/pageSize)*pageSize + rng.IntN(16+3*16)
		bad[at] ^= 1 << rng.IntN(8)
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := ask()
		switch {
		case err == nil && got != want:
			t.Fatalf("byte %d: wrong answers", at)
		case err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrVersion):
			t.Fatalf("byte %d: %v", at, err)
		case err != nil:
			refused++
			if table, err := Open(path, Options{ReadOnly: true}); err == nil {
				late++
				table.Close()
			}
		}
	}
	if refused < n/10 || late == 0 {
		t.Errorf("%d of %d flips refused, %d of them after opening", refused, n, late)
	}
}

// TestBranchBelowItself leads the way to the first documents round in a circle, which bbolt would
// follow forever. The others can be read, and Verify finds the fault.
func TestBranchBelowItself(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	opt := smallOptions
	opt.MemtableKeys = 60 // opening reads documents with pending keys
	table := mustOpen(t, path, opt)
	const docs = 100
	for n := range uint64(docs) {
		_, err := table.addDoc(Doc{Data: make([]byte, 10_000)}, []uint64{n * 0x9e3779b97f4a7c15})
		must(t, err)
	}
	must(t, table.Checkpoint(nil))
	s, err := table.reading()
	must(t, err)
	root := uint64(s.tx.Bucket(bucketDocs).Root())
	must(t, table.Close())
	b, err := os.ReadFile(path)
	must(t, err)
	page := b[root*pageSize:]
	if page[8] != 1 {
		t.Fatal("the documents have no branch")
	}
	binary.LittleEndian.PutUint64(page[16+8:], root)
	must(t, os.WriteFile(path, b, 0o600))
	table = mustOpen(t, path, Options{ReadOnly: true})
	_, err = table.Doc(docs)
	must(t, err)
	if _, err := table.Doc(1); !errors.Is(err, ErrDamaged) {
		t.Errorf("the first document: %v", err)
	}
	if found, err := table.Verify(t.Context()); err != nil || len(found) == 0 {
		t.Errorf("verified: %v, %v", found, err)
	}
}

// TestOpeningToReadReadsLittle counts the reads of opening a table and taking its statistics: they
// must not grow with the table. Pending keys lie in the gaps that merges left. A page of every
// second chunk of them is read, and no document.
func TestOpeningToReadReadsLittle(t *testing.T) {
	var counts [2]int64
	for i, docs := range []int{5_000, 42_000} {
		path := filepath.Join(t.TempDir(), "table")
		table := mustOpen(t, path, Options{Scheme: "s", MemtableKeys: 250_000, noSync: true})
		rng := rand.New(rand.NewPCG(1, 1))
		keys := make([]uint64, 50)
		for n := range docs {
			for i := range keys {
				keys[i] = rng.Uint64()
			}
			if _, err := table.addDoc(Doc{ID: fmt.Sprint(n), Data: make([]byte, 100)}, keys); err != nil {
				t.Fatal(err)
			}
			if table.Full() {
				if err := table.Checkpoint(nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := errors.Join(table.Checkpoint(nil), table.Close()); err != nil {
			t.Fatal(err)
		}
		before, bytes := readCalls(t), readBytes(t)
		table = mustOpen(t, path, Options{ReadOnly: true})
		stats := table.Stats()
		counts[i], bytes = readCalls(t)-before, readBytes(t)-bytes
		if stats.Documents != uint32(docs) || stats.FreeBytes <= 0 || stats.FreeBytes >= stats.Bytes {
			t.Errorf("%+v", stats)
		}
		t.Logf("%d documents, %d pending keys, %d bytes: %d reads of %d bytes", docs, stats.PendingKeys, stats.Bytes, counts[i], bytes)
		if bytes > 3<<20 {
			t.Errorf("%d bytes read", bytes)
		}
		if nums, err := table.ByID(fmt.Sprint(docs - 1)); err != nil || len(nums) != 1 {
			t.Errorf("the last id belongs to %d, %v", nums, err)
		}
	}
	if counts[1] > 25 || counts[1] > counts[0]+10 {
		t.Errorf("%d and %d reads", counts[0], counts[1])
	}
}
