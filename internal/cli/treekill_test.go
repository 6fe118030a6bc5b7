//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// treeInput writes inputs that are hard to resume: copies of each other, bad records, blank lines
// at an end, empty and compressed inputs. Some have no last newline, some are longest by far.
func treeInput(t *testing.T, dir string) {
	t.Helper()
	for i := range 26 {
		var b strings.Builder
		for n := range i * 7 % 9 {
			b.WriteString(document(i*5+n) + "\n")
		}
		switch i % 9 {
		case 1:
			b.WriteString("\n \n\n")
		case 3:
			b.WriteString("{\"id\":\"broken\n")
		case 5:
			b.WriteString(document(10_000 + i))
		case 7:
			for n := range 120 {
				b.WriteString(document(1000*i+n) + "\n")
			}
		}
		folder := filepath.Join(dir, "in", fmt.Sprintf("%d/%d", i/10, i%3))
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, fmt.Sprintf("f%02d.jsonl", i))
		if i%4 != 2 {
			writeFile(t, path, b.String())
			continue
		}
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write([]byte(b.String())); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		writeFile(t, path+".gz", packed.String())
	}
}

// treeKilling is a run over a tree and its expected results.
type treeKilling struct {
	killing
	all     []treeFile
	flags   []string
	content string
}

func newTreeKilling(t *testing.T, flags ...string) *treeKilling {
	k := &treeKilling{killing: killing{t: t, dir: indextest.TempDir(t), signal: syscall.SIGKILL, rng: rand.New(rand.NewPCG(7, uint64(len(flags))))}, flags: flags}
	treeInput(t, k.dir)
	k.args = append([]string{"dedup", "-q", "--docs", "3k", "--checkpoint-bytes", "12k", "--index", "index", "--report", "dups.jsonl", "--out-dir", "out"}, append(flags, "in")...)
	begun := time.Now()
	runProgram(t, k.dir, exitBadRecords, k.args...)
	k.took = time.Since(begun)
	k.all = k.files()
	k.content = k.indexContent()
	k.checkWhole()
	return k
}

func (k *treeKilling) files() []treeFile {
	k.t.Helper()
	files, err := treeFiles(filepath.Join(k.dir, "out"))
	if err != nil {
		k.t.Fatal(err)
	}
	// Files of a run killed before its first checkpoint are put aside, since the index forgot it.
	files = slices.DeleteFunc(files, func(f treeFile) bool { return strings.Contains(f.name, input.PartialSuffix+".") })
	return append(files, treeFile{"dups.jsonl", k.read("dups.jsonl")})
}

// checkWhole compares the undisturbed tree, uncompressed, with the output of --out.
func (k *treeKilling) checkWhole() {
	k.t.Helper()
	args := append([]string{"dedup", "-q", "--docs", "3k", "--out", "all.jsonl", "in"}, slices.DeleteFunc(slices.Clone(k.flags), func(f string) bool { return f != "--annotate" })...)
	runProgram(k.t, k.dir, exitBadRecords, args...)
	var joined []byte
	for _, f := range k.all[:len(k.all)-1] {
		data := f.data
		if strings.HasSuffix(f.name, ".gz") {
			var err error
			if data, err = unpacked(data); err != nil {
				k.t.Fatal(err)
			}
		}
		joined = append(joined, data...)
	}
	if !bytes.Equal(joined, k.read("all.jsonl")) {
		k.t.Fatal("the files of the tree, in the order of the inputs, are not what --out writes")
	}
}

func unpacked(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	_, err = b.ReadFrom(r)
	return b.Bytes(), err
}

func (k *treeKilling) reset() {
	k.t.Helper()
	for _, name := range []string{"index", "out", "dups.jsonl", "dups.jsonl" + input.PartialSuffix} {
		if err := os.RemoveAll(filepath.Join(k.dir, name)); err != nil {
			k.t.Fatal(err)
		}
	}
}

// compare compares the tree and the index with those of an undisturbed run.
func (k *treeKilling) compare(when string) {
	k.t.Helper()
	got := k.files()
	for i, f := range got {
		if i >= len(k.all) || f.name != k.all[i].name || !bytes.Equal(f.data, k.all[i].data) {
			k.t.Fatalf("%s: %s is none of an undisturbed run, or has other bytes", when, f.name)
		}
	}
	if len(got) != len(k.all) {
		k.t.Fatalf("%s: %d files, not %d", when, len(got), len(k.all))
	}
	if k.indexContent() != k.content {
		k.t.Fatalf("%s: the index is not that of an undisturbed run", when)
	}
}

// finish runs the command to its end.
func (k *treeKilling) finish() {
	k.t.Helper()
	runProgram(k.t, k.dir, exitBadRecords, k.args...)
}

// TestTreeKilled kills runs at random instants and repeats the command until it ends. The tree must
// be that of an undisturbed run.
func TestTreeKilled(t *testing.T) {
	arrived := 0
	for _, flags := range [][]string{nil, {"--split", "nonempty", "-j", "1"}, {"--annotate"}} {
		k := newTreeKilling(t, flags...)
		for n := 0; n < *killings || arrived == 0; n++ { // if the load drops, runs end before their kill
			k.reset()
			for tries := 0; ; tries++ {
				cmd := k.command()
				start(t, cmd)
				delay := time.Duration(k.rng.Int64N(int64(k.took))) * time.Duration(2+tries) / 3
				timer := time.AfterFunc(delay, func() { _ = cmd.Process.Kill() })
				err := cmd.Wait()
				timer.Stop()
				if cmd.ProcessState.ExitCode() == exitBadRecords {
					break
				}
				if !cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
					t.Fatalf("attempt %d: %v\n%s", tries, err, cmd.Stderr)
				}
				arrived++
			}
			k.compare("killed at random")
		}
	}
	t.Logf("%d runs were killed", arrived)
}

// TestTreeStopped kills runs after each of their last steps, and after some before. The placed
// outputs and the index must agree.
func TestTreeStopped(t *testing.T) {
	t.Parallel()
	k := newTreeKilling(t)
	k.reset()
	steps := k.stopAt(0, "")
	every := 6
	if testing.Short() {
		every = 14
	}
	if *killings > 1 {
		every = 1
	}
	placed := 0
	for n := 1; n < len(steps); n++ {
		if steps[n-1] == "placed output" {
			placed++
		}
		if n%every != 0 && n < len(steps)-3 {
			continue
		}
		k.reset()
		k.stopAt(n, stopByKill)
		k.stopBefore(n/2 + 1)
		k.finish()
		k.compare(fmt.Sprintf("killed after step %d, %s", n, steps[n-1]))
	}
	if placed < 20 {
		t.Errorf("only %d outputs got their places: the steps are %q", placed, steps)
	}
}
