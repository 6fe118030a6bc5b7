//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestKilledWhileDeriving kills runs at random instants, also while files are made of their
// reports: the same command makes them, with the same bytes.
func TestKilledWhileDeriving(t *testing.T) {
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
	for range 3 * *killings {
		k.reset()
		for tries := 0; !k.attempt(tries); tries++ {
		}
		runProgram(t, k.dir, exitBadRecords, k.args...) // it was killed after the run, perhaps
		k.compare()
		for _, name := range k.outputs[3:] {
			writeFile(t, filepath.Join(k.dir, name), "of another report")
		}
	}
	if k.arrived == 0 {
		t.Error("no run was killed: all ended too early")
	}
}
