package index

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/index/filterlog"
	"github.com/firstseen/firstseen/internal/testing/indextest"

	"github.com/gofrs/flock"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/docmap"
)

func checkIndex(t *testing.T, dir string, o CheckOptions) *Checked {
	t.Helper()
	c, err := Check(context.Background(), dir, o)
	indextest.Must(t, err)
	return c
}

// findings returns the findings as files and states, without texts.
func (c *Checked) findings() (list []string) {
	for _, f := range c.Findings {
		if f.What == "" || f.Remedy == "" || strings.Contains(f.What, f.Remedy) {
			list = append(list, "nothing said or twice of")
		}
		list = append(list, f.File+" "+f.State)
	}
	return slices.Compact(list)
}

// saveFilterWith replaces the filter of an index by one without keys, with the given scheme and
// stamp. An empty scheme or nil stamp stays as it is.
func saveFilterWith(t *testing.T, dir, scheme string, stamp []byte) {
	t.Helper()
	path := filepath.Join(dir, FilterFile)
	h, err := bloomstore.ReadHeader(path)
	indextest.Must(t, err)
	if scheme == "" {
		scheme = h.Scheme
	}
	if stamp == nil {
		stamp = h.Stamp
	}
	f, err := bloomstore.New(h.Shape, scheme)
	indextest.Must(t, err)
	indextest.Must(t, errors.Join(f.Save(context.Background(), path, stamp), f.Close()))
}

func flipByte(t *testing.T, path string, at int) {
	t.Helper()
	data, err := os.ReadFile(path)
	indextest.Must(t, err)
	data[at] ^= 4
	indextest.Must(t, os.WriteFile(path, data, 0o666))
}

