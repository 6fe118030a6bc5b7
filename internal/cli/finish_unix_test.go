//go:build unix

package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSecondSignal checks that a first signal waits for current work and a second one does not.
func TestSecondSignal(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "in.jsonl"), documents(3))
	cmd := program(t, dir, "dedup", "-q", "--docs", "1k", "in.jsonl")
	stopAfter(cmd, "1", stopByWaiting)
	start(t, cmd)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for ; ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "steps")); err == nil {
			break
		}
	}
	// The test cannot see when a signal was noticed, so it may have to send more than two.
	for sent := 1; ; sent++ {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			status := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if sent == 1 || status.Signal() != syscall.SIGTERM {
				t.Errorf("signal %d ended it with %v", sent, err)
			}
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// TestInterruptedWhileOpening checks that a signal ends a run that opens a pipe without a reader.
func TestInterruptedWhileOpening(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--out", "--report", "--summary"} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "in.jsonl"), documents(3))
		if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := program(t, dir, "dedup", "-v", "--docs", "1k", "--index", "index", flag, "fifo", "in.jsonl")
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		cmd.Stderr = w
		start(t, cmd)
		w.Close()
		// The program writes this before it opens its outputs.
		if _, err := io.ReadFull(r, make([]byte, len("firstseen: filter"))); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // most likely it waits by now
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		exits(t, cmd, exitInterrupted)
		if said, err := io.ReadAll(r); err != nil || !strings.Contains(string(said), "firstseen: interrupted; an output is a pipe without a reader") {
			t.Errorf("%s: it said %q, %v", flag, said, err)
		}
		runProgram(t, dir, exitDone, "dedup", "-q", "--index", "index", "in.jsonl")
	}
}
