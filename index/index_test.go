package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/internal/testing/indextest"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
)

// smallIndex has a filter of a few kilobytes.
var smallIndex = Options{Key: KeyAsIs, Shape: bloomstore.ForItems(4000)}

func opened(t *testing.T, dir string, o Options) *Index {
	t.Helper()
	x, err := Open(context.Background(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

// see judges the documents from to to-1 and counts those kept.
func see(t *testing.T, x *Index, from, to int) (kept int) {
	t.Helper()
	if x.deduper == nil {
		indextest.Must(t, x.Begin(Policy{OnFull: OnFullWarn}))
	}
	for n := from; n < to; n++ {
		r, err := x.See(fmt.Sprint(n), []byte(indextest.Sentences(n)))
		if err != nil {
			t.Fatal(err)
		}
		if r.Kept {
			kept++
		}
	}
	return kept
}

// checkpoint takes a checkpoint with a value of the owner.
func checkpoint(x *Index, value string) error {
	x.policy.Flush = func(bool) (map[string][]byte, error) { return state(value), nil }
	err := x.Checkpoint()
	x.policy.Flush = nil
	return err
}

// grown creates or extends an index with the documents from to to-1.
func grown(t *testing.T, dir string, o Options, from, to int) {
	t.Helper()
	x := opened(t, dir, o)
	if kept := see(t, x, from, to); kept != to-from {
		t.Fatalf("%d of %d new documents were kept", kept, to-from)
	}
	if x.table != nil {
		indextest.Must(t, x.Checkpoint())
	}
	indextest.Must(t, x.Finish(nil))
	indextest.Must(t, errors.Join(x.Save(), x.Close()))
}

// knows fails unless the index knows the documents from to to-1 and none of others to others+49.
func knows(t *testing.T, dir string, o Options, from, to, others int) {
	t.Helper()
	x := opened(t, dir, o)
	defer x.Close()
	if kept := see(t, x, from, to); kept > 0 {
		t.Errorf("%d of the known documents %d to %d were kept again", kept, from, to-1)
	}
	if kept := see(t, x, others, others+50); kept != 50 {
		t.Errorf("%d of 50 new documents were removed", 50-kept)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	indextest.Must(t, err)
	indextest.Must(t, os.WriteFile(to, data, 0o666))
}

// TestFilterOfAClone mixes files of a diverged copy: no filter is trusted beside the other table.
func TestFilterOfAClone(t *testing.T) {
	one := filepath.Join(t.TempDir(), "index")
	grown(t, one, smallIndex, 0, 100)
	two := indextest.Copy(t, one)
	grown(t, one, smallIndex, 100, 200)
	grown(t, two, smallIndex, 200, 300)
	mixed := indextest.Copy(t, one)
	copyFile(t, filepath.Join(two, FilterFile), filepath.Join(mixed, FilterFile))
	knows(t, mixed, smallIndex, 0, 200, 200)
	mixed = indextest.Copy(t, two)
	copyFile(t, filepath.Join(one, FilterFile), filepath.Join(mixed, FilterFile))
	knows(t, mixed, smallIndex, 0, 100, 100)
	knows(t, mixed, smallIndex, 200, 300, 100)
}

// TestFilterOfATwin does the same for two new indexes with one UUID, as of reproducible runs.
func TestFilterOfATwin(t *testing.T) {
	o := smallIndex
	o.UUID = [16]byte{1, 2, 3}
	one, two := filepath.Join(t.TempDir(), "index"), filepath.Join(t.TempDir(), "index")
	grown(t, one, o, 0, 100)
	grown(t, two, o, 100, 200)
	copyFile(t, filepath.Join(two, FilterFile), filepath.Join(one, FilterFile))
	knows(t, one, o, 0, 100, 100)
}

// TestRestoredTable combines a table from a backup with the current filter, and the reverse.
func TestRestoredTable(t *testing.T) {
	now := filepath.Join(t.TempDir(), "index")
	grown(t, now, smallIndex, 0, 100)
	backup := indextest.Copy(t, now)
	grown(t, now, smallIndex, 100, 200)
	mixed := indextest.Copy(t, now)
	copyFile(t, filepath.Join(backup, TableFile), filepath.Join(mixed, TableFile))
	knows(t, mixed, smallIndex, 0, 100, 100)
	mixed = indextest.Copy(t, now)
	copyFile(t, filepath.Join(backup, FilterFile), filepath.Join(mixed, FilterFile))
	knows(t, mixed, smallIndex, 0, 200, 200)
}

// TestRefused compares the whole messages of refusals. Path and advice must occur once.
func TestRefused(t *testing.T) {
	o, only := smallIndex, smallIndex
	only.FilterOnly = true
	keyed := smallIndex
	keyed.Key = KeyRequired
	remove := func(names ...string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			for _, name := range names {
				indextest.Must(t, os.Remove(filepath.Join(dir, name)))
			}
		}
	}
	emptied := func(t *testing.T, dir string) {
		fresh := filepath.Join(t.TempDir(), "index")
		indextest.Must(t, opened(t, fresh, smallIndex).Close())
		copyFile(t, filepath.Join(fresh, TableFile), filepath.Join(dir, TableFile))
	}
	write := func(name, text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			indextest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
		}
	}
	const lost = "index DIR: table.db is gone, and filter.bloom was saved beside it; put the table back from a copy, or give another --index"
	const empty = "index DIR: table.db holds no documents, and filter.bloom is of a table with some; put it back from a copy, or delete both files to start empty"
	for _, c := range []struct {
		name       string
		made, open Options
		harm       func(*testing.T, string)
		want, read string // errors of Open and OpenFiles; empty if it opens
	}{
		{"table lost", o, o, remove(TableFile), lost, lost},
		{"table lost, opened without", o, only, remove(TableFile), lost, lost},
		{"table emptied", o, o, emptied, empty, empty},
		{"table of another kind", only, o, nil, "index DIR: it has a filter and no side table; run with --filter-only, or give another --index", ""},
		{"filter of another kind", o, only, nil, "index DIR: it has a side table; run without --filter-only, or give another --index", ""},
		{"unkeyed", o, keyed, nil, "index DIR: it was made without a key", ""},
		{
			"another size", only,
			Options{Key: KeyAsIs, FilterOnly: true, Shape: bloomstore.ForItems(9000)},
			nil,
			"index DIR: its filter has 8000 bytes and cannot be resized without a side table; leave out --docs and --memory", "",
		},
		{"bad key", keyed, o, write(KeyFile, "0123"), "DIR/key: not a key of 32 hexadecimal digits; restore it from a backup, without it the index is useless", ""},
		{
			"short table", o, o, write(TableFile, "short"),
			"opening the table: DIR/table.db: table is damaged: it has 5 bytes; restore the index from a copy, or delete it and build it again",
			"opening the table: DIR/table.db: table is damaged: it has 5 bytes; restore the index from a copy, or delete it and build it again",
		},
		{
			"short filter", o, o, write(FilterFile, "short"),
			"opening filter DIR/filter.bloom: filter is damaged: it is cut short; delete it to have it rebuilt from the side table (without one, restore a copy or begin a new index)",
			"opening filter DIR/filter.bloom: filter is damaged: it is cut short; delete it to have it rebuilt from the side table (without one, restore a copy or begin a new index)",
		},
		{
			"another scheme",
			Options{Key: KeyAsIs, Scheme: feature.Scheme{Segments: 20}, Shape: o.Shape},
			o, nil,
			"opening the table: DIR/table.db: table has another scheme: it was made with \"" + feature.Scheme{Segments: 20}.Name() + "\", not \"" + feature.Scheme{}.Name() + "\"; use the same settings, or another index", "",
		},
		{
			"another scheme of a filter alone",
			Options{Key: KeyAsIs, Scheme: feature.Scheme{Segments: 20}, FilterOnly: true, Shape: o.Shape},
			only, nil,
			"opening filter DIR/filter.bloom: filter was made with another scheme: it has \"" + feature.Scheme{Segments: 20}.Name() + "\", expected \"" + feature.Scheme{}.Name() + "\"; use the options it was made with, or another index", "",
		},
		{"nothing", o, o, remove(TableFile, FilterFile), "", "there is no index in DIR: neither a side table nor a filter"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "index")
			grown(t, dir, c.made, 0, 20)
			if c.harm != nil {
				c.harm(t, dir)
			}
			refuses := func(what, want string, err error) {
				t.Helper()
				got := ""
				if err != nil {
					got = strings.ReplaceAll(filepath.ToSlash(err.Error()), filepath.ToSlash(dir), "DIR")
				}
				if got != want {
					t.Errorf("%s: %q\nwant %q", what, got, want)
				}
			}
			files, err := OpenFiles(dir)
			refuses("OpenFiles", c.read, err)
			if err == nil {
				indextest.Must(t, files.Close())
			}
			x, err := Open(context.Background(), dir, c.open)
			refuses("OpenIndex", c.want, err)
			if err == nil {
				indextest.Must(t, x.Close())
			}
		})
	}
}

