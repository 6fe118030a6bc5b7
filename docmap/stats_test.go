package docmap

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// TestFreeBytes checks that a reader counts the free bytes that a freshly opened writer counts.
func TestFreeBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, smallOptions)
	r := rand.New(rand.NewPCG(4, 4))
	for n := range 300 {
		_, err := table.addDoc(randomDoc(r, n), fewKeys(r, 4000))
		must(t, err)
		if n%10 == 0 {
			must(t, table.Checkpoint(nil))
		}
	}
	must(t, table.Checkpoint(nil))
	reading := func() Stats {
		ro := mustOpen(t, path, Options{ReadOnly: true})
		st := ro.Stats()
		must(t, ro.Close())
		return st
	}
	must(t, table.Close())
	table = mustOpen(t, path, smallOptions)
	want := table.Stats()
	must(t, table.Close())
	if got := reading(); got.FreeBytes != want.FreeBytes || got.FreeBytes < 10*pageSize {
		t.Errorf("%d of %d bytes are free, to a writer %d of %d", got.FreeBytes, got.Bytes, want.FreeBytes, want.Bytes)
	}
}
