package docmap

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"github.com/firstseen/firstseen/docmap/memtable"
	"github.com/firstseen/firstseen/docmap/sorted"
)

var manyBins = func() Options {
	opt := smallOptions
	opt.MemtableKeys = 100
	opt.sizes = smallSizes["many bins"]
	return opt
}()

// onDisk returns the table record that a crash would leave now.
func onDisk(t *testing.T, path string) header {
	t.Helper()
	crashed := filepath.Join(t.TempDir(), "crashed")
	copyFile(t, path, crashed)
	ro := manyBins
	ro.ReadOnly = true
	table, err := Open(crashed, ro)
	if err != nil {
		t.Fatal(err)
	}
	h := table.head
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	return h
}

// TestOrderOfTransactions checks the order in a flush: bins of new runs, which the record does not
// name; in one transaction, all promised data; then merges, which change only runs.
func TestOrderOfTransactions(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, manyBins)
	r := rand.New(rand.NewPCG(21, 0))
	var records []header
	merged := 0
	for flushes := 0; flushes < 12; {
		if _, err := table.addDoc(randomDoc(r, flushes), docKeys(r, 12)); err != nil {
			t.Fatal(err)
		}
		if !table.Full() {
			continue
		}
		flush, before, content := table.memFull(), table.head, table.content
		records = records[:0]
		table.committed = func() { records = append(records, onDisk(t, path)) }
		if err := table.Checkpoint(nil); err != nil {
			t.Fatal(err)
		}
		table.committed = nil
		at := slices.IndexFunc(records, func(h header) bool { return h.seq != before.seq })
		if at < 0 {
			t.Fatal("no transaction made the checkpoint")
		}
		for i, h := range records[:at] {
			record := cmp.Transformer("record", func(r *run) runInfo { return r.runInfo })
			if diff := cmp.Diff(before, h, record, cmp.AllowUnexported(header{}, runInfo{}, window{}, timeSlice{}, times{})); diff != "" {
				t.Fatalf("transaction %d, before that of the checkpoint, changes the record:\n%s", i, diff)
			}
		}
		h := records[at]
		if h.seq != before.seq+1 || h.docs != table.docs || h.content != content {
			t.Fatalf("the checkpoint is %d of %d documents, content %x; want %d of %d, %x", h.seq, h.docs, h.content, before.seq+1, table.docs, content)
		}
		if !flush {
			if at != 0 || len(records) != 1 || h.flushed != before.flushed {
				t.Fatalf("a checkpoint without a flush has %d transactions", len(records))
			}
			continue
		}
		flushes++
		if at < 4 || h.flushed != h.docs || h.pending != 0 || h.chunks != 0 {
			t.Fatalf("after %d transactions, the flush has %d of %d documents, %d keys are pending", at, h.flushed, h.docs, h.pending)
		}
		for space := range h.runs {
			old, now := recordsOf(before.runs[space]), recordsOf(h.runs[space])
			if n := len(old); len(now) != n+1 || !slices.Equal(now[:n], old) {
				t.Fatal("the flush changed other runs")
			}
		}
		for _, m := range records[at+1:] {
			merged++
			if m.seq != h.seq || m.docs != h.docs || m.content != h.content || m.flushed != h.flushed || m.pending != 0 {
				t.Fatalf("a merge changed the checkpoint: %+v, was %+v", m, h)
			}
		}
	}
	if merged < 50 {
		t.Fatalf("only %d transactions of merges", merged)
	}
}

// firstBin returns the first run of keys with several bins, and a bin with keys in both sub-blocks.
func firstBin(t *testing.T, table *Table) (r *run, bin uint64) {
	t.Helper()
	s, err := table.reading()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range table.spaces[ofKeys].runs {
		for bin := r.BinOf(r.low); bin <= r.BinOf(r.high); bin++ {
			b := s.tx.Bucket(r.bucket()).Get(binKey(bin))
			if n := inFirst(b); r.Bins() > 1 && n > 0 && binary.LittleEndian.Uint32(b[16:]) > n {
				return r, bin
			}
		}
	}
	t.Fatal("no such bin")
	return nil, 0
}

