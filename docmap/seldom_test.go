package docmap

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

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
