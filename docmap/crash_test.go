package docmap

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
	"go.etcd.io/bbolt"
)

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// grow adds documents to a table and its oracle, with checkpoints when it is full and now and then.
func grow(t testing.TB, table *Table, want *oracle, r *rand.Rand, docs int, checkpoint func()) {
	t.Helper()
	for range docs {
		d, keys := randomDoc(r, len(want.docs)), docKeys(r, r.IntN(30))
		want.add(d, keys)
		if _, err := table.addDoc(d, keys); err != nil {
			t.Fatal(err)
		}
		if table.Full() || r.IntN(40) == 0 {
			checkpoint()
		}
		if _, err := table.Step(); err != nil {
			t.Fatal(err)
		}
	}
	checkpoint()
}

// TestCrashAfterEveryTransaction checks that a crash after any transaction, even within a flush or
// merge, restores the last checkpoint.
func TestCrashAfterEveryTransaction(t *testing.T) {
	t.Parallel()
	for name, sizes := range smallSizes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opt := smallOptions
			opt.sizes = sizes
			docs := 110
			if sizes == smallSizes["as they are"] {
				docs = 330
			}
			crashAfterEveryTransaction(t, opt, docs)
			opt.Stepwise = true
			crashAfterEveryTransaction(t, opt, docs)
		})
	}
}

