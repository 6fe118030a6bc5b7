package docmap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
)

var update = flag.Bool("update", false, "write testdata/ anew")

// A table of version 1, as it was first written, can be read; and what is
// written now has the same values. (Not the same pages: bbolt writes the
// buckets of a transaction in the order of a Go map.)
func TestFormatVersion1(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "table")
	sampleTable(t, path)
	now, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fixture := filepath.Join("testdata", "v1.table.gz")
	if *update {
		var b bytes.Buffer
		w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if _, err := w.Write(now); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(fixture, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(fixture)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	old, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	oldPath := filepath.Join(dir, "old")
	if err := os.WriteFile(oldPath, old, 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(contents(t, oldPath, ""), contents(t, path, "")); diff != "" {
		t.Fatalf("the same documents do not give the same values as in version 1 (-then +now):\n%.2000s", diff)
	}
	got, err := openDamaged(oldPath)
	if err != nil {
		t.Fatal(err)
	}
	want, err := openDamaged(path)
	if err != nil || got != want {
		t.Fatalf("the old table answers %x, the new one %x, %v", got, want, err)
	}
}

// contents returns all keys and values of a file, but those of some buckets.
func contents(t *testing.T, path, skip string) map[string]string {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			if strings.Contains(skip, string(name)) {
				return nil
			}
			return b.ForEach(func(k, v []byte) error {
				m[fmt.Sprintf("%s %x", name, k)] = fmt.Sprintf("%x", v)
				return nil
			})
		})
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return m
}

// The same documents give the same runs, however often the table is
// checkpointed, closed and opened, and however transactions are divided.
func TestSameDocumentsGiveTheSameRuns(t *testing.T) {
	build := func(slice, every, reopen int) map[string]string {
		path := filepath.Join(t.TempDir(), "table")
		table := mustOpen(t, path, smallOptions)
		table.sliceBytes = slice
		r := rand.New(rand.NewPCG(9, 0))
		checkpoint := func() {
			if err := table.Checkpoint(nil); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 2000 {
			if _, err := table.Add(randomDoc(r, i), docKeys(r, 20)); err != nil {
				t.Fatal(err)
			}
			if table.Full() || i%every == 0 {
				checkpoint()
			}
			if i%reopen == reopen-1 {
				checkpoint()
				if err := table.Close(); err != nil {
					t.Fatal(err)
				}
				table = mustOpen(t, path, smallOptions)
				table.sliceBytes = slice
			}
		}
		checkpoint()
		records := fmt.Sprint(table.head.runs)
		if err := table.Close(); err != nil {
			t.Fatal(err)
		}
		// What is pending, and so the table record, depends on when
		// checkpoints were made.
		m := contents(t, path, "pend meta")
		m["records"] = records
		return m
	}
	want := build(8<<20, 1<<30, 1<<30)
	for _, c := range [][3]int{{8 << 20, 7, 1 << 30}, {1 << 10, 100, 300}, {1, 33, 500}} {
		got := build(c[0], c[1], c[2])
		if len(got) != len(want) {
			t.Fatalf("%v: %d values, want %d", c, len(got), len(want))
		}
		for k, v := range want {
			if got[k] != v {
				t.Fatalf("%v: %s is different", c, k)
			}
		}
	}
}
