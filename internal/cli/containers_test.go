//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firstseen/firstseen/internal/testing/corpustest"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// packed packs the folder "in" into an archive beside it.
func packed(t *testing.T, dir, name string) {
	t.Helper()
	if err := corpustest.Pack(filepath.Join(dir, name), filepath.Join(dir, "in")); err != nil {
		t.Fatal(err)
	}
}

// TestArchivesAreFolders checks that an archive gives the verdicts, rejects, kept records and
// output tree of the packed folder, for any number of jobs.
func TestArchivesAreFolders(t *testing.T) {
	dir := t.TempDir()
	treeInput(t, dir)
	run := func(in, jobs string) (files []treeFile) {
		t.Helper()
		for _, flags := range [][]string{{"--out-dir", "out"}, {"--out", "out/kept.jsonl", "--verify=lcs>=0.5"}} {
			if err := os.MkdirAll(filepath.Join(dir, "out"), 0o777); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"dedup", "-q", "--docs", "3k", "-j", jobs, "--report", "dups.jsonl", "--rejects", "bad.jsonl"}, flags...)
			runProgram(t, dir, exitBadRecords, append(args, in)...)
			written, err := treeFiles(filepath.Join(dir, "out"))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range written {
				f.name = strings.TrimPrefix(f.name, in+"/")
				files = append(files, f)
			}
			for _, name := range []string{"dups.jsonl", "bad.jsonl"} {
				data, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, treeFile{name, bytes.ReplaceAll(data, []byte(`"`+in+"/"), []byte(`"`))})
			}
			if err := os.RemoveAll(filepath.Join(dir, "out")); err != nil {
				t.Fatal(err)
			}
		}
		return files
	}
	want := run("in", "3")
	for i, name := range []string{"in.tar", "in.zip", "in.tgz", "in.tar.zst"} {
		packed(t, dir, name)
		got := run(name, fmt.Sprint(1+3*(i%2)))
		if len(got) != len(want) {
			t.Fatalf("%s: %d files, not %d", name, len(got), len(want))
		}
		for i := range got {
			if got[i].name != want[i].name || !bytes.Equal(got[i].data, want[i].data) {
				t.Errorf("%s: %s is not %s of the folder, or has other bytes", name, got[i].name, want[i].name)
			}
		}
	}
}

// TestArchivesKilled checks that a killed run over archives can be continued.
func TestArchivesKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	t.Parallel()
	k := &treeKilling{killing: killing{t: t, dir: indextest.TempDir(t), signal: syscall.SIGKILL, rng: rand.New(rand.NewPCG(3, 9))}}
	treeInput(t, k.dir)
	for _, name := range []string{"a.zip", "b.tar", "c.tgz"} {
		packed(t, k.dir, name)
	}
	k.args = []string{"dedup", "-q", "--docs", "3k", "--checkpoint-bytes", "12k", "--index", "index", "--report", "dups.jsonl", "--out-dir", "out", "a.zip", "b.tar", "c.tgz"}
	begun := time.Now()
	runProgram(t, k.dir, exitBadRecords, k.args...)
	k.took = time.Since(begun)
	k.all, k.content = k.files(), k.indexContent()
	k.reset()
	steps := k.stopAt(0, "")
	every := 20
	if testing.Short() {
		every = 50
	}
	for n := 1; n < len(steps); n += every {
		k.reset()
		k.stopAt(n, stopByKill)
		k.stopBefore(n/2 + 1)
		k.finish()
		k.compare(fmt.Sprintf("killed after step %d, %s", n, steps[n-1]))
	}
}