// TestCheckFinds breaks one thing at a time, and checks the findings before and after a rebuild.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	base := filepath.Join(t.TempDir(), "index")
	keyed := smallIndex
	keyed.Key = KeyRequired
	grown(t, base, keyed, 0, 100)
	earlier := indextest.Copy(t, base)
	grown(t, base, keyed, 100, 200)
	small := keyed
	small.MemtableKeys = 100
	inRuns := filepath.Join(t.TempDir(), "index")
	grown(t, inRuns, small, 0, 100)
	indextest.Must(t, os.Rename(filepath.Join(inRuns, FilterFile), filepath.Join(inRuns, "new")))
	grown(t, inRuns, small, 100, 200) // another filter
	only := filepath.Join(t.TempDir(), "index")
	grown(t, only, Options{Key: KeyAsIs, FilterOnly: true, Shape: smallIndex.Shape}, 0, 100)
	inDir := func(name string, f func(path string) error) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) { t.Helper(); indextest.Must(t, f(filepath.Join(dir, name))) }
	}
	cut := func(path string) error { return os.Truncate(path, 5000) }
	empty := func(path string) error { return os.Truncate(path, 0) }
	for _, c := range []struct {
		name, base string
		harm       func(t *testing.T, dir string)
		found      []string
		rebuilt    []string
	}{
		{"nothing", base, func(*testing.T, string) {}, nil, nil},
		{"filter missing", base, inDir(FilterFile, os.Remove), []string{"filter.bloom missing"}, nil},
		{"filter cut short", base, inDir(FilterFile, cut), []string{"filter.bloom damaged"}, nil},
		{"filter empty", base, inDir(FilterFile, empty), []string{"filter.bloom damaged"}, nil},
		{"filter of before", base, func(t *testing.T, dir string) {
			copyFile(t, filepath.Join(earlier, FilterFile), filepath.Join(dir, FilterFile))
		}, nil, nil},
		{"filter of before, later keys in runs", inRuns, func(t *testing.T, dir string) {
			indextest.Must(t, os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, FilterFile)))
		}, []string{"filter.bloom stale"}, nil},
		{
			"filter without keys", inRuns, func(t *testing.T, dir string) { saveFilterWith(t, dir, "", nil) },
			[]string{"filter.bloom damaged"},
			nil,
		},
		{
			"filter of another scheme", base, func(t *testing.T, dir string) { saveFilterWith(t, dir, "another", nil) },
			[]string{"filter.bloom damaged"},
			nil,
		},
		{"table cut short", base, inDir(TableFile, cut), []string{"table.db damaged"}, []string{"table.db damaged"}},
		{"table empty", base, inDir(TableFile, empty), []string{"table.db damaged"}, []string{"table.db damaged"}},
		{"table gone", base, inDir(TableFile, os.Remove), []string{"table.db damaged"}, []string{"table.db damaged"}},
		{"table of no documents", base, func(t *testing.T, dir string) {
			o := smallIndex
			var err error
			o.Scheme.Key, err = ReadKey(dir)
			indextest.Must(t, err)
			fresh := filepath.Join(t.TempDir(), "index")
			indextest.Must(t, opened(t, fresh, o).Close())
			copyFile(t, filepath.Join(fresh, TableFile), filepath.Join(dir, TableFile))
		}, []string{"table.db damaged"}, []string{"table.db damaged"}},
		{"both damaged", base, func(t *testing.T, dir string) {
			indextest.Must(t, cut(filepath.Join(dir, TableFile)))
			indextest.Must(t, cut(filepath.Join(dir, FilterFile)))
		}, []string{"table.db damaged", "filter.bloom damaged"}, []string{"table.db damaged", "filter.bloom damaged"}},
		{"key missing", base, inDir(KeyFile, os.Remove), []string{"key missing"}, []string{"key missing"}},
		{"key and filter missing", base, func(t *testing.T, dir string) {
			indextest.Must(t, errors.Join(os.Remove(filepath.Join(dir, KeyFile)), os.Remove(filepath.Join(dir, FilterFile))))
		}, []string{"filter.bloom missing", "key missing"}, []string{"key missing"}},
		{"key of another", base, func(t *testing.T, dir string) {
			indextest.Must(t, os.WriteFile(filepath.Join(dir, KeyFile), []byte(strings.Repeat("ab", 16)), 0o600))
		}, []string{"key damaged"}, []string{"key damaged"}},
		{"key cut short", base, inDir(KeyFile, func(path string) error { return os.Truncate(path, 7) }), []string{"key damaged"}, []string{"key damaged"}},
		{"filter alone", only, func(*testing.T, string) {}, nil, nil},
		{
			"filter alone, of other rules", only, func(t *testing.T, dir string) { saveFilterWith(t, dir, "fs2-u15-xxh3-n50-w10", nil) },
			[]string{"filter.bloom unreadable"},
			[]string{"filter.bloom unreadable"},
		},
		{"filter alone, cut short", only, inDir(FilterFile, cut), []string{"filter.bloom damaged"}, []string{"filter.bloom damaged"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := indextest.Copy(t, c.base)
			c.harm(t, dir)
			files := map[string]string{}
			for _, name := range []string{TableFile, FilterFile, KeyFile} {
				data, err := os.ReadFile(filepath.Join(dir, name))
				if err == nil {
					files[name] = string(data)
				}
			}
			sound := func(found []string) bool {
				return !slices.ContainsFunc(found, func(s string) bool { return strings.HasSuffix(s, Damaged) || strings.HasSuffix(s, Unreadable) })
			}
			got := checkIndex(t, dir, CheckOptions{})
			if !slices.Equal(got.findings(), c.found) || got.Sound != sound(c.found) || got.Rebuilt {
				t.Errorf("found %v, want %v: %+v", got.findings(), c.found, got)
			}
			for name, want := range files {
				if data, err := os.ReadFile(filepath.Join(dir, name)); string(data) != want {
					t.Errorf("%s was changed by the check (%v)", name, err)
				}
			}
			got = checkIndex(t, dir, CheckOptions{Rebuild: true})
			if !slices.Equal(got.findings(), c.rebuilt) || got.Sound != sound(c.rebuilt) || got.Rebuilt != (len(c.found) > len(c.rebuilt)) {
				t.Errorf("after the rebuild found %v, want %v: %+v", got.findings(), c.rebuilt, got)
			}
			if len(c.rebuilt) > 0 || c.base == only {
				return
			}
			x := opened(t, dir, Options{Key: KeyAsIs})
			if x.rebuilt != "" {
				t.Errorf("opening it rebuilds the filter: %s", x.rebuilt)
			}
			indextest.Must(t, x.Close())
			knows(t, dir, smallIndex, 0, 200, 200)
		})
	}
}

