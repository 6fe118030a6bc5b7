//go:build unix

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/base/claim"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestKilledAndAbandoned kills runs after a checkpoint, over files and a pipe, and abandons them
// with the same output. No document may be lost. The second killed run needs a third file name.
func TestKilledAndAbandoned(t *testing.T) {
	for _, arg := range []string{"in.jsonl", "-"} {
		k := &killing{t: t, dir: indextest.TempDir(t)}
		text := documents(600)
		writeFile(t, filepath.Join(k.dir, "in.jsonl"), text)
		k.args = []string{
			"dedup", "-q", "--docs", "3k", "--checkpoint-bytes", "40k", "--index", "index",
			"--out", "kept.jsonl", arg,
		}
		k.stdin = filepath.Join(k.dir, "in.jsonl")
		// Each checkpoint takes two steps, so there are three before step 7.
		k.stopAt(7, stopByKill)
		runProgram(t, k.dir, exitDone, "index", "abandon", "index")
		k.stopAt(9, stopByKill) // the documents of the first run come first and are known
		runProgram(t, k.dir, exitDone, "index", "abandon", "index")
		cmd := k.command()
		start(t, cmd)
		exits(t, cmd, exitDone)
		said := fmt.Sprint(cmd.Stderr)
		if !strings.Contains(said, "put aside as kept.jsonl"+input.PartialSuffix+".2") {
			t.Errorf("%s: it said %q", arg, said)
		}
		parts := string(k.read("kept.jsonl.partial.1")) + string(k.read("kept.jsonl.partial.2")) + string(k.read("kept.jsonl"))
		if arg == "in.jsonl" && parts != text {
			t.Errorf("the parts together have %d bytes, of %d", len(parts), len(text))
		}
		for line := range strings.Lines(text) {
			if !strings.Contains(parts, line) {
				t.Fatalf("%s: in no output: %s", arg, line)
			}
		}
		if _, err := os.Stat(filepath.Join(k.dir, "kept.jsonl"+input.PartialSuffix)); err == nil {
			t.Error("a partial file is left")
		}
	}
}

// tellsFiles reports whether the file system distinguishes a file from its successor.
func tellsFiles(t *testing.T, path string) bool {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return claim.Identify(f) != claim.ID{}
}

// TestKilledBeforeCheckpoint kills a run over files again and again before it remembers anything.
// The same command writes its outputs anew. Once something is remembered, or for another command,
// they are put aside.
func TestKilledBeforeCheckpoint(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	for _, flags := range [][]string{{"--filter-only"}, {}} {
		k := &killing{t: t, dir: indextest.TempDir(t)}
		text := documents(4000) // more than one frame, so that a frame is in the file
		writeFile(t, filepath.Join(k.dir, "in.jsonl"), text)
		command := append([]string{"dedup", "-q", "--docs", "3k", "--limit", "full=warn", "--index", "index", "--out", "kept.jsonl"}, flags...)
		k.args = append(command, "in.jsonl")
		// With an existing index, every process takes the same steps.
		writeFile(t, filepath.Join(k.dir, "old.jsonl"), document(9999))
		runProgram(t, k.dir, exitDone, append([]string{"dedup", "-q", "--docs", "3k", "--index", "index", "old.jsonl"}, flags...)...)
		partial := "kept.jsonl" + input.PartialSuffix
		aside := func() int {
			names, err := filepath.Glob(filepath.Join(k.dir, partial+".*"))
			if err != nil {
				t.Fatal(err)
			}
			return len(names)
		}
		// By this step all output is written, and nothing is remembered.
		written := "synced outputs"
		if len(flags) > 0 {
			written = "closed kept.jsonl"
		}
		for range 3 {
			for n := 1; ; n++ {
				if k.stopBefore(n) || n > 30 {
					t.Fatalf("%v: it does not come to %q: %s", flags, written, k.read("steps"))
				}
				if strings.HasSuffix(string(k.read("steps")), written) {
					break
				}
			}
			if string(k.read(partial)) != text {
				t.Fatal("not all was written before the kill")
			}
		}
		if got := aside(); got > 0 && tellsFiles(t, filepath.Join(k.dir, partial)) {
			t.Errorf("%v: %d files were put aside", flags, got)
		}
		had := aside()
		other := append(slices.Clone(command), "--method", "segments:mosaics=remove", "in.jsonl")
		runProgram(t, k.dir, exitDone, other...)
		if got := aside(); got != had+1 || string(k.read("kept.jsonl")) != text {
			t.Errorf("%v: another command put %d files aside, want 1", flags, got-had)
		}
	}
}
