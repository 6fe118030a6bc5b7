package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

var errStep = errors.New("this step fails")

// watch records the steps and makes step number failing fail, counted from 0.
func watch(t *testing.T, failing int) (steps *[]string) {
	t.Helper()
	whole := system
	t.Cleanup(func() { system = whole })
	steps = new([]string)
	step := func(text string) error {
		*steps = append(*steps, text)
		if len(*steps) == failing+1 {
			return errStep
		}
		return nil
	}
	system.sync = func(f *os.File) error {
		if err := step("sync " + filepath.Base(f.Name())); err != nil {
			return err
		}
		return whole.sync(f)
	}
	system.rename = func(from, to string) error {
		if err := step(fmt.Sprintf("rename %s %s", filepath.Base(from), filepath.Base(to))); err != nil {
			return err
		}
		return whole.rename(from, to)
	}
	system.syncDir = func(dir string) error {
		if err := step("sync folder " + filepath.Base(dir)); err != nil {
			return err
		}
		return whole.syncDir(dir)
	}
	return steps
}

// TestContentIsDurableBeforeItsName checks that the content is on disk before the file has its
// name, and the name before the call returns.
func TestContentIsDurableBeforeItsName(t *testing.T) {
	dir := t.TempDir()
	path, folder := filepath.Join(dir, "a"), "sync folder "+filepath.Base(dir)
	for _, c := range []struct {
		name string
		do   func() error
		want []string
	}{
		{"Replace", func() error { return Replace(path, put("x")) }, []string{"sync a.tmp", "rename a.tmp a", folder}},
		{"Rename", func() error { return Rename(path, path+"b") }, []string{"rename a ab", folder}},
		{"Remove", func() error { return Remove(path + "b") }, []string{folder}},
	} {
		t.Run(c.name, func(t *testing.T) {
			steps := watch(t, -1)
			if err := c.do(); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(*steps, c.want) {
				t.Errorf("steps %q, want %q", *steps, c.want)
			}
		})
	}
	if _, err := os.Stat(path + "b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is not removed: %v", err)
	}
}

// TestStepsFail lets each step fail. The caller gets an error, and the file has its old content or,
// after the rename, the new.
func TestStepsFail(t *testing.T) {
	for failing, want := range []string{"old", "old", "new"} {
		t.Run(fmt.Sprintf("replacing, step %d", failing), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a")
			if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
				t.Fatal(err)
			}
			steps := watch(t, failing)
			if err := Replace(path, put("new")); !errors.Is(err, errStep) {
				t.Errorf("error %v, want %v", err, errStep)
			}
			if len(*steps) != failing+1 {
				t.Errorf("it went on after the failure: %q", *steps)
			}
			expect(t, path, want)
		})
	}
	path := filepath.Join(t.TempDir(), "a")
	for _, c := range []struct {
		name    string
		failing int
		do      func() error
	}{
		{"renaming", 0, func() error { return Rename(path, path+"b") }},
		{"syncing after it", 1, func() error { return Rename(path, path+"b") }},
		{"syncing after removing", 0, func() error { return Remove(path) }},
	} {
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		t.Run(c.name, func(t *testing.T) {
			watch(t, c.failing)
			if err := c.do(); !errors.Is(err, errStep) {
				t.Errorf("error %v, want %v", err, errStep)
			}
		})
	}
}

// TestSyncDirFails checks that a folder that cannot be synced is an error.
func TestSyncDirFails(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs a folder that cannot be synced")
	}
	if err := syncDir("/proc/self"); err == nil {
		t.Error("a folder of /proc was synced")
	}
	if err := syncDir(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}