// Offsets in a bin of two sub-blocks of 8 buckets; see docs/format.md, "Bins".
const (
	binHead    = 12 + 4*2
	blockExtra = 4 + 1 + 1
)

// inFirst returns the number of entries in the first sub-block of such a bin.
func inFirst(b []byte) uint32 { return binary.LittleEndian.Uint32(b[12:]) }

// binOfTwo returns the value of such a bin, and its entries.
func binOfTwo(t *testing.T, table *Table, r *run, bin uint64) ([]byte, *sorted.Entries) {
	t.Helper()
	s, err := table.reading()
	if err != nil {
		t.Fatal(err)
	}
	b := slices.Clone(s.tx.Bucket(r.bucket()).Get(binKey(bin)))
	var e sorted.Entries
	if err := r.Read(&e, bin, b); err != nil {
		t.Fatal(err)
	}
	return b, &e
}

// TestFirstLookupChecks checks that the first look-up verifies a bin's directory and the sub-block.
func TestFirstLookupChecks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, manyBins)
	want := newOracle()
	grow(t, table, want, rand.New(rand.NewPCG(22, 0)), 60, func() {
		if err := table.Checkpoint(nil); err != nil {
			t.Fatal(err)
		}
	})
	r, bin := firstBin(t, table)
	good, e := binOfTwo(t, table, r, bin)
	inFirst, inSecond := e.Keys[0], e.Keys[inFirst(good)]
	name, second := r.bucket(), binHead+blockExtra+int(uint64(binary.LittleEndian.Uint32(good[12:]))*r.EntryBits()/8)
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		at   int // damaged byte of the bin
		bad  []bool
	}{
		{"directory checksum", 0, []bool{true, true}},
		{"directory", 9, []bool{true, true}},
		{"first sub-block", binHead + 4, []bool{true, false}},
		{"checksum of the second sub-block", second, []bool{false, true}},
		{"second sub-block", second + 4, []bool{false, true}},
	} {
		for _, order := range [][]int{{0, 1}, {1, 0}} {
			b := slices.Clone(good)
			b[c.at] ^= 4
			put(t, path, name, binKey(bin), b)
			table := mustOpen(t, path, manyBins)
			var p postings
			for range 2 { // a refusal must be repeated
				for _, i := range order {
					key := []uint64{inFirst, inSecond}[i]
					err := table.ask([]uint64{key}, &p)
					if c.bad[i] != errors.Is(err, ErrDamaged) || !c.bad[i] && (err != nil || !slices.Equal(p.of(0), want.keys[key])) {
						t.Errorf("%s damaged, asked for sub-block %d: %v, %v", c.name, i, p.of(0), err)
					}
				}
			}
			if err := table.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestFlushTriedAgain retries failed checkpoints, whose remains have the names of the next runs.
func TestFlushTriedAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, manyBins)
	want := newOracle()
	r := rand.New(rand.NewPCG(25, 0))
	for !table.memFull() {
		d, keys := randomDoc(r, len(want.docs)), docKeys(r, 12)
		want.add(d, keys)
		if _, err := table.addDoc(d, keys); err != nil {
			t.Fatal(err)
		}
	}
	for fail := 1; ; fail++ {
		done := 0
		table.committed = func() {
			if done++; done == fail && table.head.seq == 0 {
				table.path = path + ".gone" // so that the next transaction fails to begin
			}
		}
		err := table.Checkpoint(nil)
		table.path = path
		if table.head.seq > 0 {
			if err != nil || fail < 5 {
				t.Fatalf("after %d failures: %v", fail-1, err)
			}
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("transaction %d: %v", fail+1, err)
		}
	}
	want.seq++
	want.equal(t, table)
}

