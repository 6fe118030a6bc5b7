package docmap

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"
)

// failure is a failed comparison in a goroutine other than the test's.
type failure struct{ text string }

func (f *failure) Helper() {}
func (f *failure) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	panic(f)
}

// same compares a table with a model in any goroutine, and closes it.
func same(want *takenOracle, table *Table) (err error) {
	defer func() {
		if f, ok := recover().(*failure); ok {
			err = errors.New(f.text)
		}
		err = errors.Join(err, table.Close())
	}()
	want.equal(&failure{}, table)
	found, err := table.Verify(context.Background())
	if err != nil || len(found) > 0 {
		return fmt.Errorf("findings %v, error %w", found, err)
	}
	return nil
}

// TestFreeze checks that frozen tables keep their checkpoint through flushes, merges and forgets.
func TestFreeze(t *testing.T) {
	if initialMapping() == 0 {
		t.Skip("a checkpoint that maps the file anew waits for all frozen tables")
	}
	t.Parallel()
	opt := smallOptions
	opt.MemtableKeys, opt.sizes = 60, smallSizes["many bins"]
	table := mustOpen(t, filepath.Join(t.TempDir(), "table"), opt)
	r, want := rand.New(rand.NewPCG(1, 9)), newTakenOracle()
	var group errgroup.Group
	var late *Table
	var then *takenOracle
	for n := range 60 {
		for range r.IntN(12) {
			d, keys := randomDoc(r, len(want.docs)), fewKeys(r, 400)
			want.add(d, keys)
			_, err := table.addDoc(d, keys)
			must(t, err)
		}
		if r.IntN(3) == 0 {
			forgetSome(t, table, want, r)
		}
		must(t, table.Checkpoint(nil))
		frozen, err := table.Freeze()
		must(t, err)
		if now := want.clone(); n == 5 {
			late, then = frozen, now // read at the very end
		} else {
			group.Go(func() error { return same(now, frozen) })
		}
	}
	must(t, group.Wait())
	must(t, same(then, late))
	must(t, table.Close())
	if _, err := table.Freeze(); !errors.Is(err, errClosed) {
		t.Errorf("of a closed table: %v", err)
	}
}

// TestFrozenPages checks that a frozen table verifies only the pages of its own checkpoint.
func TestFrozenPages(t *testing.T) {
	if initialMapping() == 0 {
		t.Skip("a checkpoint that maps the file anew waits for all frozen tables")
	}
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, smallOptions)
	r := rand.New(rand.NewPCG(1, 10))
	grow := func() {
		for range 40 {
			_, err := table.addDoc(randomDoc(r, int(table.docs)), fewKeys(r, 400))
			must(t, err)
		}
		must(t, table.Checkpoint(nil))
	}
	grow()
	frozen, err := table.Freeze()
	must(t, err)
	for range 20 {
		grow()
	}
	var root uint64
	must(t, table.db.View(func(tx *bbolt.Tx) error {
		root = uint64(tx.Cursor().Bucket().Root())
		return nil
	}))
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt(make([]byte, pageSize), int64(root*pageSize))
	must(t, errors.Join(err, f.Close()))
	found, err := frozen.Verify(t.Context())
	if must(t, err); len(found) > 0 {
		t.Errorf("the frozen table has findings %v", found)
	}
	if err := table.checkPages(); err == nil {
		t.Error("the newest pages are sound")
	}
	must(t, errors.Join(frozen.Close(), table.Close()))
}
