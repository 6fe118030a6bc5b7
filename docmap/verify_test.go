package docmap

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
	"go.etcd.io/bbolt"

	"github.com/firstseen/firstseen/docmap/sorted"
)

// verifiable makes a table with runs of several bins, an unfinished merge, several blocks of
// documents, one id of very many documents, and pending keys.
func verifiable(t *testing.T, path string) {
	t.Helper()
	table := mustOpen(t, path, manyBins)
	r := rand.New(rand.NewPCG(31, 0))
	add := func(d Doc, keys []uint64) {
		t.Helper()
		if _, err := table.addDoc(d, keys); err != nil {
			t.Fatal(err)
		}
		if !table.Full() {
			return
		}
		if err := table.Checkpoint(nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 * idLimit / 2 {
		add(Doc{ID: "common"}, []uint64{r.Uint64() * uint64(i%2)})
	}
	for i := range 300 {
		add(Doc{ID: fmt.Sprint(i%290, strings.Repeat("-", 200))}, docKeys(r, 5))
	}
	for _, s := range table.spaces {
		cut := slices.ContainsFunc(s.runs, func(r *run) bool { return r.low > 0 })
		if !cut {
			t.Fatal("no merge is under way")
		}
	}
	if err := errors.Join(table.Checkpoint(nil), table.Close()); err != nil {
		t.Fatal(err)
	}
}

func verify(t *testing.T, path string) []Finding {
	t.Helper()
	ro := manyBins
	ro.ReadOnly = true
	table := mustOpen(t, path, ro)
	found, err := table.Verify(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// bucketOf returns the last run with entries.
func bucketOf(t *testing.T, path string, space int) *run {
	t.Helper()
	ro := manyBins
	ro.ReadOnly = true
	table := mustOpen(t, path, ro)
	runs := table.spaces[space].runs
	return runs[len(runs)-1]
}

// rebuilt repacks the entries of a bin after a change, with valid checksums.
func rebuilt(t *testing.T, r *run, bin uint64, b []byte, change func(e *sorted.Entries)) []byte {
	t.Helper()
	var e sorted.Entries
	if err := r.Read(&e, bin, b); err != nil {
		t.Fatal(err)
	}
	change(&e)
	return sorted.Pack(nil, r.Run, bin, &e)
}

func TestVerifyFindsAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sound := filepath.Join(dir, "sound")
	verifiable(t, sound)
	if found := verify(t, sound); len(found) > 0 {
		t.Fatalf("in a sound table: %v", found)
	}
	keys, ids := bucketOf(t, sound, ofKeys), bucketOf(t, sound, ofIDs)
	inBins := func(r *run, n int, change func(e *sorted.Entries)) func(tx *bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			b := tx.Bucket(r.bucket())
			changed := 0
			for bin := r.BinOf(r.low); bin < r.Bins() && changed < n; bin++ {
				value := b.Get(binKey(bin))
				var e sorted.Entries
				if err := r.Read(&e, bin, value); err != nil {
					return err
				}
				if len(e.Keys) < 2 {
					continue
				}
				changed++
				if err := b.Put(binKey(bin), rebuilt(t, r, bin, value, change)); err != nil {
					return err
				}
			}
			if changed < n {
				return fmt.Errorf("only %d bins to change", changed)
			}
			return nil
		}
	}
	flip := func(bucket []byte, keys ...uint64) func(tx *bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			for _, key := range keys {
				b := slices.Clone(tx.Bucket(bucket).Get(binKey(key)))
				b[len(b)-9] ^= 1
				if err := tx.Bucket(bucket).Put(binKey(key), b); err != nil {
					return err
				}
			}
			return nil
		}
	}
	for _, c := range []struct {
		name   string
		change func(tx *bbolt.Tx) error
		want   []Finding // What holds a part of the actual text
	}{
		{
			"two bins damaged", flip(keys.bucket(), 3+keys.BinOf(keys.low), 4+keys.BinOf(keys.low)),
			[]Finding{{PartKeys, "wrong checksum"}, {PartKeys, "wrong checksum"}, {PartKeys, "entries, not"}},
		},
		{
			"a bin gone", func(tx *bbolt.Tx) error {
				return tx.Bucket(keys.bucket()).Delete(binKey(keys.BinOf(keys.low)))
			},
			[]Finding{{PartKeys, "is missing"}, {PartKeys, "entries, not"}, {PartKeys, "bins, not"}},
		},
		{
			"a bin too many", func(tx *bbolt.Tx) error {
				return tx.Bucket(keys.bucket()).Put(binKey(keys.Bins()), []byte("x"))
			},
			[]Finding{{PartKeys, "bins, not"}},
		},
		{"a run gone", func(tx *bbolt.Tx) error { return tx.DeleteBucket(keys.bucket()) }, []Finding{{PartKeys, "is missing"}}},
		{
			"entries out of order", inBins(keys, 2, func(e *sorted.Entries) { e.Keys[0] |= 1; e.Keys[1] = e.Keys[0] - 1 }),
			[]Finding{{PartKeys, "out of order"}, {PartKeys, "out of order"}},
		},
		{
			"an entry twice", inBins(keys, 1, func(e *sorted.Entries) { e.Keys[1], e.Docs[1] = e.Keys[0], e.Docs[0] }),
			[]Finding{{PartKeys, "out of order"}},
		},
		{
			"an entry of another run's document", inBins(keys, 1, func(e *sorted.Entries) { e.Docs[0] = keys.last + 1 }),
			[]Finding{{PartKeys, "entry of document"}},
		},
		{
			"an entry lost", inBins(keys, 1, func(e *sorted.Entries) { e.Keys, e.Docs = e.Keys[:1], e.Docs[:1] }),
			[]Finding{{PartKeys, "entries, not"}},
		},
		{
			"an id of another document", inBins(ids, 1, func(e *sorted.Entries) { e.Docs[0] = otherDoc(ids, e.Docs[0]) }),
			[]Finding{{PartDocs, "is not in the index of ids"}},
		},
		{
			"an id's entry lost and another's twice", inBins(ids, 1, func(e *sorted.Entries) { e.Keys[0]++ }),
			[]Finding{{PartDocs, "is not in the index of ids"}},
		},
		{
			"an id of no document", func(tx *bbolt.Tx) error {
				if err := inBins(ids, 1, func(e *sorted.Entries) {
					e.Keys, e.Docs = append(e.Keys, e.Keys[len(e.Keys)-1]+1), append(e.Docs, ids.last)
				})(tx); err != nil {
					return err
				}
				return changeRecord(tx, func(h *header) { h.runs[ofIDs][len(h.runs[ofIDs])-1].entries++ })
			},
			[]Finding{{PartIDs, "of them are ids of documents"}},
		},
		{
			"a document damaged, and the ids", func(tx *bbolt.Tx) error {
				return errors.Join(flip(bucketDocs, 1)(tx), flip(ids.bucket(), ids.BinOf(ids.low))(tx))
			},
			[]Finding{{PartIDs, "wrong checksum"}, {PartIDs, "entries, not"}, {PartDocs, "document"}, {PartDocs, "missing"}},
		},
		{
			"a block of documents gone", func(tx *bbolt.Tx) error { return tx.Bucket(bucketDocs).Delete(binKey(1)) },
			[]Finding{{PartDocs, "the documents from 1 on are missing"}},
		},
		{
			"a chunk of keys too many", func(tx *bbolt.Tx) error { return tx.Bucket(bucketPend).Put(binKey(1<<20), []byte("x")) },
			[]Finding{{PartPending, "chunks of pending keys"}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "table")
			copyFile(t, sound, path)
			tamper(t, path, c.change)
			found := verify(t, path)
			rest := found
			for _, w := range c.want {
				i := slices.IndexFunc(rest, func(f Finding) bool { return f.Part == w.Part && strings.Contains(f.What, w.What) })
				if i < 0 {
					t.Fatalf("%v is not among %v", w, found)
				}
				rest = slices.Delete(slices.Clone(rest), i, i+1)
			}
			for _, f := range found {
				if strings.Contains(f.What, "damaged") || strings.Contains(f.What, path) {
					t.Errorf("the text is %q", f.What)
				}
			}
		})
	}
}

