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

// fixture unpacks a table of testdata to path.
func fixture(t *testing.T, name, path string) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func writeFixture(t *testing.T, name, path string) {
	t.Helper()
	table, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, err = w.Write(table)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("testdata", name), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestFormatVersion3 reads a table of version 3 as first written, and compares the values of a new
// one. Pages may differ: bbolt writes the buckets of a transaction in map order.
func TestFormatVersion3(t *testing.T) {
	dir := t.TempDir()
	now, then := filepath.Join(dir, "now"), filepath.Join(dir, "then")
	sampleTable(t, now)
	if *update {
		writeFixture(t, "v3.table.gz", now)
	}
	fixture(t, "v3.table.gz", then)
	if diff := cmp.Diff(contents(t, then, ""), contents(t, now, "")); diff != "" {
		t.Fatalf("the same documents do not give the same values as in version 3 (-then +now):\n%.2000s", diff)
	}
	got, err := openDamaged(then)
	if err != nil {
		t.Fatal(err)
	}
	want, err := openDamaged(now)
	if err != nil || got != want {
		t.Fatalf("the old table answers %x, the new one %x, %v", got, want, err)
	}
}

// TestEarlierFormats refuses tables of earlier versions, even for reading, without changing them.
func TestEarlierFormats(t *testing.T) {
	for v := 1; v < version; v++ {
		t.Run(fmt.Sprint(v), func(t *testing.T) { refusesFormat(t, v) })
	}
}

func refusesFormat(t *testing.T, v int) {
	path := filepath.Join(t.TempDir(), "table")
	sampleTable(t, path)
	tamper(t, path, func(tx *bbolt.Tx) error { return putVersion(tx, byte(v)) })
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := "opening the table: " + path + fmt.Sprintf(": table has another version: it has format %d, this program reads %d; ", v, version) +
		"make it again from the documents with firstseen dedup --index DIR, or use the version of the program that wrote it"
	for _, opt := range []Options{smallOptions, {ReadOnly: true}} {
		if _, err := Open(path, opt); !errors.Is(err, ErrVersion) || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed (%v)", err)
	}
}

// putVersion makes the table one of another version.
func putVersion(tx *bbolt.Tx, v byte) error {
	b := bytes.Clone(tx.Bucket(bucketMeta).Get(keyTable))
	b[8] = v
	return tx.Bucket(bucketMeta).Put(keyTable, reseal(b[:len(b)-8], seedRecord))
}

// contents returns all keys and values of a file except those in skipped buckets.
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

// TestSameDocumentsGiveTheSameRuns varies checkpoints, restarts and the division into transactions.
func TestSameDocumentsGiveTheSameRuns(t *testing.T) {
	t.Parallel()
	for name, sizes := range smallSizes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sameRuns(t, sizes)
		})
	}
}

func sameRuns(t *testing.T, sizes sizes) {
	docs := 2000
	if sizes.division.BlockBits != 0 {
		docs = 500
	}
	build := func(slice, every, reopen int) map[string]string {
		path := filepath.Join(t.TempDir(), "table")
		opt := smallOptions
		opt.sizes = sizes
		opt = opt.withDefaults()
		opt.sizes.sliceBytes = slice
		table := mustOpen(t, path, opt)
		r := rand.New(rand.NewPCG(9, 0))
		checkpoint := func() {
			if err := table.Checkpoint(nil); err != nil {
				t.Fatal(err)
			}
		}
		for i := range docs {
			if _, err := table.addDoc(randomDoc(r, i), docKeys(r, 20)); err != nil {
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
				table = mustOpen(t, path, opt)
			}
		}
		checkpoint()
		records := fmt.Sprint(recordsOf(table.head.runs[ofKeys]), recordsOf(table.head.runs[ofIDs]))
		if err := table.Close(); err != nil {
			t.Fatal(err)
		}
		// Pending keys, and so the table record, depend on the times of checkpoints.
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
