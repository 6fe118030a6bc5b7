//go:build unix

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus"
)

// TestKilledAndAbandoned kills runs over files and over a pipe behind a checkpoint,
// gives them up under the same output and looks for every document. The second
// killed run shows that a third name is found.
func TestKilledAndAbandoned(t *testing.T) {
	for _, input := range []string{"in.jsonl", "-"} {
		k := &killing{t: t, dir: t.TempDir()}
		text := documents(600)
		writeFile(t, filepath.Join(k.dir, "in.jsonl"), text)
		k.args = []string{
			"dedup", "-q", "--docs", "3k", "--checkpoint-bytes", "40k", "--index", "index",
			"--out", "kept.jsonl", input,
		}
		k.stdin = filepath.Join(k.dir, "in.jsonl")
		// Two steps a checkpoint: three have been taken.
		k.stopAt(7, stopByKill)
		k.args = append(k.args, "--abandon")
		k.stopAt(9, stopByKill) // what the first kept comes first, and is known
		cmd := k.command()
		start(t, cmd)
		exits(t, cmd, exitDone)
		said := fmt.Sprint(cmd.Stderr)
		if !strings.Contains(said, "put aside as kept.jsonl"+corpus.PartialSuffix+".2") {
			t.Errorf("%s: it said %q", input, said)
		}
		parts := string(k.read("kept.jsonl.partial.1")) + string(k.read("kept.jsonl.partial.2")) + string(k.read("kept.jsonl"))
		if input == "in.jsonl" && parts != text {
			t.Errorf("the parts together have %d bytes, of %d", len(parts), len(text))
		}
		for line := range strings.Lines(text) {
			if !strings.Contains(parts, line) {
				t.Fatalf("%s: in no output: %s", input, line)
			}
		}
		if _, err := os.Stat(filepath.Join(k.dir, "kept.jsonl"+corpus.PartialSuffix)); err == nil {
			t.Error("a partial file is left")
		}
	}
}
