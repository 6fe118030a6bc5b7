package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/internal/base/claim"
	"github.com/firstseen/firstseen/internal/testing/filetest"
)

func put(text string) func(*os.File) error {
	return func(f *os.File) error {
		_, err := io.WriteString(f, text)
		return err
	}
}

// expect fails unless path holds text and is alone in its folder.
func expect(t *testing.T, path, text string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != text {
		t.Fatalf("file holds %q, want %q", got, text)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Fatalf("folder holds %v, want one file", entries)
	}
}

func TestReplaceMakesAndReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	for _, text := range []string{"one", "two, longer", ""} {
		if err := Replace(path, put(text)); err != nil {
			t.Fatal(err)
		}
		expect(t, path, text)
	}
}

// TestReplaceTwiceAtOnce checks that a second call for a file is refused and disturbs nothing. The
// first one would otherwise put the second's incomplete file at path.
func TestReplaceTwiceAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	err := Replace(path, func(f *os.File) error {
		if err := put("whole")(f); err != nil {
			return err
		}
		if err := Replace(path, put("other")); !errors.Is(err, claim.ErrTaken) {
			t.Errorf("a second call: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, path, "whole")
}

func TestReplaceKeepsPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, put("x")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, want 0600", info.Mode())
	}
}

func TestFailureLeavesOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	err := Replace(path, func(f *os.File) error {
		if err := put("half")(f); err != nil {
			return err
		}
		return full
	})
	if !errors.Is(err, full) || !strings.Contains(err.Error(), path) {
		t.Fatalf("error %v, want one that wraps %q and names the file", err, full)
	}
	expect(t, path, "old")

	// A callback that closes the file makes the sync fail.
	if err := Replace(path, (*os.File).Close); !errors.Is(err, os.ErrClosed) {
		t.Fatalf("error %v, want %v", err, os.ErrClosed)
	}
	expect(t, path, "old")
}

func TestFailedRenameRemovesTemporary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := os.Mkdir(path, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, put("x")); err == nil {
		t.Fatal("a folder was replaced by a file")
	}
	if _, err := os.Stat(path + ".tmp"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("temporary file is still there: %v", err)
	}
}

func TestMissingFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "a")
	if err := Replace(path, put("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error %v, want %v", err, fs.ErrNotExist)
	}
}

// TestKilledBeforeRename kills a child process after it wrote everything.
func TestKilledBeforeRename(t *testing.T) {
	const env = "DURABLE_KILL_AT"
	if path := os.Getenv(env); path != "" {
		err := Replace(path, func(f *os.File) error {
			if err := put("new")(f); err != nil {
				return err
			}
			return filetest.KillSelf()
		})
		t.Fatalf("still alive: %v", err)
	}
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestKilledBeforeRename$")
	child.Env = append(os.Environ(), env+"="+path)
	out, err := child.CombinedOutput()
	if exit := new(exec.ExitError); !errors.As(err, &exit) || strings.Contains(string(out), "still alive") {
		t.Fatalf("child ended with %v, want it killed: %s", err, out)
	}
	if _, err := os.Stat(path + ".tmp"); err != nil {
		t.Fatalf("the child did not get as far as the temporary file: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
		t.Fatalf("file holds %q (%v), want %q", got, err, "old")
	}
	if err := Replace(path, put("newer")); err != nil {
		t.Fatal(err)
	}
	expect(t, path, "newer")
}

func TestNames(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	for path, text := range map[string]string{from: "new", to: "old"} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := Rename(from, to); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(to); err != nil || string(got) != "new" {
		t.Errorf("after Rename: %q, %v", got, err)
	}
	if err := Rename(from, to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Rename of what is not there: %v", err)
	}
	if err := Remove(to); err != nil {
		t.Fatal(err)
	}
	if err := Remove(to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Remove of what is not there: %v", err)
	}
}
