//go:build unix

package cli

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

var killings = flag.Int("killings", 1, "kill this many times as many runs")

// TestKilled kills runs at random instants and repeats the same command until it ends. All files
// must then have the bytes of an undisturbed run.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	t.Parallel()
	arrived := 0
	for _, c := range []struct {
		name, ending string
		signal       os.Signal
		runs         int
	}{
		{"plain", "", syscall.SIGKILL, 6},
		{"gzip", ".gz", syscall.SIGKILL, 3},
		{"zstd", ".zst", syscall.SIGKILL, 3},
		{"interrupted", ".zst", syscall.SIGINT, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newKilling(t, c.ending, c.signal)
			for range c.runs * *killings {
				k.run()
			}
			arrived += k.arrived
		})
	}
	if arrived == 0 {
		t.Error("no run was killed: all ended too early")
	}
}

// killing is a command, its expected results and the signals sent to it.
type killing struct {
	t       *testing.T
	dir     string
	stdin   string // a file, "" for none
	args    []string
	outputs []string
	want    map[string][]byte
	content string
	took    time.Duration
	rng     *rand.Rand
	signal  os.Signal
	arrived int // signals that ended a process
}

func newKilling(t *testing.T, ending string, signal os.Signal) *killing {
	k := &killing{
		t: t, dir: indextest.TempDir(t), signal: signal, want: map[string][]byte{},
		outputs: []string{"kept.jsonl" + ending, "dups.jsonl" + ending, "bad.jsonl" + ending},
		rng:     rand.New(rand.NewPCG(uint64(len(ending)), 1)),
	}
	resumeInput(t, k.dir)
	k.args = []string{
		"dedup", "-q", "--docs", "3k", "--checkpoint-bytes", "60k", "--index", "index",
		"--out", k.outputs[0], "--report", k.outputs[1], "--rejects", k.outputs[2], "a.jsonl", "b.jsonl",
	}
	start := time.Now()
	runProgram(t, k.dir, exitBadRecords, k.args...)
	k.took = time.Since(start)
	for _, name := range k.outputs {
		k.want[name] = k.read(name)
	}
	k.content = k.indexContent()
	return k
}

func (k *killing) read(name string) []byte {
	k.t.Helper()
	data, err := os.ReadFile(filepath.Join(k.dir, name))
	if err != nil {
		k.t.Fatal(err)
	}
	return data
}

func (k *killing) indexContent() string {
	k.t.Helper()
	content, err := indexContent(filepath.Join(k.dir, "index"))
	if err != nil {
		k.t.Fatal(err)
	}
	return content
}

// run repeats the command until it ends, however often it is killed, and compares the results.
func (k *killing) run() {
	k.t.Helper()
	k.reset()
	for tries := 0; !k.attempt(tries); tries++ {
	}
	k.compare()
}

// command returns the command with its standard input.
func (k *killing) command() *exec.Cmd {
	k.t.Helper()
	cmd := program(k.t, k.dir, k.args...)
	if k.stdin != "" {
		f, err := os.Open(k.stdin)
		if err != nil {
			k.t.Fatal(err)
		}
		k.t.Cleanup(func() { f.Close() })
		cmd.Stdin = f
	}
	return cmd
}

// reset removes the files of the previous run.
func (k *killing) reset() {
	k.t.Helper()
	if err := os.RemoveAll(filepath.Join(k.dir, "index")); err != nil {
		k.t.Fatal(err)
	}
	for _, name := range k.outputs {
		if err := os.Remove(filepath.Join(k.dir, name)); err != nil {
			k.t.Fatal(err)
		}
	}
	// The report replaces the target of a link.
	writeFile(k.t, filepath.Join(k.dir, "real"), "an older report")
	if err := os.Symlink("real", filepath.Join(k.dir, k.outputs[1])); err != nil {
		k.t.Fatal(err)
	}
}

// compare compares the files and the index with those of an undisturbed run.
func (k *killing) compare() {
	k.t.Helper()
	for _, name := range k.outputs {
		if got := k.read(name); !bytes.Equal(got, k.want[name]) {
			k.t.Fatalf("%s has %d bytes, not the %d of a run that was not killed, or others", name, len(got), len(k.want[name]))
		}
	}
	if k.indexContent() != k.content {
		k.t.Fatal("the index is not that of a run that was not killed")
	}
	// The filter must also know all kept documents.
	runProgram(k.t, k.dir, exitBadRecords, "dedup", "-q", "--index", "index", "--out", "again.jsonl", "a.jsonl", "b.jsonl")
	if again := k.read("again.jsonl"); len(again) > 0 {
		k.t.Fatalf("a second run keeps %d bytes, of documents that the first has kept", len(again))
	}
}

// attempt starts the command and sends it the signal at a random instant. Later attempts wait
// longer, so that one ends at last. attempt reports whether the run is over.
func (k *killing) attempt(tries int) (over bool) {
	k.t.Helper()
	cmd := k.command()
	start(k.t, cmd)
	delay := time.Duration(k.rng.Int64N(int64(k.took))) * time.Duration(2+tries) / 4
	timer := time.AfterFunc(delay, func() { _ = cmd.Process.Signal(k.signal) })
	err := cmd.Wait()
	timer.Stop()
	code := cmd.ProcessState.ExitCode()
	switch {
	case code == exitBadRecords:
		return true
	case code == exitInterrupted && k.signal == os.Interrupt:
	case cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled():
	default:
		k.t.Fatalf("attempt %d: %v\n%s", tries, err, cmd.Stderr)
	}
	k.arrived++
	return finished(k.t, k.dir, k.outputs[0])
}
