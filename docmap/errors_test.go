package docmap

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/firstseen/firstseen/docmap/memtable"
	"github.com/firstseen/firstseen/docmap/sorted"
)

const advice = "; restore the index from a copy, or delete it and build it again"

// put writes a value behind the table's back.
func put(t *testing.T, path string, bucket, key, value []byte) {
	t.Helper()
	tamper(t, path, func(tx *bbolt.Tx) error { return tx.Bucket(bucket).Put(key, value) })
}

// message returns the text of an error, with PATH in place of its path.
func message(err error, path string) string {
	if err == nil {
		return "no error"
	}
	return strings.ReplaceAll(err.Error(), path, "PATH")
}

// TestEmptyFileIsRefused checks that an empty file is damage, not a missing table.
func TestEmptyFileIsRefused(t *testing.T) {
	for _, size := range []int{0, 1, pageSize, 3*pageSize - 1} {
		path := filepath.Join(t.TempDir(), "table")
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, readOnly := range []bool{false, true} {
			opt := smallOptions
			opt.ReadOnly = readOnly
			_, err := Open(path, opt)
			if !errors.Is(err, ErrDamaged) || size == 0 &&
				message(err, path) != "opening the table: PATH: table is damaged: it has 0 bytes"+advice {
				t.Errorf("%d bytes: %v", size, err)
			}
		}
		if b, err := os.ReadFile(path); err != nil || len(b) != size {
			t.Errorf("the file now has %d bytes, %v", len(b), err)
		}
	}
}

// TestLeftoverOfCreation checks that no remains of an interrupted creation disturb the next one.
func TestLeftoverOfCreation(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "table")
	sampleTable(t, whole)
	other, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"nothing": {}, "half a table": other[:len(other)/2], "another table": other, "zeros": make([]byte, 4*pageSize),
	} {
		path := filepath.Join(t.TempDir(), "table")
		if err := os.WriteFile(path+newSuffix, content, 0o400); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, Options{ReadOnly: true}); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: opened for reading: %v", name, err)
		}
		newOracle().equal(t, mustOpen(t, path, smallOptions))
		if _, err := os.Stat(path + newSuffix); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: left behind: %v", name, err)
		}
	}
}

func TestOpenRefusesWhatIsNoFile(t *testing.T) {
	path := t.TempDir()
	if _, err := Open(path, smallOptions); message(err, path) != "opening the table: PATH is not a file: give another name" {
		t.Error(err)
	}
	long := smallOptions
	long.Scheme = strings.Repeat("x", 1<<16)
	if _, err := Open(filepath.Join(path, "table"), long); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Error(err)
	}
	// A file that vanishes between two checks is not created again, empty.
	gone := &Table{path: filepath.Join(path, "gone"), opt: smallOptions}
	if err := gone.openFile(false, true, 0); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := os.Stat(gone.path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	path = filepath.Join(path, "no folder", "table")
	if _, err := Open(path, smallOptions); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// damagedRun makes a table with a damaged bin in its first run, and returns a key in that bin.
func damagedRun(t *testing.T) (path string, key uint64) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, manyBins)
	want := newOracle()
	grow(t, table, want, rand.New(rand.NewPCG(24, 0)), 8, func() {
		if err := table.Checkpoint(nil); err != nil {
			t.Fatal(err)
		}
	})
	r, bin := firstBin(t, table)
	b, e := binOfTwo(t, table, r, bin)
	name := r.bucket()
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1
	put(t, path, name, binKey(bin), b)
	return path, e.Keys[0]
}