// TestDefaultMemory checks the memory of default options against the documentation of Options.
func TestDefaultMemory(t *testing.T) {
	table := mustOpen(t, filepath.Join(t.TempDir(), "table"), Options{Scheme: "test"})
	keys, most := table.spaces[ofKeys].mem, table.opt.MemtableKeys
	for n := 1; n < 2*most; n *= 2 { // grow in steps, as with documents
		if err := keys.Reserve(min(n, most), memtable.Alone); err != nil {
			t.Fatal(err)
		}
	}
	if got := float64(keys.Bytes()) / 1e6; math.Round(got) != 104 {
		t.Errorf("%.1f MB, want 104", got)
	}
}

// TestPlacesOfBins checks that places of bins, even small ones, are kept, but not beyond a mapping.
func TestPlacesOfBins(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, manyBins)
	want := newOracle()
	ask := func() {
		keys := make([]uint64, 0, len(want.keys))
		for k := range want.keys {
			keys = append(keys, k)
		}
		var p postings
		if err := table.ask(keys, &p); err != nil {
			t.Fatal(err)
		}
		for i, k := range keys {
			if !slices.Equal(p.of(i), want.keys[k]) {
				t.Fatalf("key %x: %v, want %v", k, p.of(i), want.keys[k])
			}
		}
	}
	maps := map[uintptr]bool{}
	grow(t, table, want, rand.New(rand.NewPCG(23, 0)), 400, func() {
		ask()
		r, bin := table.spaces[ofKeys].runs, uint64(0)
		if len(r) > 0 {
			bin = r[0].BinOf(r[0].low)
			_, lowest := r[0].Bin(bin)
			_, highest := r[0].Bin(r[0].BinOf(r[0].high))
			if !lowest && !highest {
				t.Fatal("after look-ups of all keys the places of bins are not known")
			}
		}
		if err := table.Checkpoint(nil); err != nil {
			t.Fatal(err)
		}
		ask()
		maps[table.mapping] = true
	})
	if unmapped && len(maps) < 3 || !unmapped && len(maps) != 1 {
		t.Fatalf("the file was mapped at %d addresses", len(maps))
	}
}

// TestSweepRemovesRunsOfNoRecord checks that a starting writer, not a reader, removes remains.
func TestSweepRemovesRunsOfNoRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	sampleTable(t, path)
	before := contents(t, path, "")
	stray := runInfo{id: 1 << 20}
	tamper(t, path, func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket(stray.bucket())
		if err != nil {
			return err
		}
		return b.Put(binKey(0), []byte("left over"))
	})
	opt := smallOptions
	opt.MemtableKeys = 60
	for _, opt.ReadOnly = range []bool{true, false} {
		if err := mustOpen(t, path, opt).Close(); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, path, ""); (len(got) == len(before)) == opt.ReadOnly {
			t.Fatalf("opened with ReadOnly %v: %d values, without the stray run %d", opt.ReadOnly, len(got), len(before))
		}
	}
	if diff := cmp.Diff(before, contents(t, path, "")); diff != "" {
		t.Fatal(diff)
	}
}

// TestPaceOfMerges checks the progress of merges against docs/format.md, "Merging".
func TestPaceOfMerges(t *testing.T) {
	for level, w := range []int{4, 16, 128, 1024} {
		if got := defaultSizes.window(level); got != w {
			t.Errorf("between two merges of level %d lie %d flushes, want %d", level, got, w)
		}
		if got, want := defaultSizes.pace(level), 4/(3*float64(w)); got != want {
			t.Errorf("level %d advances by %v, want %v", level, got, want)
		}
	}
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, manyBins)
	r := rand.New(rand.NewPCG(26, 0))
	for len(table.spaces[ofKeys].runs) < 3 { // the target and both sources of a merge
		if _, err := table.addDoc(Doc{}, docKeys(r, 12)); err != nil {
			t.Fatal(err)
		}
		if table.Full() {
			if err := table.Checkpoint(nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	// 4/(3·2) of 16 bins is 11, and 12 with the second half of a source's bin.
	target := table.spaces[ofKeys].runs[0]
	if bins, done := target.Bins(), target.BinOf(target.high)+1; bins != 16 || done != 12 {
		t.Fatalf("the first share of the merge is %d of %d bins", done, bins)
	}
}
