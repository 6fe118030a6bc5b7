package index

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/index/filterlog"
	"github.com/firstseen/firstseen/internal/base/durable"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// aloneOptions describe an index without a table, whose filter is one piece.
var aloneOptions = Options{Key: KeyAsIs, FilterOnly: true, Shape: bloomstore.Shape{Bits: 1 << 20, Hashes: 8}}

// begun opens the index with a journal bound in bytes, and makes the keys from to to-1 durable.
func begun(t *testing.T, dir string, bound int64, from, to uint64) *Index {
	t.Helper()
	o := aloneOptions
	o.JournalBytes = bound
	x := opened(t, dir, o)
	indextest.Must(t, x.only.Begin(state("it")))
	remember(t, x, from, to)
	return x
}

func remember(t *testing.T, x *Index, from, to uint64) {
	t.Helper()
	for key := from; key < to; key++ {
		x.filter.Add([]uint64{key})
		x.only.Add([]uint64{key})
	}
	indextest.Must(t, x.only.Commit(to, time.Unix(0, 0)))
}

// holds fails unless a new opening of the index has the keys below n.
func holds(t *testing.T, dir string, n uint64) {
	t.Helper()
	x := opened(t, dir, aloneOptions)
	defer x.Close()
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = uint64(i)
	}
	seen := make([]bool, n)
	x.filter.Test(keys, seen)
	if i := slices.Index(seen, false); i >= 0 {
		t.Errorf("key %d of %d is forgotten", i, n)
	}
}

// install finishes saving the filter, after that many documents.
func install(t *testing.T, x *Index, documents uint64) {
	t.Helper()
	indextest.Must(t, x.only.Saving().Wait())
	remember(t, x, documents, documents)
}

// TestJournalsOfManyLives checks that journals of killed runs count together. Once long, they make
// the index save its filter, so that opening it stays fast.
func TestJournalsOfManyLives(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	const perLife, bound = 100, 3000 // a life's journal has a header and 800 bytes of keys
	saved := 0
	for n := range uint64(8) {
		x := begun(t, dir, bound, n*perLife, (n+1)*perLife)
		if x.only.Saving() != nil {
			saved++
			install(t, x, (n+1)*perLife)
		}
		indextest.Must(t, x.Close()) // as after a kill
		holds(t, dir, (n+1)*perLife)
		logs, err := filterlog.Logs(dir)
		indextest.Must(t, err)
		size := int64(0)
		for _, n := range logs {
			size += stat(t, filepath.Join(dir, filterlog.LogName(n))).Size()
		}
		if size > bound+2000 {
			t.Errorf("after %d lives %d journals have %d bytes", n+1, len(logs), size)
		}
	}
	if saved == 0 {
		t.Error("the filter was never saved")
	}
}

// TestStateOfARunWhoseFilterWasSaved checks that the next journal holds the run's state, so that
// the next run finds it after a kill.
func TestStateOfARunWhoseFilterWasSaved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	x := begun(t, dir, 500, 0, 100)
	if x.only.Saving() == nil {
		t.Fatal("the filter is not saved")
	}
	install(t, x, 100)
	remember(t, x, 100, 101) // goes to the journal after the new filter
	indextest.Must(t, x.Close())
	x = opened(t, dir, aloneOptions)
	if value, err := x.Value("run"); string(value) != "it" || err != nil {
		t.Errorf("the state of the run is %q, %v", value, err)
	}
	if x.Left() == nil || x.Left().Documents != 101 {
		t.Errorf("left over: %+v", x.Left())
	}
	indextest.Must(t, x.Close())
	holds(t, dir, 101)
}

// TestHalfAFilterIsRemoved checks that a partly saved filter, which may have gigabytes, is removed.
func TestHalfAFilterIsRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	indextest.Must(t, begun(t, dir, 0, 0, 10).Close())
	half := filepath.Join(dir, FilterFile+".new")
	indextest.Must(t, os.WriteFile(half, []byte("half a filter"), 0o666))
	holds(t, dir, 10)
	if _, err := os.Stat(half); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// TestIndexInUseIsNotRemoved keeps an index in use, even if it looks abandoned.
func TestIndexInUseIsNotRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	grown(t, dir, smallIndex, 0, 10)
	filter := filepath.Join(dir, FilterFile) // a temporary index has none
	indextest.Must(t, os.Remove(filter))
	x := opened(t, dir, smallIndex)
	if done, err := RemoveLeftIndex(dir); done || err != nil {
		t.Errorf("%v, %v", done, err)
	}
	indextest.Must(t, x.Close())
	knows(t, dir, smallIndex, 0, 10, 10)
	indextest.Must(t, durable.RemoveLeft(filter))
	if done, err := RemoveLeftIndex(dir); !done || err != nil {
		t.Errorf("once it is closed: %v, %v", done, err)
	}
}

// TestJournalsWithoutTheirFilter refuses journals without their filter, and names that file.
func TestJournalsWithoutTheirFilter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	x := begun(t, dir, 0, 0, 10)
	indextest.Must(t, errors.Join(x.Finish(nil), x.Close()))
	indextest.Must(t, begun(t, dir, 0, 10, 20).Close())
	indextest.Must(t, os.Remove(filepath.Join(dir, FilterFile)))
	if _, err := Open(context.Background(), dir, aloneOptions); err == nil || !strings.Contains(err.Error(), FilterFile+" is gone") {
		t.Errorf("the error is %v", err)
	}
}
