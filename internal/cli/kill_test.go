//go:build unix

package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

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

// TestKilled stops runs in each way that the program can end, at steps of each kind, and twice. The
// same command then ends as if nothing had happened. The pipeline and the index are stopped at each
// step by their own tests.
func TestKilled(t *testing.T) {
	t.Parallel()
	k := newKilling(t)
	plain := k.args
	for _, more := range [][]string{nil, {"--summary", "sum.json"}} { // a summary comes after the outputs
		k.args = append(slices.Clip(plain), more...)
		all := k.steps("0", "")
		k.compare()
		k.reset()
		want := slices.DeleteFunc(strings.Split(finishing, "\n"), func(s string) bool { return more == nil && strings.Contains(s, "sum.json") })
		if len(all) < len(want) || !slices.Equal(all[len(all)-len(want):], want) {
			t.Fatalf("the steps are\n%s\nand shall end in\n%s", strings.Join(all, "\n"), strings.Join(want, "\n"))
		}
	}
	for _, c := range []struct {
		name, how string
		times     int            // the continued run comes to some steps again
		signal    syscall.Signal // that ends the process, 0 for none
		code      int            // of its exit, if there is no signal
	}{
		{"took checkpoint", stopByKill, 2, syscall.SIGKILL, 0},
		{"took checkpoint", stopByInterrupt, 2, 0, exitInterrupted},
		{"renamed real.partial", stopByKill, 1, syscall.SIGKILL, 0},
		{"named sum.json", stopByError, 1, 0, exitFailed},
		{"renamed filter.bloom.tmp", stopByError, 1, 0, exitFailed},
		{"saved the filter", stopByKill, 1, syscall.SIGKILL, 0},
	} {
		for range c.times {
			cmd := program(t, k.dir, k.args...)
			stopAfter(cmd, c.name, c.how)
			start(t, cmd)
			_ = cmd.Wait()
			status := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if ended := status.Signaled() && status.Signal() == c.signal || c.signal == 0 && status.ExitStatus() == c.code; !ended {
				t.Fatalf("%s after %s: %v\n%s", c.how, c.name, cmd.ProcessState, cmd.Stderr)
			}
		}
		runProgram(t, k.dir, exitBadRecords, k.args...)
		k.compare()
		for _, name := range append([]string{"real"}, k.outputs...) {
			if left, err := filepath.Glob(filepath.Join(k.dir, name+input.PartialSuffix+"*")); len(left) > 0 || err != nil {
				t.Errorf("%s after %s: %q are left, %v", c.how, c.name, left, err)
			}
		}
		k.reset()
	}
}

// killing is a command and its expected results.
type killing struct {
	t       *testing.T
	dir     string
	args    []string
	outputs []string
	want    map[string][]byte
	content string
}

func newKilling(t *testing.T) *killing {
	k := &killing{
		t: t, dir: indextest.TempDir(t), want: map[string][]byte{},
		outputs: []string{"kept.jsonl.zst", "dups.jsonl.zst", "bad.jsonl.zst"},
	}
	resumeInput(t, k.dir)
	k.args = []string{
		"dedup", "-q", "--docs", "3k", "--checkpoint-bytes", "30k", "--index", "index",
		"--out", k.outputs[0], "--report", k.outputs[1], "--rejects", k.outputs[2], "a.jsonl", "b.jsonl",
	}
	runProgram(t, k.dir, exitBadRecords, k.args...)
	for _, name := range k.outputs {
		k.want[name] = k.read(name)
	}
	var err error
	k.content, err = indexContent(filepath.Join(k.dir, "index"))
	indextest.Must(t, err)
	k.reset()
	return k
}

