package index

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestSmallRunsKeepTheFilterFile checks that runs do not write the filter while all newer keys are
// pending, and that each next run, and a kill, finds the filter complete.
func TestSmallRunsKeepTheFilterFile(t *testing.T) {
	for _, window := range []uint32{0, 3600} {
		dir := filepath.Join(t.TempDir(), "index")
		o := Options{Key: KeyAsIs, Shape: bloomstore.ForItems(200_000), MemtableKeys: 8_000}
		run := func(from, to int, end bool) {
			x := opened(t, dir, o)
			if x.rebuilt != "" && from > 0 {
				t.Errorf("document %d: rebuilt: %s", from, x.rebuilt)
			}
			whole, err := filterOf(t.Context(), o.Shape, x.table, false)
			indextest.Must(t, err)
			if got, want := x.filter.Ones(), whole.Ones(); got != want {
				t.Errorf("document %d: %d one bits, and %d when rebuilt", from, got, want)
			}
			indextest.Must(t, errors.Join(whole.Close(), x.Begin(Policy{Window: window})))
			if see(t, x, from, to) != to-from {
				t.Errorf("documents from %d on were removed", from)
			}
			indextest.Must(t, x.Checkpoint())
			if end {
				indextest.Must(t, x.Finish(nil))
			}
			indextest.Must(t, x.Close())
		}
		run(0, 50, true)
		before := contents(t, dir)[FilterFile]
		for n := 50; n < 350; n += 50 {
			run(n, n+50, n != 100) // a kill
			if contents(t, dir)[FilterFile] != before {
				t.Fatalf("the run after document %d wrote the filter", n)
			}
		}
		if c := checkIndex(t, dir, CheckOptions{}); !c.Sound || len(c.Findings) > 0 {
			t.Errorf("%+v", c)
		}
		run(350, 1500, true)
		if contents(t, dir)[FilterFile] == before {
			t.Error("a run that moved the pending keys to a run of the table did not write the filter")
		}
		knows(t, dir, o, 0, 1500, 1500)
	}
}

// TestSmallRunWritesLittle bounds the bytes that a run of 100 documents writes beside a filter of 64
// MiB: 4 MB.
func TestSmallRunWritesLittle(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	o := Options{Key: KeyAsIs, Shape: bloomstore.ForMemory(64 << 20)}
	grown(t, dir, o, 0, 100)
	before := written(t)
	grown(t, dir, o, 100, 200)
	if n := written(t) - before; n > 4_000_000 {
		t.Errorf("%d bytes written", n)
	}
	knows(t, dir, o, 0, 200, 200)
}

// TestFirstRunWritesLittle checks that the first run over a few documents writes no bits of a filter
// of 64 MiB, and that the file is a hole.
func TestFirstRunWritesLittle(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	o := Options{Key: KeyAsIs, Shape: bloomstore.ForMemory(64 << 20)}
	before := written(t)
	grown(t, dir, o, 0, 100)
	if n := written(t) - before; n > 4_000_000 {
		t.Errorf("%d bytes written", n)
	}
	if n := onDisk(t, filepath.Join(dir, FilterFile)); n > 1<<20 {
		t.Errorf("the filter takes %d bytes on disk", n)
	}
	knows(t, dir, o, 0, 100, 100)
}

// TestFilterOfLostDocuments checks that a filter is refused if the table has lost its documents, and
// then has as many others, or more.
func TestFilterOfLostDocuments(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	inRuns := smallIndex
	inRuns.MemtableKeys = 100
	grown(t, dir, inRuns, 0, 50)
	lost := indextest.Copy(t, dir)
	indextest.Must(t, os.Remove(filepath.Join(lost, FilterFile))) // so that the run writes one
	grown(t, lost, smallIndex, 500, 520)
	for _, to := range []int{60, 70, 80} {
		at := indextest.Copy(t, dir)
		grown(t, at, smallIndex, 50, to)
		copyFile(t, filepath.Join(lost, FilterFile), filepath.Join(at, FilterFile))
		if c := checkIndex(t, at, CheckOptions{}); len(c.Findings) != 1 || c.Findings[0].State != Stale {
			t.Errorf("%d documents: %v", to, c.findings())
		}
		x := opened(t, at, smallIndex)
		if x.rebuilt == "" {
			t.Errorf("%d documents: a filter with 20 others was used", to)
		}
		indextest.Must(t, x.Close())
	}
}

// TestFilterWithoutCountedDocuments checks that pending keys of documents that only count stay out
// of the filter, as in a rebuilt one.
func TestFilterWithoutCountedDocuments(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	grown(t, dir, smallIndex, 0, 50)
	x := opened(t, dir, smallIndex)
	_, err := x.table.Add([]string{"a", ""}, make([][]byte, 2), [][]uint64{{1, 2}, {3, 4}}, nil, []bool{false, true})
	indextest.Must(t, errors.Join(err, x.table.Checkpoint(nil), x.Close()))
	x = opened(t, dir, smallIndex)
	seen := make([]bool, 4)
	if x.filter.Test([]uint64{1, 2, 3, 4}, seen); !seen[0] || !seen[1] || seen[2] || seen[3] || x.rebuilt != "" {
		t.Errorf("seen %v, rebuilt: %q", seen, x.rebuilt)
	}
}

// TestCompactedFilter checks that compacting rebuilds a filter that the table follows.
func TestCompactedFilter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	grown(t, dir, smallIndex, 0, 50)
	grown(t, dir, smallIndex, 50, 100)
	e, err := Edit(dir)
	indextest.Must(t, err)
	_, err = e.Forget("70")
	indextest.Must(t, errors.Join(err, e.Save()))
	c, err := e.Compact(context.Background())
	if indextest.Must(t, errors.Join(err, e.Close())); !c.Filter {
		t.Error("the filter was not rebuilt")
	}
	f, err := docmap.Open(filepath.Join(dir, TableFile), docmap.Options{ReadOnly: true})
	indextest.Must(t, err)
	h, err := bloomstore.ReadHeader(filepath.Join(dir, FilterFile))
	if indextest.Must(t, err); string(h.Stamp) != string(tableStamp(f)) {
		t.Errorf("its stamp is %x", h.Stamp)
	}
	indextest.Must(t, f.Close())
}
