//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// program returns the program itself as a command: the test binary, called firstseen, runs main. As in
// scripts, it collects garbage less often.
func program(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	indextest.Must(t, err)
	cmd := exec.Command(exe)
	cmd.Args = append([]string{"firstseen"}, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), epochVariable+"=1700000000", "TMPDIR="+dir, "GOGC=400")
	return cmd
}

// exits waits for a command and checks its exit code.
func exits(t *testing.T, cmd *exec.Cmd, want int) {
	t.Helper()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Fatalf("%q: exit code %d, want %d\n%s", cmd.Args, got, want, cmd.Stderr)
	}
}

func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if cmd.Stderr == nil {
		cmd.Stderr = &bytes.Buffer{}
	}
	indextest.Must(t, cmd.Start())
}

// startPiped starts a command with pipes to its input and from its output, which outlives it.
func startPiped(t *testing.T, cmd *exec.Cmd) (in io.WriteCloser, out *bufio.Reader) {
	t.Helper()
	in, err := cmd.StdinPipe()
	indextest.Must(t, err)
	r, w, err := os.Pipe()
	indextest.Must(t, err)
	t.Cleanup(func() { r.Close() })
	cmd.Stdout = w
	start(t, cmd)
	w.Close()
	return in, bufio.NewReader(r)
}

// interrupted starts a command with -v, sends it a signal after its first message, and returns what
// else it says. The first message follows the preparation for signals and comes before the outputs.
func interrupted(t *testing.T, cmd *exec.Cmd, sig os.Signal, wait time.Duration) string {
	t.Helper()
	r, w, err := os.Pipe()
	indextest.Must(t, err)
	defer r.Close()
	cmd.Stderr = w
	start(t, cmd)
	w.Close()
	_, err = io.ReadFull(r, make([]byte, len("firstseen: filter")))
	indextest.Must(t, err)
	time.Sleep(wait)
	indextest.Must(t, cmd.Process.Signal(sig))
	said, err := io.ReadAll(r)
	indextest.Must(t, err)
	exits(t, cmd, exitInterrupted)
	return string(said)
}

// give writes text to the input of a command.
func give(t *testing.T, in io.Writer, text string) {
	t.Helper()
	_, err := io.WriteString(in, text)
	indextest.Must(t, err)
}

// wantKept sends text and expects its first line back as a kept document.
func wantKept(t *testing.T, in io.Writer, out *bufio.Reader, text string) {
	t.Helper()
	give(t, in, text)
	want, _, _ := strings.Cut(text, "\n")
	if got, err := out.ReadString('\n'); got != want+"\n" || err != nil {
		t.Fatalf("answer %q, %v, want %q", got, err, want)
	}
}

// runProgram runs the program to its end and returns its output.
func runProgram(t *testing.T, dir string, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := program(t, dir, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start(t, cmd)
	exits(t, cmd, code)
	return out.String(), errs.String()
}

// TestReaderGone checks that the program ends quietly once its output has no reader.
func TestReaderGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "in.jsonl"), documents(2000))
	for _, args := range [][]string{
		{"dedup", "--docs", "5k", "--out", "-", "in.jsonl"},
		{"dedup", "--docs", "5k", "--index", "index", "--report", "-", "in.jsonl", "in.jsonl"},
		{"query", "index", "in.jsonl"},
		{"index", "stats", "index"},
	} {
		if args[0] != "dedup" {
			runProgram(t, dir, 0, "dedup", "-q", "--docs", "5k", "--index", "index", "in.jsonl")
		}
		r, w, err := os.Pipe()
		indextest.Must(t, err)
		cmd := program(t, dir, args...)
		cmd.Stdout = w
		r.Close()
		start(t, cmd)
		w.Close()
		exits(t, cmd, exitReaderGone)
		if said := cmd.Stderr.(*bytes.Buffer).String(); strings.Contains(said, "pipe") {
			t.Errorf("%q said %q", args, said)
		}
	}
}

// TestInterruptedWhileWaiting interrupts a run whose input pipe neither delivers nor ends.
func TestInterruptedWhileWaiting(t *testing.T) {
	dir := t.TempDir()
	cmd := program(t, dir, "dedup", "-v", "--docs", "1k", "--index", "index", "-")
	in, err := cmd.StdinPipe()
	indextest.Must(t, err)
	defer in.Close()
	said := interrupted(t, cmd, os.Interrupt, 0)
	if !strings.Contains(said, "the 0 records read") {
		t.Errorf("it said %q", said)
	}
	noInsides(t, said)
}

