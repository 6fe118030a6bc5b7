package docmap

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRecordAheadOfItsDocuments refuses a count one too high, which would use a number twice.
func TestRecordAheadOfItsDocuments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	sampleTable(t, path)
	table := mustOpen(t, path, smallOptions)
	h := table.head
	h.docs++
	h.flushed, h.chunks, h.pending = h.docs, 0, 0
	for i, runs := range h.runs {
		newest := *runs[len(runs)-1]
		newest.last = h.docs
		h.runs[i] = append(slices.Clone(runs[:len(runs)-1]), &newest)
	}
	err := table.update(func(c *change) { c.head = h; table.putHeader(c, nil) })
	if err := errors.Join(err, table.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, smallOptions); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "the documents end at") {
		t.Errorf("the error is %v", err)
	}
}

// TestPendingKeysAreChecked refuses pending keys, the only copy of the newest keys, after any
// flipped bit or under another number.
func TestPendingKeysAreChecked(t *testing.T) {
	var l wal
	l.add(1, []uint64{11, 12})
	l.add(2, []uint64{13})
	good := slices.Clone(l.chunks(5, seedPending)[0])
	replay := func(b []byte, chunk uint32) error {
		_, err := replayChunk(b, chunk, 1, func(uint32, []uint64) error { return nil })
		return err
	}
	if err := replay(good, 5); err != nil {
		t.Fatal(err)
	}
	if err := replay(good, 6); !errors.Is(err, ErrDamaged) {
		t.Errorf("under another number: %v", err)
	}
	for bit := range 8 * len(good) {
		bad := slices.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		if err := replay(bad, 5); !errors.Is(err, ErrDamaged) {
			t.Fatalf("bit %d: %v", bit, err)
		}
	}
}
