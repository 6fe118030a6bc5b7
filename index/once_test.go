package index

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

func stat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	indextest.Must(t, err)
	return info
}

// TestFilterIsWrittenOnce writes the filter once per run, and not at all without documents, as a
// filter may have gigabytes.
func TestFilterIsWrittenOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	path := filepath.Join(dir, FilterFile)
	x := opened(t, dir, smallIndex)
	see(t, x, 0, 20)
	indextest.Must(t, x.Finish(nil))
	first := stat(t, path)
	indextest.Must(t, errors.Join(x.Save(), x.Close()))
	if !os.SameFile(first, stat(t, path)) {
		t.Error("Close has written the filter that Finish had written")
	}
	x = opened(t, dir, smallIndex)
	indextest.Must(t, errors.Join(x.Save(), x.Close()))
	if !os.SameFile(first, stat(t, path)) {
		t.Error("Close has written a filter that was not changed")
	}
	knows(t, dir, smallIndex, 0, 20, 20)
}

// TestKeyPolicies opens indexes with and without a key: neither ever changes.
func TestKeyPolicies(t *testing.T) {
	for _, made := range []KeyPolicy{KeyAsIs, KeyNew, KeyRequired, KeyRefused} {
		dir := filepath.Join(t.TempDir(), "index")
		o := smallIndex
		o.Key = made
		grown(t, dir, o, 0, 10)
		key, err := ReadKey(dir)
		indextest.Must(t, err)
		keyed := made == KeyNew || made == KeyRequired
		if (key != nil) != keyed {
			t.Errorf("policy %d: key %x", made, key)
		}
		if keyed && runtime.GOOS != "windows" {
			if mode := stat(t, filepath.Join(dir, KeyFile)).Mode().Perm(); mode != 0o600 {
				t.Errorf("policy %d: the key has mode %v", made, mode)
			}
		}
		for policy, want := range map[KeyPolicy]error{
			KeyAsIs: nil, KeyNew: nil, KeyRequired: onlyIf(!keyed, ErrUnkeyed), KeyRefused: onlyIf(keyed, ErrKeyed),
		} {
			o.Key = policy
			x, err := Open(context.Background(), dir, o)
			if !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("made with policy %d, opened with %d: %v, want %v", made, policy, err, want)
			}
			if x != nil {
				if (x.Scheme().Key != nil) != keyed {
					t.Errorf("made with policy %d, opened with %d: key %x", made, policy, x.Scheme().Key)
				}
				indextest.Must(t, x.Close())
			}
		}
	}
}

func onlyIf(so bool, err error) error {
	if so {
		return err
	}
	return nil
}

// TestCheckFindsAnotherScheme finds a wrong scheme even if keys and stamp match the table.
func TestCheckFindsAnotherScheme(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	grown(t, dir, smallIndex, 0, 20)
	x := opened(t, dir, smallIndex)
	f, err := bloomstore.New(x.filter.Shape(), "another")
	indextest.Must(t, err)
	indextest.Must(t, fillFilter(t.Context(), f, x.table))
	indextest.Must(t, f.Save(context.Background(), filepath.Join(dir, FilterFile), tableStamp(x.table)))
	indextest.Must(t, errors.Join(f.Close(), x.Close()))
	if got := checkIndex(t, dir, CheckOptions{}); got.Sound || !slices.Equal(got.findings(), []string{"filter.bloom damaged"}) {
		t.Errorf("found %v", got.findings())
	}
}

// TestNotRemovedAsLeft keeps anything that may be in use: a lone lock, which may soon be taken, and
// folders with other files.
func TestNotRemovedAsLeft(t *testing.T) {
	for name, files := range map[string][]string{
		"a lock alone":   {lockFile},
		"a file of mine": {lockFile, TableFile, "notes.txt"},
		"no lock":        {TableFile, FilterFile},
	} {
		dir := filepath.Join(t.TempDir(), "index")
		indextest.Must(t, os.Mkdir(dir, 0o777))
		for _, file := range files {
			indextest.Must(t, os.WriteFile(filepath.Join(dir, file), nil, 0o666))
		}
		if done, err := RemoveLeftIndex(dir); done || err != nil {
			t.Errorf("%s: %v, %v", name, done, err)
		}
		for _, file := range files {
			stat(t, filepath.Join(dir, file))
		}
	}
}