func crashAfterEveryTransaction(t *testing.T, opt Options, docs int) {
	dir := t.TempDir()
	path, crashed := filepath.Join(dir, "table"), filepath.Join(dir, "crashed")
	opt.MemtableKeys = 300 * docs / 330
	table := mustOpen(t, path, opt)
	if err := table.Share(3, together); err != nil {
		t.Fatal(err)
	}
	want, crashes, partial := newOracle(), 0, 0
	bySeq := map[uint64]*oracle{0: newOracle()}
	table.committed = func() {
		crashes++
		copyFile(t, path, crashed)
		c, err := Open(crashed, opt)
		if err != nil {
			t.Fatalf("after transaction %d: %v", crashes, err)
		}
		seq := c.Generation().Sequence
		if last := want.seq; seq != last && seq != last-1 {
			t.Fatalf("after transaction %d the sequence is %d, want %d", crashes, seq, last)
		}
		every := 5
		if testing.Short() {
			every = 11
		}
		if crashes%every == 0 {
			bySeq[seq].equal(t, c)
		}
		for _, r := range c.spaces[ofKeys].runs {
			if r.low > 0 && r.entries > 0 {
				partial++ // a source that is partly merged and gone
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	grow(t, table, want, rand.New(rand.NewPCG(3, 0)), docs, func() {
		want.seq++
		bySeq[want.seq] = want.clone()
		if err := table.Checkpoint(nil); err != nil {
			t.Fatal(err)
		}
	})
	st := table.Stats()
	if st.Merges < 6 || crashes < 60 || opt.sizes.division.BlockBits == 3 && (partial < 20 || len(st.Runs) < 4) {
		t.Fatalf("%d merges, %d transactions, %d runs cut, %d levels: too few to mean anything", st.Merges, crashes, partial, len(st.Runs))
	}
	want.equal(t, table)
}

// TestFullDiskFailsTheCheckpointAlone checks that a full disk fails the checkpoint, not the table.
func TestFullDiskFailsTheCheckpointAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	t.Parallel()
	failures := 0
	for limit := 160 << 10; limit < 500<<10; limit += 80 << 10 {
		path := filepath.Join(t.TempDir(), fmt.Sprint(limit))
		opt := smallOptions
		opt.MaxFileSize = limit
		if failures%2 == 1 {
			opt.sizes = smallSizes["many bins"]
		}
		table := mustOpen(t, path, opt)
		want, saved := newOracle(), newOracle()
		r := rand.New(rand.NewPCG(4, 0))
		failed := false
		for !failed && len(want.docs) < 2000 {
			grow(t, table, want, r, 20, func() {
				err := table.Checkpoint(nil)
				if table.Generation().Sequence != want.seq {
					want.seq++ // any failure is of a merge after the checkpoint
					saved = want.clone()
				}
				failed = failed || err != nil
			})
		}
		if !failed {
			continue
		}
		failures++
		want.equal(t, table)
		if err := table.Close(); err != nil {
			t.Fatal(err)
		}
		opt.MaxFileSize = 0
		table = mustOpen(t, path, opt)
		saved.equal(t, table)
		grow(t, table, saved, r, 100, func() {
			if err := table.Checkpoint(nil); err != nil {
				t.Fatal(err)
			}
			saved.seq++
		})
		saved.equal(t, table)
	}
	if failures < 4 {
		t.Fatalf("only %d checkpoints failed", failures)
	}
}

// answers returns a digest of all answers of a table.
func answers(table *Table) (uint64, error) {
	h := xxh3.New()
	put := func(v ...any) { fmt.Fprintln(h, v...) }
	var keys []uint64
	for p, err := range table.All() {
		if err != nil {
			return 0, err
		}
		put(p.Key, p.Docs)
		keys = append(keys, p.Key)
	}
	var p postings
	if err := table.ask(keys, &p); err != nil {
		return 0, err
	}
	for i := range keys {
		put(p.of(i))
	}
	for d, err := range table.Docs(1) {
		if err != nil {
			return 0, err
		}
		nums, err := table.ByID(d.ID)
		if err != nil {
			return 0, err
		}
		put(d, nums)
	}
	for _, name := range []string{"progress", "other"} {
		v, err := table.State(name)
		if err != nil {
			return 0, err
		}
		put(v)
	}
	put(table.Generation())
	return h.Sum64(), nil
}

// sampleTable makes a small table with runs of three levels, an open merge, pending keys, values.
func sampleTable(t testing.TB, path string) {
	t.Helper()
	opt := smallOptions
	opt.MemtableKeys = 60
	table := mustOpen(t, path, opt)
	want := newOracle()
	grow(t, table, want, rand.New(rand.NewPCG(5, 0)), 150, func() {
		if err := table.Checkpoint(map[string][]byte{"progress": fmt.Append(nil, len(want.docs)), "other": nil}); err != nil {
			t.Fatal(err)
		}
		want.seq++
	})
	want.state["progress"] = fmt.Append(nil, len(want.docs))
	want.equal(t, table)
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
}

// openDamaged returns a digest of the answers of a damaged file, or an error.
func openDamaged(path string) (digest uint64, err error) {
	opt := smallOptions
	opt.MemtableKeys = 60
	table, err := Open(path, opt)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	if digest, err = answers(table); err != nil {
		return 0, err
	}
	// A table that answers must also accept documents.
	if _, err := table.addDoc(Doc{ID: "more"}, []uint64{1, 2, 3}); err != nil {
		return 0, err
	}
	if err := table.Checkpoint(nil); err != nil {
		return 0, err
	}
	found, err := table.Verify(context.Background())
	if len(found) > 0 {
		return 0, fmt.Errorf("%w: %v", ErrDamaged, found)
	}
	return digest, err
}

func wantDamaged(t testing.TB, what string, err error) {
	t.Helper()
	if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrScheme) && !errors.Is(err, ErrVersion) {
		t.Fatalf("%s: the error is %v", what, err)
	}
}

// TestDamageIsRefusedOrHarmless flips bits and cuts files, which must be refused or harmless.
func TestDamageIsRefusedOrHarmless(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, bad := filepath.Join(dir, "table"), filepath.Join(dir, "bad")
	sampleTable(t, path)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(b []byte) {
		if err := os.WriteFile(bad, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(good)
	want, err := openDamaged(bad)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(6, 0))
	refused := 0
	places := 400 // bench flips tries every bit
	if testing.Short() {
		places = 200
	}
	for pos := 0; pos < len(good); pos += 1 + len(good)/places {
		b := append([]byte(nil), good...)
		at := min(pos+r.IntN(len(good)/places), len(good)-1)
		if pos < 2*pageSize {
			at = pos // skip the empty part of the header pages
		}
		b[at] ^= 1 << r.IntN(8)
		write(b)
		got, err := openDamaged(bad)
		if err != nil {
			wantDamaged(t, fmt.Sprintf("byte %d", at), err)
			refused++
		} else if got != want {
			t.Fatalf("with byte %d flipped the answers are different", at)
		}
	}
	if refused < places/10 {
		t.Fatalf("only %d flips noticed", refused)
	}
	for n := range 50 {
		write(good[:len(good)*n/50+n%2])
		got, err := openDamaged(bad)
		if n == 0 && !errors.Is(err, ErrDamaged) {
			t.Fatalf("an empty file: %v", err)
		}
		if err == nil && got != want {
			t.Fatalf("cut to %d/50 the answers are different", n)
		}
		if err != nil {
			wantDamaged(t, fmt.Sprintf("cut to %d/50", n), err)
		}
	}
}

// tamper changes values in bbolt behind the table's back.
func tamper(t *testing.T, path string, f func(tx *bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(f), db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	firstRun := runInfo{id: 1}
	for _, c := range []struct {
		name   string
		change func(tx *bbolt.Tx) error
		want   error
		says   string
	}{
		{"another version", func(tx *bbolt.Tx) error { return putVersion(tx, version+1) }, ErrVersion, "format 4"},
		{"no table record", func(tx *bbolt.Tx) error { return tx.Bucket(bucketMeta).Delete(keyTable) }, ErrDamaged, "delete it"},
		{"no values", func(tx *bbolt.Tx) error { return tx.Bucket(bucketMeta).Delete(keyState) }, ErrDamaged, "delete it"},
		{"no documents", func(tx *bbolt.Tx) error { return tx.DeleteBucket(bucketDocs) }, ErrDamaged, "missing"},
		{"a block gone", func(tx *bbolt.Tx) error { return tx.Bucket(bucketDocs).Delete(binKey(1)) }, ErrDamaged, "document 1"},
		{"a run gone", func(tx *bbolt.Tx) error {
			return tx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
				if strings.HasPrefix(string(name), "run") {
					return tx.DeleteBucket(name)
				}
				return nil
			})
		}, ErrDamaged, "missing"},
		{"a stray run", func(tx *bbolt.Tx) error {
			firstRun.id = 1 << 20
			_, err := tx.CreateBucket(firstRun.bucket())
			return err
		}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "table")
			sampleTable(t, path)
			tamper(t, path, c.change)
			_, err := openDamaged(path)
			if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Fatalf("error %v, want %v saying %q", err, c.want, c.says)
			}
		})
	}
}