// otherDoc returns another document of the run.
func otherDoc(r *run, num uint32) uint32 {
	if num == r.first {
		return num + 1
	}
	return num - 1
}

// changeRecord rewrites the table record after a change, with a valid checksum.
func changeRecord(tx *bbolt.Tx, change func(h *header)) error {
	meta := tx.Bucket(bucketMeta)
	h, err := decodeHeader(meta.Get(keyTable))
	if err != nil {
		return err
	}
	change(h)
	return meta.Put(keyTable, h.encode())
}

// TestVerifyPages checks that a page error ends the verification.
func TestVerifyPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	verifiable(t, path)
	ro := manyBins
	ro.ReadOnly = true
	table := mustOpen(t, path, ro)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte{1}, 16+8) // in the first header page
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	found, err := table.Verify(context.Background())
	if err != nil || len(found) != 1 || found[0].Part != PartPages || !strings.Contains(found[0].What, "header page 0") {
		t.Fatalf("%v, %v", found, err)
	}
}

func TestVerifyStops(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	verifiable(t, path)
	table := mustOpen(t, path, manyBins)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := table.Verify(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := table.Verify(context.Background()); !errors.Is(err, errClosed) {
		t.Fatal(err)
	}
}

// TestTornCopies checks that a copy made beside a writer is a state of the table, or refused.
func TestTornCopies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "table")
	table := mustOpen(t, path, manyBins)
	states := map[uint64]bool{}
	var files [][]byte
	table.committed = func() {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, b)
	}
	table.committed() // as it was created
	r := rand.New(rand.NewPCG(33, 0))
	for i := range 60 {
		if _, err := table.addDoc(randomDoc(r, i), docKeys(r, 10)); err != nil {
			t.Fatal(err)
		}
		if i%5 == 4 {
			if err := table.Checkpoint(nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	answersOf := func(b []byte) (digest uint64, err error) {
		torn := filepath.Join(dir, "torn")
		if err := os.WriteFile(torn, b, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Open(torn, Options{ReadOnly: true, sizes: manyBins.sizes})
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, c.Close()) }()
		found, err := c.Verify(context.Background())
		if err != nil || len(found) > 0 {
			return 0, errors.Join(err, damage("%v", found))
		}
		return answers(c)
	}
	for i, b := range files {
		digest, err := answersOf(b)
		if err != nil {
			t.Fatalf("after transaction %d: %v", i, err)
		}
		states[digest] = true
	}
	good, refused, copies := 0, 0, 600
	if testing.Short() {
		copies = 200
	}
	for range copies {
		at := r.IntN(len(files) - 3)
		digest, err := answersOf(tear(r, files[at:at+2+r.IntN(2)]))
		switch {
		case err == nil && states[digest]:
			good++
		case errors.Is(err, ErrDamaged):
			refused++
		default:
			t.Fatalf("a torn copy gives %v, answers %x", err, digest)
		}
	}
	if good < 20 || refused < 20 {
		t.Fatalf("%d copies good, %d refused: too few to mean anything", good, refused)
	}
}

// tear takes each page from one of the files, mostly the last.
func tear(r *rand.Rand, files [][]byte) []byte {
	b := slices.Clone(files[len(files)-1])
	other := files[r.IntN(len(files))]
	if r.IntN(2) == 0 { // from a page on, like a copy that a writer overtakes
		at := r.IntN(len(b)/pageSize) * pageSize
		if at < len(other) {
			copy(b[at:], other[at:])
		}
		return b
	}
	for range 1 + r.IntN(4) {
		if at := r.IntN(len(b)/pageSize) * pageSize; at < len(other) {
			copy(b[at:at+pageSize], other[at:])
		}
	}
	return b
}

// TestIDKeyIsThatOfTheFormat checks the hash of ids against docs/format.md.
func TestIDKeyIsThatOfTheFormat(t *testing.T) {
	if got, want := idKey("some id"), xxh3.HashSeed([]byte("some id"), 2); got != want {
		t.Fatalf("%x, want %x", got, want)
	}
	if b := binKey(0x01020304); binary.BigEndian.Uint32(b) != 0x01020304 {
		t.Fatalf("%x", b)
	}
}