// TestCheckFindsEveryFlip flips bytes. Each flip is found, or the answers stay the same.
func TestCheckFindsEveryFlip(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	base := filepath.Join(t.TempDir(), "index")
	o := smallIndex
	o.MemtableKeys = 300 // small enough for runs and merges
	x := opened(t, base, o)
	for n := range 8 {
		see(t, x, 50*n, 50*n+50)
		indextest.Must(t, x.Checkpoint())
	}
	indextest.Must(t, x.Finish(nil))
	indextest.Must(t, errors.Join(x.Save(), x.Close()))
	dir := indextest.Copy(t, base)
	for _, name := range []string{FilterFile, TableFile} {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		indextest.Must(t, err)
		const places = 60
		refused := 0
		for i := range places {
			at := (2*i + 1) * int(info.Size()) / (2 * places)
			flipByte(t, path, at)
			got := checkIndex(t, dir, CheckOptions{})
			switch {
			case slices.Equal(got.findings(), []string{name + " damaged"}):
				refused++
			case got.Sound && name == TableFile:
				knows(t, dir, o, 0, 400, 400)
				copyFile(t, filepath.Join(base, FilterFile), filepath.Join(dir, FilterFile))
			default:
				t.Errorf("byte %d of %s: found %v", at, name, got.findings())
			}
			copyFile(t, filepath.Join(base, name), path)
		}
		if name == FilterFile && refused != places || refused < places/5 { // a small table, often written, is largely free pages
			t.Errorf("%s: %d of %d flips found", name, refused, places)
		}
	}
}

// TestCheckOfACopy checks a copy of an index in use: it is sound, with an older filter
// that the table's pending keys complete.
func TestCheckOfACopy(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	dir := filepath.Join(t.TempDir(), "index")
	grown(t, dir, smallIndex, 0, 100)
	at := t.TempDir()
	x := opened(t, dir, smallIndex)
	see(t, x, 100, 150)
	indextest.Must(t, checkpoint(x, "so far"))
	see(t, x, 150, 200)
	for _, name := range []string{TableFile, FilterFile} {
		copyFile(t, filepath.Join(dir, name), filepath.Join(at, name))
	}
	if _, err := Check(context.Background(), dir, CheckOptions{Rebuild: true}); err == nil || !strings.Contains(err.Error(), "wait for it to end") {
		t.Errorf("the filter of an index in use was rebuilt: %v", err)
	}
	if _, err := Check(context.Background(), dir, CheckOptions{}); !errors.Is(err, docmap.ErrLocked) {
		t.Errorf("an index in use: %v", err)
	}
	c := checkIndex(t, at, CheckOptions{State: "run"})
	if !c.Sound || !c.Unfinished || c.Table.Documents != 150 || c.Filter.Items < 1000 || len(c.findings()) > 0 {
		t.Errorf("%+v", c)
	}
	indextest.Must(t, x.Close())
	knows(t, at, smallIndex, 0, 150, 150)
}

