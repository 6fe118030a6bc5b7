//go:build unix

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestKilledWhileDeriving kills runs at random instants, even while they derive files from their
// reports. The same command then writes the same bytes.
func TestKilledWhileDeriving(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	t.Parallel()
	k := newKilling(t, "", syscall.SIGKILL)
	k.args = append([]string{k.args[0], "--clusters", "clusters.csv.gz", "--pairs", "pairs.jsonl", "--attributes", "tree"}, k.args[1:]...)
	k.outputs = append(k.outputs, "clusters.csv.gz", "pairs.jsonl", "tree/a.jsonl", "tree/b.jsonl")
	remove := func(name string) {
		if err := os.RemoveAll(filepath.Join(k.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	remove("index")
	runProgram(t, k.dir, exitBadRecords, k.args...)
	for _, name := range k.outputs {
		if k.want[name] = k.read(name); len(k.want[name]) < 100 {
			t.Fatalf("%s has only %d bytes", name, len(k.want[name]))
		}
	}
	for n := 0; n < 3**killings || k.arrived == 0; n++ { // if the load drops, runs end before their kill
		k.reset()
		for tries := 0; !k.attempt(tries); tries++ {
		}
		runProgram(t, k.dir, exitBadRecords, k.args...) // the kill may have come after the run
		k.compare()
		for _, name := range k.outputs[3:] {
			writeFile(t, filepath.Join(k.dir, name), "of another report")
		}
	}
}

// TestInterruptedWhileDeriving checks the exit code of a run with bad records. The run is
// unfinished as long as the files derived from its report are missing.
func TestInterruptedWhileDeriving(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "in.jsonl"), documents(3)+"no record\n")
	if err := syscall.Mkfifo(filepath.Join(dir, "pairs.jsonl"), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := program(t, dir, "dedup", "--index", "index", "--docs", "1k", "--report", "report.jsonl", "--pairs", "pairs.jsonl", "in.jsonl")
	start(t, cmd)
	report := filepath.Join(dir, "report.jsonl")
	for _, err := os.Stat(report); err != nil; _, err = os.Stat(report) {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond) // most likely it waits for a reader of the pairs by now
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	exits(t, cmd, exitInterrupted)
	for _, part := range []string{"some records were bad", "run the same command again to make them: interrupted"} {
		if said := cmd.Stderr.(*bytes.Buffer).String(); !strings.Contains(said, part) {
			t.Errorf("it said %q, without %q", said, part)
		}
	}
}

// TestListOfLinesInNames checks that lists refuse a name of two lines: the second may name a file.
func TestListOfLinesInNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.txt", "b\na.txt"} {
		writeFile(t, filepath.Join(dir, name), "The ferry leaves the harbour at seven in the morning.")
	}
	runProgram(t, dir, 0, "dedup", "-q", "--docs", "1k", "--format", "text", "--report", "r.jsonl", ".")
	runProgram(t, dir, 0, "report", "kept", "--format", "text", "r.jsonl", ".", "--out", "kept.txt")
	_, stderr := runProgram(t, dir, 1, "report", "kept", "--format", "text", "--keep", "duplicates", "r.jsonl", ".", "--out", "others.txt")
	if !strings.Contains(stderr, `"b\na.txt" contains a line break`) {
		t.Error(stderr)
	}
}
