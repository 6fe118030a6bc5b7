//go:build unix

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipeWhoseOutputCannotBeNamed ends a run by a signal while a folder has its report's name. The
// index must still say that a run is unfinished, and the next run must not begin silently.
func TestPipeWhoseOutputCannotBeNamed(t *testing.T) {
	dir := t.TempDir()
	args := []string{"dedup", "-q", "--docs", "1k", "--index", "index", "--out", "-", "--report", "dups.jsonl", "-"}
	cmd := program(t, dir, args...)
	in, out := startPiped(t, cmd)
	line := document(1) + "\n"
	wantKept(t, in, out, line+line) // the second is in the report
	if err := os.MkdirAll(filepath.Join(dir, "dups.jsonl", "in the way"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	exits(t, cmd, exitFailed)
	if said := cmd.Stderr.(*bytes.Buffer).String(); !strings.Contains(said, "dups.jsonl") {
		t.Errorf("it does not say which output has no name:\n%s", said)
	}
	next := program(t, dir, append(args[:len(args)-3:len(args)-3], "--report", "other.jsonl", "-")...)
	next.Stdin = strings.NewReader(line)
	start(t, next)
	exits(t, next, exitFailed)
	if said := next.Stderr.(*bytes.Buffer).String(); !strings.Contains(said, "was interrupted on this index") {
		t.Errorf("the next run says:\n%s", said)
	}
}