// TestMessagesNameFileAndRemedyOnce checks that a message has the file and the advice once, however
// many functions return the error.
func TestMessagesNameFileAndRemedyOnce(t *testing.T) {
	path, key := damagedRun(t)
	table := mustOpen(t, path, manyBins)
	const what = "PATH: table is damaged: bin 100000000: wrong checksum of its directory" + advice
	check := func(got error, want string) {
		t.Helper()
		text := message(got, path)
		if i := strings.Index(text, "bin "); i >= 0 { // the number of the bin varies
			if j := strings.IndexByte(text[i:], ':'); j >= 0 {
				text = text[:i] + "bin 100000000" + text[i+j:]
			}
		}
		if !errors.Is(got, ErrDamaged) || text != want {
			t.Errorf("got  %s\nwant %s", text, want)
		}
	}
	var p postings
	check(table.ask([]uint64{key}, &p), "looking keys up: "+what)
	for _, err := range table.Keys() {
		if err != nil {
			check(err, "iterating over keys: "+what)
		}
	}
	for _, err := range table.All() {
		if err != nil {
			check(err, "iterating over keys: "+what)
		}
	}
	// A merge reads it on one of several goroutines.
	if err := table.Share(3, together); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(25, 0))
	var err error
	for i := 0; err == nil && i < 200; i++ {
		if _, err = table.addDoc(randomDoc(r, i), docKeys(r, 20)); err == nil && table.Full() {
			err = table.Checkpoint(nil)
		}
	}
	check(err, "checkpoint of the table: "+what)
	// Damage in a document of a closed block.
	path = filepath.Join(t.TempDir(), "table")
	opt := smallOptions
	opt.MemtableKeys = 1
	table = mustOpen(t, path, opt)
	for range 2 {
		if _, err := table.addDoc(Doc{ID: strings.Repeat("x", blockBytes)}, []uint64{1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(table.Checkpoint(nil), table.Close()); err != nil {
		t.Fatal(err)
	}
	tamper(t, path, func(tx *bbolt.Tx) error {
		b := append([]byte(nil), tx.Bucket(bucketDocs).Get(binKey(1))...)
		b[len(b)-1]++
		return tx.Bucket(bucketDocs).Put(binKey(1), b)
	})
	ro := smallOptions
	ro.ReadOnly = true
	table = mustOpen(t, path, ro)
	_, err = table.Doc(1)
	check(err, "reading document 1: PATH: table is damaged: wrong checksum of document 1"+advice)
	if _, err := table.Doc(3); !errors.Is(err, ErrNoDoc) || message(err, path) != "reading document 3: no such document" {
		t.Error(err)
	}
}

// TestOwnFaultIsNoDamage checks that a bug is reported with its stack, not as damage to a table.
func TestOwnFaultIsNoDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	sampleTable(t, path)
	opt := smallOptions
	opt.ReadOnly = true
	for says, fault := range map[string]func(table *Table){
		"index out of range":     func(table *Table) { table.spaces[ofKeys].runs[0].Run = new(sorted.Run) },
		"invalid memory address": func(table *Table) { table.spaces[ofKeys].runs[0] = nil },
		"assertion failed":       nil, // bbolt's assertion
	} {
		table := mustOpen(t, path, opt)
		var err error
		if fault == nil {
			err = table.guarded(func() error { panic("assertion failed") })
		} else {
			fault(table)
			err = table.ask([]uint64{0, 1, 1 << 63, ^uint64(0)}, new(postings))
		}
		text := message(err, path)
		if !errors.Is(err, errFault) || errors.Is(err, ErrDamaged) || strings.Contains(text, "delete") {
			t.Fatalf("got %s", text)
		}
		if strings.Count(text, "PATH") != 1 || !strings.Contains(text, "PATH: a bug in this program, not damage to the table: ") || !strings.Contains(text, says) ||
			!strings.Contains(text, "please report it with all of these lines:\n") || !strings.Contains(text, "docmap.(*Table).guarded") {
			t.Fatalf("got %s", text)
		}
	}
}

// TestFaultInPackingIsNoDamage does the same for a goroutine that packs.
func TestFaultInPackingIsNoDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, manyBins)
	if err := table.Share(3, together); err != nil {
		t.Fatal(err)
	}
	r := table.sizes.newRun(runInfo{id: 1, log: 9, first: 1, last: 1})
	from := &space{mem: table.spaces[ofKeys].mem, limit: MaxHolders}
	must(t, from.mem.AddAll([][]uint64{{r.Lowest(4)}}, 1, memtable.Alone))
	from.keep = func([]uint32) []uint32 { panic("in the middle") }
	err := table.pack(r, 0, make([]packed, 5), from)
	if !errors.Is(err, errFault) || !strings.Contains(err.Error(), "in the middle") {
		t.Fatal(err)
	}
}

// TestFaultInCheckpointMakesTableUnsure checks that only the file is trusted after such a fault.
func TestFaultInCheckpointMakesTableUnsure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, smallOptions)
	if _, err := table.addDoc(Doc{ID: "a"}, []uint64{1}); err != nil {
		t.Fatal(err)
	}
	table.committed = func() { panic("in the middle") }
	if err := table.Checkpoint(nil); !errors.Is(err, errFault) {
		t.Fatal(err)
	}
	table.committed = nil
	_, addErr := table.addDoc(Doc{}, nil)
	for _, err := range []error{addErr, table.Checkpoint(nil), table.ask(nil, new(postings))} {
		if !errors.Is(err, errUnsure) {
			t.Errorf("after the fault: %v", err)
		}
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	table = mustOpen(t, path, smallOptions)
	if nums, err := table.ByID("a"); err != nil || len(nums) != 1 {
		t.Fatalf("opened again: %v, %v", nums, err)
	}
}

// TestPagesChangedUnderATable checks that changed pages are damage, however bbolt reacts.
func TestPagesChangedUnderATable(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file cannot be written to")
	}
	path := filepath.Join(t.TempDir(), "table")
	sampleTable(t, path)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for page := 2; page < len(good)/pageSize; page++ {
		copyTo := filepath.Join(t.TempDir(), "table")
		if err := os.WriteFile(copyTo, good, 0o600); err != nil {
			t.Fatal(err)
		}
		table := mustOpen(t, copyTo, Options{ReadOnly: true})
		f, err := os.OpenFile(copyTo, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		bad := make([]byte, pageSize)
		for i := range bad {
			bad[i] = byte(page + i)
		}
		_, err = f.WriteAt(bad, int64(page)*pageSize)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := answers(table); err != nil {
			refused++
			if !errors.Is(err, ErrDamaged) {
				t.Fatalf("page %d: %v", page, err)
			}
		}
	}
	if refused < 5 {
		t.Fatalf("only %d pages noticed", refused)
	}
}