// resumeInput writes inputs that are hard to resume: near and exact copies far from their source,
// bad records, blank lines, two files and no final newline.
func resumeInput(t *testing.T, dir string) {
	t.Helper()
	var b strings.Builder
	b.WriteString(readFile(t, guide))
	for i := range 300 {
		b.WriteString(document(i) + "\n")
		switch {
		case i%50 == 7:
			fmt.Fprintf(&b, "{\"id\":\"bad %d\",\n", i)
		case i%50 == 9:
			b.WriteString("\n")
		case i%10 == 3:
			b.WriteString(document(i/2) + "\n")
		}
	}
	writeFile(t, filepath.Join(dir, "a.jsonl"), b.String())
	writeFile(t, filepath.Join(dir, "b.jsonl"), b.String()[:b.Len()/2]+strings.TrimSuffix(documents(350), "\n"))
}

func (k *killing) read(name string) []byte {
	k.t.Helper()
	data, err := os.ReadFile(filepath.Join(k.dir, name))
	indextest.Must(k.t, err)
	return data
}

// reset removes the files of the previous run.
func (k *killing) reset() {
	k.t.Helper()
	indextest.Must(k.t, os.RemoveAll(filepath.Join(k.dir, "index")))
	for _, name := range k.outputs {
		indextest.Must(k.t, os.Remove(filepath.Join(k.dir, name)))
	}
	// The report replaces the target of a link.
	writeFile(k.t, filepath.Join(k.dir, "real"), "an older report")
	indextest.Must(k.t, os.Symlink("real", filepath.Join(k.dir, k.outputs[1])))
}

// compare compares the files and the index with those of an undisturbed run.
func (k *killing) compare() {
	k.t.Helper()
	for _, name := range k.outputs {
		if got := k.read(name); !bytes.Equal(got, k.want[name]) {
			k.t.Fatalf("%s has %d bytes, not the %d of a run that was not killed, or others", name, len(got), len(k.want[name]))
		}
	}
	if content, err := indexContent(filepath.Join(k.dir, "index")); content != k.content || err != nil {
		k.t.Fatalf("the index is not that of a run that was not killed, %v", err)
	}
	// The filter must also know all kept documents.
	runProgram(k.t, k.dir, exitBadRecords, "dedup", "-q", "--index", "index", "--out", "again.jsonl", "a.jsonl", "b.jsonl")
	if again := k.read("again.jsonl"); len(again) > 0 {
		k.t.Fatalf("a second run keeps %d bytes, of documents that the first has kept", len(again))
	}
}

// stopAfter makes the program stop after a step, named or with a number from 1, and list its steps
// in a file in its folder.
func stopAfter(cmd *exec.Cmd, at, how string) {
	cmd.Args[0] = stopping
	cmd.Env = append(cmd.Env, stopStep+"="+at, stopHow+"="+how, stepsFile+"="+filepath.Join(cmd.Dir, "steps"))
}

// steps runs the command up to a step, or to its end, and returns its steps.
func (k *killing) steps(at, how string) []string {
	k.t.Helper()
	cmd := program(k.t, k.dir, k.args...)
	stopAfter(cmd, at, how)
	start(k.t, cmd)
	_ = cmd.Wait() // killed, or at its end
	return strings.Split(string(k.read("steps")), "\n")
}

// TestKilledCreation kills index create after each step. The same command then makes the index with
// all its properties, or it is there with them.
func TestKilledCreation(t *testing.T) {
	t.Parallel()
	k := &killing{t: t, dir: indextest.TempDir(t), args: []string{"index", "create", "index", "--docs", "3k", "--window", "2d"}}
	all := k.steps("0", "")
	want := ""
	for _, name := range append([]string{""}, all...) {
		indextest.Must(t, os.RemoveAll(filepath.Join(k.dir, "index")))
		if name != "" {
			k.steps(name, stopByKill)
		}
		again := program(t, k.dir, k.args...)
		start(t, again)
		_ = again.Wait()
		got, _ := runProgram(t, k.dir, 0, "index", "stats", "--json", "index")
		if want = cmp.Or(want, got); got != want || !strings.Contains(got, `"window"`) {
			t.Errorf("killed after %q: %s\nthe index is %s\nwant %s", name, again.Stderr, got, want)
		}
	}
}