// TestCheckInterrupted checks that an interruption is an error, and that the filter stays.
func TestCheckInterrupted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	grown(t, dir, smallIndex, 0, 100)
	saveFilterWith(t, dir, "", []byte("stale"))
	for _, at := range []string{"table", "table for a new filter"} {
		before, err := os.ReadFile(filepath.Join(dir, FilterFile))
		indextest.Must(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		_, err = Check(ctx, dir, CheckOptions{Rebuild: true, Progress: func(step string, _, _ uint64) {
			if step == at {
				cancel()
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", at, err)
		}
		after, err := os.ReadFile(filepath.Join(dir, FilterFile))
		if indextest.Must(t, err); string(before) != string(after) {
			t.Errorf("%s: the filter was replaced", at)
		}
	}
}

// TestRebuildStopped stops at every step, which must leave the old filter or the new one.
func TestRebuildStopped(t *testing.T) {
	for _, at := range []string{"wrote filter.bloom.tmp", "renamed filter.bloom.tmp"} {
		dir := filepath.Join(t.TempDir(), "index")
		grown(t, dir, smallIndex, 0, 100)
		saveFilterWith(t, dir, "", []byte("stale"))
		failAt(t, at)
		if _, err := Check(context.Background(), dir, CheckOptions{Rebuild: true}); !errors.Is(err, errInjected) {
			t.Errorf("%s: %v", at, err)
		}
		if c := checkIndex(t, dir, CheckOptions{}); !c.Sound || len(c.Findings) > 0 != (at == "wrote filter.bloom.tmp") {
			t.Errorf("%s: %+v", at, c)
		}
		knows(t, dir, smallIndex, 0, 100, 100)
	}
}

func TestCheckOfNothing(t *testing.T) {
	dir := t.TempDir()
	for _, rebuild := range []bool{false, true} {
		if _, err := Check(context.Background(), dir, CheckOptions{Rebuild: rebuild}); err == nil || !strings.Contains(err.Error(), "there is no index in "+dir) {
			t.Errorf("checked nothing: %v", err)
		}
	}
	if entries, err := os.ReadDir(dir); len(entries) > 0 || err != nil {
		t.Errorf("there are %v now, %v", entries, err)
	}
}

// TestRebuildNeedsASoundTable builds no filter from a table that opens, but has damage inside.
func TestRebuildNeedsASoundTable(t *testing.T) {
	base := filepath.Join(t.TempDir(), "index")
	o := smallIndex
	o.MemtableKeys = 1000
	x := opened(t, base, o)
	see(t, x, 0, 200)
	indextest.Must(t, x.Checkpoint())
	indextest.Must(t, x.Finish(nil))
	indextest.Must(t, errors.Join(x.Save(), x.Close()))
	saveFilterWith(t, base, "", []byte("stale"))
	info, err := os.Stat(filepath.Join(base, TableFile))
	indextest.Must(t, err)
	met := 0
	for at := 500; at < int(info.Size()) && met < 3; at += 1500 {
		dir := indextest.Copy(t, base)
		flipByte(t, filepath.Join(dir, TableFile), at)
		c := checkIndex(t, dir, CheckOptions{Rebuild: true})
		if c.Table == nil || !slices.Contains(c.findings(), "table.db damaged") {
			continue
		}
		met++
		h, err := bloomstore.ReadHeader(filepath.Join(dir, FilterFile))
		indextest.Must(t, err)
		if c.Rebuilt || c.Sound || string(h.Stamp) != "stale" {
			t.Errorf("byte %d: a filter was made of a damaged table: %+v", at, c)
		}
	}
	if met == 0 {
		t.Error("no flip was one that only a check finds")
	}
}

// TestRebuildHoldsTheTable checks that a filter which the table has outgrown gets the needed size.
func TestRebuildHoldsTheTable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	tiny := Options{Key: KeyAsIs, Shape: bloomstore.ForItems(50)}
	grown(t, dir, tiny, 0, 100)
	saveFilterWith(t, dir, "", []byte("stale"))
	const keys = 100 * (6 + 8 + 1) // segments, runs, and a whole text
	c := checkIndex(t, dir, CheckOptions{Rebuild: true})
	if !c.Rebuilt || c.Filter.Fill >= designFill || c.Filter.Capacity < keys || c.Filter.Capacity > 2*keys {
		t.Errorf("a filter for %d keys: %+v", keys, c.Filter)
	}
	knows(t, dir, tiny, 0, 100, 100)
}

// TestRebuildTakesTheLock checks that a rebuild takes the lock, which a run holds even while its
// table is closed. Reading takes no lock.
func TestRebuildTakesTheLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	grown(t, dir, smallIndex, 0, 20)
	lock := flock.New(filepath.Join(dir, lockFile))
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer lock.Unlock()
	if c := checkIndex(t, dir, CheckOptions{}); !c.Sound {
		t.Errorf("%+v", c)
	}
	if _, err := Check(context.Background(), dir, CheckOptions{Rebuild: true}); !errors.Is(err, ErrLocked) {
		t.Errorf("a rebuild while the lock is held: %v", err)
	}
}

// TestCheckOfJournals checks that all journals of a filter without a table are read, and that
// remains of a kill are reported as such.
func TestCheckOfJournals(t *testing.T) {
	dir := t.TempDir()
	l := openLife(t, dir, 0)
	l.feed(5)
	l.save()
	l.crash()
	if c := checkIndex(t, dir, CheckOptions{}); !c.Sound || !c.Unfinished || c.Scheme == "" || len(c.Findings) > 0 {
		t.Errorf("the first journal of an index: %+v", c)
	}
	l = openLife(t, dir, 0)
	indextest.Must(t, l.index.Finish(nil))
	l.crash()
	for range 3 {
		l = openLife(t, dir, 0)
		l.feed(4)
		l.save()
		l.feed(4)
		l.save()
		l.crash()
	}
	logs, err := filterlog.Logs(dir)
	indextest.Must(t, err)
	first, last := filterlog.LogName(logs[0]), filterlog.LogName(logs[len(logs)-1])
	change := func(name string, change func([]byte) []byte) func(string) error {
		return func(dir string) error {
			path := filepath.Join(dir, name)
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, change(data), 0o666)
		}
	}
	flip := func(at int) func([]byte) []byte {
		return func(data []byte) []byte {
			data[(at+len(data))%len(data)] ^= 8
			return data
		}
	}
	for _, c := range []struct {
		name string
		harm func(dir string) error
		want []string
	}{
		{"none", func(string) error { return nil }, nil},
		{"torn", change(last, func(b []byte) []byte { return b[:len(b)-3] }), []string{last + " torn"}},
		{"a group", change(first, flip(-250)), []string{first + " damaged"}},
		{"a header", change(first, flip(40)), []string{first + " damaged"}},
		{"a later version", change(last, flip(16)), []string{last + " unreadable"}},
		{"one missing", func(dir string) error { return os.Remove(filepath.Join(dir, first)) }, []string{filterlog.LogName(logs[1]) + " damaged"}},
		{"no filter", func(dir string) error { return os.Remove(filepath.Join(dir, FilterFile)) }, []string{FilterFile + " damaged"}},
		{"another name", func(dir string) error {
			return os.Rename(filepath.Join(dir, last), filepath.Join(dir, filterlog.LogName(9)))
		}, []string{filterlog.LogName(9) + " damaged"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := indextest.Copy(t, dir)
			indextest.Must(t, c.harm(dir))
			got := checkIndex(t, dir, CheckOptions{})
			if !slices.Equal(got.findings(), c.want) || got.Sound != (c.want == nil || c.name == "torn") {
				t.Errorf("sound %v, %+v", got.Sound, got.Findings)
			}
		})
	}
	// A kill after the filter was saved, before its journals were removed.
	at := indextest.Copy(t, dir)
	x := opened(t, dir, Options{Key: KeyAsIs, FilterOnly: true})
	indextest.Must(t, x.Finish(nil))
	indextest.Must(t, x.Close())
	copyFile(t, filepath.Join(dir, FilterFile), filepath.Join(at, FilterFile))
	c := checkIndex(t, at, CheckOptions{})
	if !c.Sound || c.Unfinished || len(c.Findings) != len(logs) || c.Findings[0].State != Stale {
		t.Errorf("%+v", c)
	}
}