// TestInUse compares the messages for a second process.
func TestInUse(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "index")
	opened(t, dir, smallIndex)
	_, err := Open(context.Background(), dir, smallIndex)
	if want := "index " + dir + ": another process is using this index (process " + strconv.Itoa(os.Getpid()) + "); wait for it to end, or give another --index"; err == nil || err.Error() != want {
		t.Errorf("OpenIndex: %v\nwant %s", err, want)
	}
	_, err = OpenFiles(dir)
	want := "index " + dir + ": table is in use (process " + strconv.Itoa(os.Getpid()) + "): wait for it to end (firstseen serve answers while it writes), or use another index"
	if !errors.Is(err, docmap.ErrLocked) || err.Error() != want {
		t.Errorf("OpenFiles: %v\nwant %s", err, want)
	}
}

// TestNoFilter checks that an index whose filter could not be rebuilt reports it and saves nothing.
func TestNoFilter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	x := opened(t, dir, smallIndex)
	see(t, x, 0, 20)
	indextest.Must(t, x.Checkpoint())
	if err := x.rebuild(bloomstore.Shape{Bits: 1 << 50, Hashes: 8}, false, ""); err == nil {
		t.Fatal("a filter larger than any was built")
	}
	for name, f := range map[string]func() error{"Grow": x.Grow, "Save": x.Save, "Finish": func() error { return x.Finish(nil) }} {
		if err := f(); err == nil || !strings.Contains(err.Error(), "open the index again") {
			t.Errorf("%s: %v", name, err)
		}
	}
	indextest.Must(t, x.Close())
	knows(t, dir, smallIndex, 0, 20, 20)
}

