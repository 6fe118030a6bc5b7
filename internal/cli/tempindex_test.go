//go:build unix

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/engine/temporary"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// startWithoutIndex starts a run without an index, keeps its input open, and waits for an answer.
func startWithoutIndex(t *testing.T, dir string) (*exec.Cmd, io.Closer) {
	t.Helper()
	cmd := program(t, dir, "dedup", "-q", "--docs", "1k", "--out", "-", "-")
	in, out := startPiped(t, cmd)
	wantKept(t, in, out, document(1)+"\n")
	return cmd, in
}

func tempIndexes(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, temporary.Prefix+"*"))
	indextest.Must(t, err)
	return names
}

// TestFilterOfATemporaryIndex checks that the filter is as small as the inputs. It grows if they
// hold more than their size suggests, and the output stays the same.
func TestFilterOfATemporaryIndex(t *testing.T) {
	takesSeconds(t)
	t.Parallel()
	dir := t.TempDir()
	words := make([]string, 26)
	var lines strings.Builder
	for i := range 4000 { // a hundred times its compressed size
		for j := range words {
			words[j] = fmt.Sprintf("%c the same words and %c%c%c.", 'A'+j, 'a'+i%26, 'a'+i/26%26, 'a'+i/676)
		}
		fmt.Fprintf(&lines, `{"id":"%d","text":"%s"}`+"\n", i, strings.Join(words, " "))
	}
	w, err := zstd.NewWriter(nil)
	indextest.Must(t, err)
	writeFile(t, filepath.Join(dir, "in.jsonl"), lines.String())
	writeFile(t, filepath.Join(dir, "in.jsonl.zst"), string(w.EncodeAll([]byte(lines.String()), nil)))
	filter := func(args ...string) string {
		_, told := runProgram(t, dir, 0, append([]string{"dedup", "-v", "--out", "out", "--report", "report"}, args...)...)
		_, told, _ = strings.Cut(told, "firstseen: filter of ")
		size, _, _ := strings.Cut(told, " for")
		if grown := strings.Contains(told, "filter: 0.5 MiB"); size == "128 KiB" && !grown {
			t.Errorf("the filter has not grown: %s", told)
		}
		return size + " " + readFile(t, filepath.Join(dir, "out")) + readFile(t, filepath.Join(dir, "report"))
	}
	rest := strings.TrimPrefix(filter("--docs", "1M", "in.jsonl"), "97.3 MiB ")
	for _, c := range []struct {
		size string
		args []string
	}{
		{"2.7 MiB", []string{"in.jsonl"}},
		{"128 KiB", []string{"in.jsonl.zst"}}, // grows
		{"97.3 MiB", []string{"--index", "index", "in.jsonl"}},
		{"97.3 MiB", []string{"--limit", "full=stop", "in.jsonl"}},
	} {
		if size, others := strings.CutSuffix(filter(c.args...), " "+rest); size != c.size || !others {
			t.Errorf("%q: a filter of %s, want %s; the same output: %v", c.args, size, c.size, others)
		}
	}
}

// openTemporary opens the temporary index of a run over one document.
func openTemporary(t *testing.T) (task *dedupOptions, x *index.Index, remove func() error) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv(epochVariable, "")
	path := filepath.Join(t.TempDir(), "in.jsonl")
	writeFile(t, path, documents(1))
	task = &dedupOptions{indexFlags: indexFlags{docs: "1k"}}
	indextest.Must(t, task.check([]string{path}))
	x, remove, err := task.openIndex(context.Background(), index.Options{})
	indextest.Must(t, err)
	return task, x, remove
}

// TestSecretOfATemporaryIndex checks that the secret is only in memory.
func TestSecretOfATemporaryIndex(t *testing.T) {
	task, x, remove := openTemporary(t)
	if stored, err := index.ReadKey(task.openedIn); len(task.scheme.Key) == 0 || stored != nil || err != nil {
		t.Errorf("the secret is %x, the stored one %x, %v", task.scheme.Key, stored, err)
	}
	indextest.Must(t, errors.Join(x.Close(), remove()))
}