// TestStoppedWhileReaderWaits checks that a bad record ends a run whose input pipe stays open.
func TestStoppedWhileReaderWaits(t *testing.T) {
	cmd := program(t, t.TempDir(), "dedup", "--docs", "1k", "--limit", "bad=0", "-")
	in, err := cmd.StdinPipe()
	indextest.Must(t, err)
	defer in.Close()
	start(t, cmd)
	// More than a chunk, so that the reader hands it on.
	line := document(1) + "\n"
	if _, err := io.WriteString(in, "{\n"+strings.Repeat(line, 3<<20/len(line))); err != nil && !strings.Contains(err.Error(), "pipe") {
		t.Fatal(err)
	}
	exits(t, cmd, exitTooManyBad)
}

// TestSecondProcess checks that a process is refused while another has the index.
func TestSecondProcess(t *testing.T) {
	takesSeconds(t)
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "in.jsonl"), documents(10))
	runProgram(t, dir, 0, "dedup", "-q", "--docs", "1k", "--index", "index", "in.jsonl")
	x, err := index.Edit(filepath.Join(dir, "index"))
	indextest.Must(t, err)
	_, said := runProgram(t, dir, 1, "dedup", "-q", "--index", "index", "in.jsonl")
	if !strings.Contains(said, fmt.Sprintf("another process is using this index (process %d); wait for it to end, or give another --index", os.Getpid())) {
		t.Errorf("dedup said %q", said)
	}
	for _, args := range [][]string{{"query", "index", "in.jsonl"}, {"index", "stats", "index"}} {
		if _, said := runProgram(t, dir, 1, args...); !strings.Contains(said, fmt.Sprintf("(process %d): wait for it to end", os.Getpid())) {
			t.Errorf("%s said %q", args[0], said)
		}
	}
	indextest.Must(t, x.Close())
	runProgram(t, dir, 0, "dedup", "-q", "--index", "index", "in.jsonl")
}

// TestOutputWithoutName checks that a run without a name for its output is unfinished, and says which
// output it is. The next run must not begin silently.
func TestOutputWithoutName(t *testing.T) {
	for _, interrupt := range []bool{false, true} {
		dir := t.TempDir()
		args := []string{"dedup", "-q", "--docs", "1k", "--index", "seen", "--out", "-", "-", "--report"}
		cmd := program(t, dir, append(args, "r.jsonl")...)
		in, out := startPiped(t, cmd)
		wantKept(t, in, out, document(0)+"\n"+document(0)+"\n") // the second is in the report
		indextest.Must(t, os.MkdirAll(filepath.Join(dir, "r.jsonl", "in the way"), 0o777))
		end := in.Close
		if interrupt {
			end = func() error { return cmd.Process.Signal(os.Interrupt) }
		}
		indextest.Must(t, end())
		exits(t, cmd, exitFailed)
		if said := fmt.Sprint(cmd.Stderr); !strings.Contains(said, "r.jsonl") {
			t.Errorf("it does not say which output has no name:\n%s", said)
		}
		if stats, _ := runProgram(t, dir, 0, "index", "stats", "seen"); !strings.Contains(stats, "unfinished") {
			t.Errorf("interrupted %v, and the run is over:\n%s", interrupt, stats)
		}
		if _, said := runProgram(t, dir, exitFailed, append(args, "other.jsonl")...); !strings.Contains(said, "was interrupted on this index") {
			t.Errorf("the next run says:\n%s", said)
		}
	}
}

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
		indextest.Must(t, cmd.Process.Signal(syscall.SIGTERM))
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
	takesSeconds(t)
	t.Parallel()
	for _, flag := range []string{"--out", "--report", "--summary"} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "in.jsonl"), documents(3))
		indextest.Must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o666))
		cmd := program(t, dir, "dedup", "-v", "--docs", "1k", "--index", "index", flag, "fifo", "in.jsonl")
		said := interrupted(t, cmd, syscall.SIGTERM, 50*time.Millisecond) // most likely it waits by then
		if !strings.Contains(said, "firstseen: interrupted; an output is a pipe without a reader") {
			t.Errorf("%s: it said %q", flag, said)
		}
		runProgram(t, dir, exitDone, "dedup", "-q", "--index", "index", "in.jsonl")
	}
}
