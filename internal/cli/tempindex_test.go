//go:build unix

package cli

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/index"
)

// startWithoutIndex starts a run without an index whose input stays open, and waits
// until it has answered a document.
func startWithoutIndex(t *testing.T, dir string) (*exec.Cmd, io.Closer) {
	t.Helper()
	cmd := program(t, dir, "dedup", "-q", "--docs", "1k", "--out", "-", "-")
	in, out := startPiped(t, cmd)
	wantKept(t, in, out, document(1)+"\n")
	return cmd, in
}

func tempIndexes(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, tempPrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestSecretOfATemporaryIndex is in memory alone.
func TestSecretOfATemporaryIndex(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv(epochVariable, "")
	path := filepath.Join(t.TempDir(), "in.jsonl")
	writeFile(t, path, documents(1))
	task, err := (&settings{docs: "1k", score: "text", mosaics: "keep", jobs: 1}).task([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	x, remove, err := task.openIndex()
	if err != nil {
		t.Fatal(err)
	}
	if stored, err := index.ReadKey(task.openedIn); len(task.scheme.Key) == 0 || stored != nil || err != nil {
		t.Errorf("the secret is %x, the stored one %x, %v", task.scheme.Key, stored, err)
	}
	if err := errors.Join(x.Close(false), remove()); err != nil {
		t.Fatal(err)
	}
}

// TestTemporaryIndexIsSwept when its run was killed, by the next one; that of a run
// which is under way is not touched, nor what is no index or not the user's alone.
func TestTemporaryIndexIsSwept(t *testing.T) {
	dir := t.TempDir()
	killed, _ := startWithoutIndex(t, dir)
	left := tempIndexes(t, dir)
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()
	alive, in := startWithoutIndex(t, dir)
	if len(left) != 1 || slices.Contains(tempIndexes(t, dir), left[0]) {
		t.Errorf("the index of a killed run, %v, is there after the next start", left)
	}
	stay := tempIndexes(t, dir) // of the one that is alive
	make := func(name string, mode os.FileMode, files ...string) {
		path := filepath.Join(dir, tempPrefix+name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			writeFile(t, filepath.Join(path, file), "x")
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		stay = append(stay, path)
	}
	make("empty", 0o700)
	make("starting", 0o700, "lock")
	make("unlocked", 0o700, index.TableFile)
	make("notes", 0o700, "lock", index.TableFile, "notes.txt")
	make("shared", 0o777, "lock", index.TableFile)
	make("links", 0o700, "lock")
	if err := os.Symlink("/", filepath.Join(dir, tempPrefix+"links", index.TableFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(left[0], filepath.Join(dir, tempPrefix+"link")); err != nil {
		t.Fatal(err)
	}
	stay = append(stay, filepath.Join(dir, tempPrefix+"link"))
	writeFile(t, filepath.Join(dir, "in.jsonl"), documents(3))
	_, said := runProgram(t, dir, 0, "dedup", "--docs", "1k", "in.jsonl")
	if want := "firstseen: temporary index in " + filepath.Join(dir, tempPrefix); !strings.Contains(said, want) || !strings.Contains(said, "; set TMPDIR to have it elsewhere\n") {
		t.Errorf("it said %q, want %q", said, want)
	}
	slices.Sort(stay)
	if got := tempIndexes(t, dir); !slices.Equal(got, stay) {
		t.Errorf("there are\n%q, want\n%q", got, stay)
	}
	in.Close()
	exits(t, alive, 0)
}