// TestTemporaryIndexIsSwept checks that the next run removes the index of a killed one. It touches
// no index of a live run, no other folder, and none that others can write.
func TestTemporaryIndexIsSwept(t *testing.T) {
	dir := t.TempDir()
	killed, _ := startWithoutIndex(t, dir)
	left := tempIndexes(t, dir)
	indextest.Must(t, killed.Process.Kill())
	_ = killed.Wait()
	alive, in := startWithoutIndex(t, dir)
	if len(left) != 1 || slices.Contains(tempIndexes(t, dir), left[0]) {
		t.Errorf("the index of a killed run, %v, is there after the next start", left)
	}
	stay := tempIndexes(t, dir) // the live run's
	make := func(name string, mode os.FileMode, files ...string) {
		path := filepath.Join(dir, temporary.Prefix+name)
		indextest.Must(t, os.Mkdir(path, 0o700))
		for _, file := range files {
			writeFile(t, filepath.Join(path, file), "x")
		}
		indextest.Must(t, os.Chmod(path, mode))
		stay = append(stay, path)
	}
	seen := filepath.Join(dir, "firstseen-seen") // for later use, and closed to others
	runProgram(t, dir, 0, "index", "create", "--no-key", "--docs", "1k", seen)
	indextest.Must(t, os.Chmod(seen, 0o700))
	make("empty", 0o700)
	make("starting", 0o700, "lock")
	make("unlocked", 0o700, index.TableFile)
	make("notes", 0o700, "lock", index.TableFile, "notes.txt")
	make("shared", 0o777, "lock", index.TableFile)
	make("links", 0o700, "lock")
	indextest.Must(t, os.Symlink("/", filepath.Join(dir, temporary.Prefix+"links", index.TableFile)))
	indextest.Must(t, os.Symlink(left[0], filepath.Join(dir, temporary.Prefix+"link")))
	stay = append(stay, filepath.Join(dir, temporary.Prefix+"link"))
	writeFile(t, filepath.Join(dir, "in.jsonl"), documents(3))
	_, said := runProgram(t, dir, 0, "dedup", "-v", "--docs", "1k", "in.jsonl")
	if want := "firstseen: temporary index in " + filepath.Join(dir, temporary.Prefix); !strings.Contains(said, want) || !strings.Contains(said, "; set TMPDIR to have it elsewhere\n") {
		t.Errorf("it said %q, want %q", said, want)
	}
	slices.Sort(stay)
	if got := tempIndexes(t, dir); !slices.Equal(got, stay) {
		t.Errorf("there are\n%q, want\n%q", got, stay)
	}
	if !index.Exists(seen) {
		t.Error("an index for later use was removed")
	}
	in.Close()
	exits(t, alive, 0)
}

// TestTemporaryReportIsSwept checks the same for the report of --prefer. The process is killed while
// it writes to a pipe that nobody reads, and has only the report.
func TestTemporaryReportIsSwept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "in.jsonl"), documents(3000)+document(0)+"\n")
	cmd := program(t, dir, "dedup", "-q", "--docs", "1k", "--prefer", "id=longest", "--out", "-", "in.jsonl")
	_, out := startPiped(t, cmd)
	if _, err := out.Peek(1); err != nil {
		t.Fatal(err)
	}
	left := tempIndexes(t, dir)
	sweep := func(text string, want []string) {
		t.Helper()
		runProgram(t, dir, 0, "dedup", "-q", "--docs", "1k", "in.jsonl")
		if got := tempIndexes(t, dir); !slices.Equal(got, want) {
			t.Errorf("%s: there are %q, want %q", text, got, want)
		}
	}
	if len(left) != 1 {
		t.Fatalf("there are %q", left)
	}
	sweep("alive", left)
	indextest.Must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	sweep("killed", nil)
}