// TestFilterKeepsItsSize checks that only a larger size than the present one changes the filter.
func TestFilterKeepsItsSize(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	tiny := Options{Key: KeyAsIs, Shape: bloomstore.ForItems(50)}
	x := opened(t, dir, tiny)
	see(t, x, 0, 100)
	indextest.Must(t, x.Checkpoint())
	if !x.Full() {
		t.Fatal("the filter is not full")
	}
	indextest.Must(t, x.Grow())
	want := x.filter.Shape()
	if x.Full() || want.Bits <= 2*tiny.Shape.Bits {
		t.Fatalf("it grew to %d bits", want.Bits)
	}
	indextest.Must(t, errors.Join(x.Save(), x.Close()))
	for _, shape := range []bloomstore.Shape{{}, tiny.Shape, want} {
		x := opened(t, dir, Options{Key: KeyAsIs, Shape: shape})
		if x.filter.Shape() != want || x.rebuilt != "" {
			t.Errorf("asked for %d bits: %d bits, rebuilt: %q", shape.Bits, x.filter.Shape().Bits, x.rebuilt)
		}
		indextest.Must(t, errors.Join(x.Save(), x.Close()))
	}
	// Without a filter and a size, the new filter fits the table.
	indextest.Must(t, os.Remove(filepath.Join(dir, FilterFile)))
	x = opened(t, dir, Options{Key: KeyAsIs})
	if x.Full() || x.rebuilt == "" {
		t.Errorf("full: %v, rebuilt: %q", x.Full(), x.rebuilt)
	}
	indextest.Must(t, x.Close())
	large := bloomstore.ForItems(100_000)
	x = opened(t, dir, Options{Key: KeyAsIs, Shape: large})
	if x.filter.Shape() != large {
		t.Errorf("a larger one was asked for: %d bits", x.filter.Shape().Bits)
	}
	indextest.Must(t, errors.Join(x.Save(), x.Close()))
	knows(t, dir, tiny, 0, 100, 100)
}

// TestGrowthInFewSteps checks that a tiny filter grows at once, but not beyond repeated doubling.
func TestGrowthInFewSteps(t *testing.T) {
	s := bloomstore.Shape{Bits: 64, Hashes: 8}
	for _, entries := range []uint64{0, 7, 1000, 1 << 40} {
		got := larger(s, entries)
		if got.Bits < 2*s.Bits || got.Capacity() < entries/docmap.MaxHolders {
			t.Errorf("%d entries: %d bits", entries, got.Bits)
		}
		// Each key may have MaxHolders holders.
		if half := (bloomstore.Shape{Bits: got.Bits / 2, Hashes: 8}); half.Bits > s.Bits && half.Capacity() >= entries/docmap.MaxHolders {
			t.Errorf("%d entries: %d bits, half would do", entries, got.Bits)
		}
	}
}

