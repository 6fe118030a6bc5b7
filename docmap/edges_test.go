package docmap

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/docmap/sorted"
)

// TestRecordContradictions refuses a record that contradicts itself, even with a valid checksum.
func TestRecordContradictions(t *testing.T) {
	full := uint64(math.MaxUint64)
	sound := func() *header {
		return &header{docs: 20, flushed: 16, openBlock: 1, nextRun: 9, runs: [2][]*run{
			runsOf(
				runInfo{id: 7, level: 1, log: 8, first: 1, last: 8, high: 1<<62 - 1},
				runInfo{id: 1, log: 7, target: 7, first: 1, last: 4, low: 1 << 62, high: full},
				runInfo{id: 3, log: 7, target: 7, first: 5, last: 8, low: 1 << 62, high: full},
				runInfo{id: 5, log: 7, first: 9, last: 16, high: full},
			),
			runsOf(runInfo{id: 2, log: 7, first: 1, last: 16, high: full}),
		}}
	}
	if _, err := decodeHeader(sound().encode()); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(h *header){
		"more in runs than there are":   func(h *header) { h.docs = 15 },
		"a block that is not there yet": func(h *header) { h.openBlock = 21 },
		"documents without a block":     func(h *header) { h.openBlock = 0 },
		"too few buckets":               func(h *header) { h.runs[0][3].log = sorted.MinLog - 1 },
		"too many buckets":              func(h *header) { h.runs[0][3].log = sorted.MaxLog + 1 },
		"documents backwards":           func(h *header) { h.runs[0][3].last = 8 },
		"keys backwards":                func(h *header) { h.runs[0][3].low, h.runs[0][3].high = 5, 4 },
		"no id":                         func(h *header) { h.runs[0][3].id = 0 },
		"an id of a run to come":        func(h *header) { h.runs[0][3].id = 9 },
		"a gap":                         func(h *header) { h.runs[0][3].first = 10 },
		"an overlap":                    func(h *header) { h.runs[0][3].first = 8 },
		"a source of nothing":           func(h *header) { h.runs[0][1].target = 6 },
		"runs that end too early":       func(h *header) { h.runs[1][0].last = 15 },
		"runs that end too late":        func(h *header) { h.runs[1][0].last = 17 },
		"no runs":                       func(h *header) { h.runs[1] = nil },
	} {
		h := sound()
		change(h)
		if _, err := decodeHeader(h.encode()); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, b := range map[string][]byte{
		"nothing":        {},
		"cut short":      reseal(sound().encode()[:80], seedRecord),
		"too long":       reseal(append(sound().encode(), 0), seedRecord),
		"wrong checksum": append(sound().encode(), 0),
		"wrong checksum of another version": func() []byte {
			b := sound().encode()
			b[8]++
			return b
		}(),
	} {
		if _, err := decodeHeader(b); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := sound().encode()
	b[8] = 7
	_, err := decodeHeader(reseal(b[:len(b)-8], seedRecord))
	const want = "table has another version: it has format 7, this program reads 3; use the version of the program that wrote it, or a later one"
	if !errors.Is(err, ErrVersion) || err.Error() != want {
		t.Errorf("a later version: %v", err)
	}
	h := sound()
	h.needs = 1 << 2
	if _, err := decodeHeader(h.encode()); !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "(0x4)") {
		t.Errorf("a table that needs more: %v", err)
	}
}

// TestValuesThatDoNotFit refuses wrong contents with valid checksums.
func TestValuesThatDoNotFit(t *testing.T) {
	le := binary.LittleEndian
	state := encodeState(map[string][]byte{"a": []byte("value")})
	state[4] = 200 // length of the name
	if _, err := decodeState(reseal(state[:len(state)-8], seedState)); !errors.Is(err, ErrDamaged) {
		t.Errorf("owner's values: %v", err)
	}
	var l wal
	l.add(1, []uint64{1, 2})
	l.add(2, []uint64{3})
	chunk := slices.Clone(l.chunks(0, seedPending)[0])
	for name, c := range map[string]struct {
		next   uint32
		change func(b []byte) []byte
	}{
		"another chunk's documents": {2, func(b []byte) []byte { return b }},
		"too many keys":             {1, func(b []byte) []byte { b[16] = 100; return b }},
		"too many documents":        {1, func(b []byte) []byte { b[12]++; return b }},
		"too few documents":         {1, func(b []byte) []byte { b[12]--; return b }},
	} {
		b := c.change(slices.Clone(chunk))
		le.PutUint64(b, le.Uint64(reseal(b[8:], seedPending)[len(b)-8:]))
		if _, err := replayChunk(b, 0, c.next, func(uint32, []uint64) error { return nil }); !errors.Is(err, ErrDamaged) {
			t.Errorf("pending keys, %s: %v", name, err)
		}
	}
}

// TestDocumentsInMemory finds documents that are not yet in the file, even over several blocks.
func TestDocumentsInMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, smallOptions)
	want := newOracle()
	for i := range 12 {
		d := Doc{ID: strings.Repeat("x", 10_000) + string(rune('a'+i)), Data: []byte{byte(i)}}
		want.add(d, []uint64{uint64(i)})
		if _, err := table.addDoc(d, []uint64{uint64(i)}); err != nil {
			t.Fatal(err)
		}
		want.equal(t, table)
		for num := range want.docs {
			if got, err := table.Doc(uint32(num + 1)); err != nil || !cmp.Equal(got, want.docs[num]) {
				t.Fatalf("with %d documents, number %d is %.20v, %v", i+1, num+1, got, err)
			}
		}
		if i == 7 {
			want.seq++
			if err := table.Checkpoint(nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(table.recs.blocks) == 1 {
		t.Fatal("no block was closed since the checkpoint")
	}
	if _, err := table.Doc(0); !errors.Is(err, ErrNoDoc) {
		t.Error(err)
	}
}

// TestIterationEndsWhenTheTableChanges changes the table in iterations, and leaves some early.
func TestIterationEndsWhenTheTableChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, smallOptions)
	for i := range 50 {
		if _, err := table.addDoc(Doc{}, []uint64{uint64(i) << 56, uint64(i)}); err != nil {
			t.Fatal(err)
		}
		if table.Full() {
			if err := table.Checkpoint(nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	steps := map[string]func(each func() bool) error{
		"All": func(each func() bool) error {
			for _, err := range table.All() {
				if err != nil || !each() {
					return err
				}
			}
			return nil
		},
		"Keys": func(each func() bool) error {
			for _, err := range table.Keys() {
				if err != nil || !each() {
					return err
				}
			}
			return nil
		},
		"Docs": func(each func() bool) error {
			for _, err := range table.Docs(0) {
				if err != nil || !each() {
					return err
				}
			}
			return nil
		},
	}
	for name, iterate := range steps {
		n := 0
		if err := iterate(func() bool { n++; return false }); err != nil || n != 1 {
			t.Errorf("%s, left at once: %d steps, %v", name, n, err)
		}
		err := iterate(func() bool {
			_, err := table.addDoc(Doc{}, nil)
			return err == nil
		})
		if !errors.Is(err, errChanged) {
			t.Errorf("%s, added to meanwhile: %v", name, err)
		}
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	for name, iterate := range steps {
		if err := iterate(func() bool { return true }); !errors.Is(err, errClosed) {
			t.Errorf("%s of a closed table: %v", name, err)
		}
	}
}

func TestClosedTable(t *testing.T) {
	table := mustOpen(t, filepath.Join(t.TempDir(), "table"), smallOptions)
	if err := table.Checkpoint(map[string][]byte{strings.Repeat("x", 1<<16): {}}); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a long name: %v", err)
	}
	if err := errors.Join(table.Close(), table.Close()); err != nil {
		t.Fatal(err)
	}
	_, add := table.addDoc(Doc{}, nil)
	_, state := table.State("x")
	_, doc := table.Doc(1)
	_, byID := table.ByID("x")
	for name, err := range map[string]error{
		"Add": add, "State": state, "Doc": doc, "ByID": byID,
		"Checkpoint": table.Checkpoint(nil), "Lookup": table.ask([]uint64{1}, new(postings)),
		"Records": table.Records([]uint32{1}, make([][]byte, 1), make([][]byte, 1)),
	} {
		if !errors.Is(err, errClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if table.Full() || table.Stats().Documents != 0 {
		t.Error("a closed table is full, or has documents")
	}
	if keys, documents, records := table.Spare(); keys+documents+records != 0 {
		t.Errorf("a closed table has room for %d keys, %d documents and %d bytes", keys, documents, records)
	}
}

// TestFullTable refuses more than 2^32-2 documents.
func TestFullTable(t *testing.T) {
	table := mustOpen(t, filepath.Join(t.TempDir(), "table"), smallOptions)
	table.docs = math.MaxUint32 - 1
	if _, err := table.addDoc(Doc{}, nil); err == nil || !strings.Contains(err.Error(), "the table is full: it has 4294967294 documents") {
		t.Fatal(err)
	}
	table.docs = 0
}

// TestSlicesThatDoNotFit refuses slices of different lengths without side effects.
func TestSlicesThatDoNotFit(t *testing.T) {
	table := mustOpen(t, filepath.Join(t.TempDir(), "table"), smallOptions)
	two := []uint64{1, 2}
	_, noData := table.Add([]string{"a", "b"}, make([][]byte, 1), make([][]uint64, 2), nil, nil)
	_, noKeys := table.Add([]string{"a", "b"}, make([][]byte, 2), make([][]uint64, 3), nil, nil)
	for what, err := range map[string]error{
		"holders": table.Lookup(two, make([]uint32, 2*MaxHolders-1), make([]uint8, 2)),
		"counts":  table.Lookup(two, make([]uint32, 2*MaxHolders), make([]uint8, 1)),
		"ids":     table.Records([]uint32{1, 2}, make([][]byte, 1), make([][]byte, 2)),
		"data":    table.Records([]uint32{1, 2}, make([][]byte, 2), make([][]byte, 1)),
		"no data": noData, "no keys": noKeys,
	} {
		if err == nil || errors.Is(err, errFault) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if n := table.Stats().Documents; n != 0 {
		t.Errorf("%d documents were added", n)
	}
}

func TestLockSchemeAndReadOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "table")
	ro := smallOptions
	ro.ReadOnly = true
	if _, err := Open(path, ro); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("reading a table that is not there: %v", err)
	}
	table := mustOpen(t, path, smallOptions)
	if _, err := table.addDoc(Doc{ID: "a"}, []uint64{5}); err != nil {
		t.Fatal(err)
	}
	if err := table.Checkpoint(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, smallOptions); !errors.Is(err, ErrLocked) {
		t.Fatalf("opening it twice: %v", err)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	other := smallOptions
	other.Scheme = "other"
	if _, err := Open(path, other); !errors.Is(err, ErrScheme) {
		t.Fatalf("another scheme: %v", err)
	}
	one, two := mustOpen(t, path, ro), mustOpen(t, path, ro)
	for _, table := range []*Table{one, two} {
		if nums, err := table.ByID("a"); err != nil || len(nums) != 1 {
			t.Fatalf("ByID = %v, %v", nums, err)
		}
		if _, err := table.addDoc(Doc{}, nil); err == nil {
			t.Fatal("a read-only table was added to")
		}
		if err := table.Checkpoint(nil); err == nil {
			t.Fatal("a read-only table made a checkpoint")
		}
	}
}
