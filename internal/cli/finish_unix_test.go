//go:build unix

package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// finishing lists the last steps of a run. They must come in this order: if the index forgot the
// run before all outputs had their names, documents would be lost.
const finishing = `synced outputs
took checkpoint
closed kept.jsonl.zst
renamed kept.jsonl.zst.partial
named kept.jsonl.zst
closed real
renamed real.partial
named real
closed bad.jsonl.zst
renamed bad.jsonl.zst.partial
named bad.jsonl.zst
closed sum.json
renamed sum.json.partial
named sum.json
wrote filter.bloom.tmp
renamed filter.bloom.tmp
saved the filter
noted the end
ended`

// TestStoppedWhileFinishing kills runs, or makes them fail, after each of their last steps. The
// same command then ends as if nothing had happened.
func TestStoppedWhileFinishing(t *testing.T) {
	t.Parallel()
	k := newKilling(t, ".zst", nil)
	k.args = append(k.args, "--summary", "sum.json")
	k.reset()
	all := k.stopAt(0, "")
	k.compare()
	want := strings.Split(finishing, "\n")
	if len(all) < len(want) || !slices.Equal(all[len(all)-len(want):], want) {
		t.Fatalf("the steps are\n%s\nand shall end in\n%s", strings.Join(all, "\n"), finishing)
	}
	for i, how := range []string{stopByKill, stopByError} {
		for n := len(all) - len(want) + 1; n <= len(all); n++ {
			if testing.Short() && n%2 == i {
				continue // each step in one of the two ways
			}
			k.reset()
			k.stopAt(n, how)
			if !finished(t, k.dir, k.outputs[0]) {
				runProgram(t, k.dir, exitBadRecords, k.args...)
			}
			if t.Run(fmt.Sprintf("%s after %s", how, all[n-1]), func(t *testing.T) {
				k.t = t
				k.compare()
				for _, name := range append([]string{"real"}, k.outputs...) {
					for _, suffix := range []string{input.PartialSuffix, input.PartialSuffix + ".1"} {
						if _, err := os.Stat(filepath.Join(k.dir, name+suffix)); err == nil {
							t.Errorf("%s is left", name+suffix)
						}
					}
				}
			}); t.Failed() {
				return
			}
			k.t = t
		}
	}
}

// TestStoppedAgainWhileFinishing kills the run that finishes a killed one, after each of its steps.
// The work of the first must not be undone.
func TestStoppedAgainWhileFinishing(t *testing.T) {
	t.Parallel()
	k := newKilling(t, ".zst", nil)
	k.args = append(k.args, "--summary", "sum.json")
	k.reset()
	steps := len(k.stopAt(0, ""))
	done := len(strings.Split(finishing, "\n"))
	firsts := []string{"renamed real.partial", "saved the filter"}
	if testing.Short() {
		firsts = firsts[1:]
	}
	for n := steps - done + 1; n <= steps; n++ {
		name := strings.Split(finishing, "\n")[n-1-(steps-done)]
		if !slices.Contains(firsts, name) {
			continue
		}
		for m := 1; ; m++ {
			k.reset()
			k.stopAt(n, stopByKill)
			if over := k.stopBefore(m); over {
				break
			}
			if !finished(t, k.dir, k.outputs[0]) {
				runProgram(t, k.dir, exitBadRecords, k.args...)
			}
			if k.compare(); t.Failed() {
				t.Fatalf("killed after %q, and again after %d steps", name, m)
			}
		}
	}
}

// stopAfter makes the program stop after its nth step and list its steps in a file in its folder.
func stopAfter(cmd *exec.Cmd, n int, how string) {
	cmd.Args[0] = stopping
	cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", stopNumber, n), stopHow+"="+how, stepsFile+"="+filepath.Join(cmd.Dir, "steps"))
}

// TestSecondSignal checks that a first signal waits for current work and a second one does not.
func TestSecondSignal(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "in.jsonl"), documents(3))
	cmd := program(t, dir, "dedup", "-q", "--docs", "1k", "in.jsonl")
	stopAfter(cmd, 1, stopByWaiting)
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

// stopBefore runs the command up to the nth step and reports whether it ended before that.
func (k *killing) stopBefore(n int) (over bool) {
	k.t.Helper()
	cmd := k.command()
	stopAfter(cmd, n, stopByKill)
	start(k.t, cmd)
	_ = cmd.Wait() // killed, or at its end
	code := cmd.ProcessState.ExitCode()
	return code == exitBadRecords || code == exitDone
}

// TestKilledCreation kills index create after each step. The same command then makes the index with
// all its properties, or it is there with them.
func TestKilledCreation(t *testing.T) {
	want := ""
	for n, over := 0, false; !over; n++ { // not killed before step 0
		k := &killing{t: t, dir: indextest.TempDir(t), args: []string{"index", "create", "index", "--docs", "3k", "--window", "2d"}}
		over = k.stopBefore(n) && n > 0
		again := k.command()
		start(t, again)
		_ = again.Wait()
		got, _ := runProgram(t, k.dir, 0, "index", "stats", "--json", "index")
		if want = cmp.Or(want, got); got != want || !strings.Contains(got, `"window"`) {
			t.Errorf("killed after step %d: %s\nthe index is %s\nwant %s", n, again.Stderr, got, want)
		}
	}
}

// stopAt runs the command up to the nth step, or to its end if n is 0, and returns its steps.
func (k *killing) stopAt(n int, how string) []string {
	k.t.Helper()
	_ = os.Remove(filepath.Join(k.dir, "sum.json"+input.PartialSuffix+".1"))
	cmd := k.command()
	stopAfter(cmd, n, how)
	start(k.t, cmd)
	err := cmd.Wait()
	code := cmd.ProcessState.ExitCode()
	said := cmd.Stderr.(*bytes.Buffer).String()
	switch {
	case n == 0 && code == exitBadRecords:
	case n > 0 && how == stopByKill && code == -1:
	case n > 0 && how == stopByError && code == exitFailed && strings.Contains(said, errInjected.Error()):
	default:
		k.t.Fatalf("stopped after step %d by %q: %v\n%s", n, how, err, said)
	}
	return strings.Split(string(k.read("steps")), "\n")
}