// TestCloseForgetsWhatIsInNoCheckpoint checks that Close drops unsaved documents from the filter,
// too. They are new when they come again.
func TestCloseForgetsWhatIsInNoCheckpoint(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	x := opened(t, dir, smallIndex)
	see(t, x, 0, 50)
	indextest.Must(t, x.Checkpoint())
	see(t, x, 50, 100)
	indextest.Must(t, errors.Join(x.Save(), x.Close()))
	if there, err := exists(filepath.Join(dir, FilterFile)); there || err != nil {
		t.Errorf("a filter with bits of lost documents was saved (%v)", err)
	}
	knows(t, dir, smallIndex, 0, 50, 50)
}

// TestAfterClose checks that a closed index returns errors, without panic or false answers.
func TestAfterClose(t *testing.T) {
	for _, o := range []Options{smallIndex, {Key: KeyAsIs, FilterOnly: true, Shape: smallIndex.Shape}} {
		dir := filepath.Join(t.TempDir(), "index")
		grown(t, dir, o, 0, 10)
		x := opened(t, dir, o)
		indextest.Must(t, errors.Join(x.Save(), x.Close()))
		indextest.Must(t, errors.Join(x.Save(), x.Close()))
		for name, err := range map[string]error{
			"Checkpoint": x.Checkpoint(), "Finish": x.Finish(nil), "Grow": x.Grow(), "Ack": x.Ack(1), "Tick": x.Tick(),
			"EnsureCapacity": x.EnsureCapacity(), "End": x.End(), "Stop": x.Stop(nil), "Announce": x.Announce("unix:/s"),
		} {
			if !errors.Is(err, errIndexClosed) {
				t.Errorf("%s after Close: %v", name, err)
			}
		}
		if x.Full() || x.Load() != 0 || x.State() != (FilterState{}) {
			t.Errorf("after Close: full %v, load %v, %+v", x.Full(), x.Load(), x.State())
		}
		r, err := OpenReader(context.Background(), dir, nil)
		indextest.Must(t, err)
		indextest.Must(t, r.Close())
		indextest.Must(t, r.Close())
		if _, err := r.Deduper(dedup.Rules{}); !errors.Is(err, errIndexClosed) {
			t.Errorf("Deduper after Close: %v", err)
		}
	}
	x := opened(t, t.TempDir(), Options{Key: KeyAsIs, FilterOnly: true, Shape: smallIndex.Shape})
	if x.Checkpoint() == nil || x.Grow() == nil {
		t.Error("an index without a table had a checkpoint, or grew")
	}
	if seen := x.SeenBefore(); seen != nil {
		t.Errorf("before the first document: seen %v", seen)
	}
	for name, err := range map[string]error{"Forget": second(x.Forget("a")), "Cancel": second(x.Cancel("a"))} {
		if err == nil || !strings.Contains(err.Error(), "cannot take documents back") {
			t.Errorf("%s without a table: %v", name, err)
		}
	}
}

// TestKeyOfAnIndex checks that a key is drawn once, found again, and never added later.
func TestKeyOfAnIndex(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	keyed := smallIndex
	keyed.Key = KeyRequired
	grown(t, dir, keyed, 0, 10)
	key, err := ReadKey(dir)
	indextest.Must(t, err)
	x := opened(t, dir, smallIndex)
	if !bytes.Equal(x.Scheme().Key, key) || len(key) != keyBytes {
		t.Errorf("key %x, in the scheme %x", key, x.Scheme().Key)
	}
	indextest.Must(t, x.Close())
	knows(t, dir, keyed, 0, 10, 10)
	plain := filepath.Join(t.TempDir(), "index")
	grown(t, plain, smallIndex, 0, 10)
	if _, err := Open(context.Background(), plain, keyed); !errors.Is(err, ErrUnkeyed) {
		t.Errorf("an index without a key opened with one: %v", err)
	}
	if key, err := ReadKey(plain); key != nil || err != nil {
		t.Errorf("it has a key now: %x, %v", key, err)
	}
}
