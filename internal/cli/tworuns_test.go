//go:build unix

package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// twoRuns holds two commands that write the same output.
type twoRuns struct {
	t     *testing.T
	dir   string
	texts [2]string // of the inputs, whose documents are all kept
}

func newTwoRuns(t *testing.T, n int) *twoRuns {
	r := &twoRuns{t: t, dir: indextest.TempDir(t)}
	all := strings.SplitAfter(documents(2*n), "\n")
	r.texts = [2]string{strings.Join(all[:n], ""), strings.Join(all[n:], "")}
	writeFile(t, filepath.Join(r.dir, "in0.jsonl"), r.texts[0])
	writeFile(t, filepath.Join(r.dir, "in1.jsonl"), r.texts[1])
	return r
}

func (r *twoRuns) out() string { return readFile(r.t, filepath.Join(r.dir, "kept.jsonl")) }

const busyMessage = "kept.jsonl.partial: another run is writing it; wait for it to end, or choose another name"

// TestSecondRunIsRefused starts a second run while the first has its output. The second says so and
// leaves no trace, whichever output is taken.
func TestSecondRunIsRefused(t *testing.T) {
	for _, flags := range [][]string{
		{"--out", "kept.jsonl"},
		{"--out", "else.jsonl", "--report", "kept.jsonl"},
		{"--out", "else.jsonl", "--rejects", "link.jsonl"},
		{"--report", "else.jsonl", "--summary", "kept.jsonl"},
	} {
		r := newTwoRuns(t, 50)
		indextest.Must(t, os.Symlink("kept.jsonl", filepath.Join(r.dir, "link.jsonl")))
		cmd := program(t, r.dir, "dedup", "-q", "--docs", "1k", "--out", "kept.jsonl", "--report", "-", "-")
		in, out := startPiped(t, cmd)
		// The answer to a duplicate shows that the outputs are open.
		line := document(0) + "\n"
		give(t, in, line+line)
		_, err := out.ReadString('\n')
		indextest.Must(t, err)
		_, said := runProgram(t, r.dir, exitFailed, append([]string{"dedup", "-q", "--docs", "1k", "in1.jsonl"}, flags...)...)
		if !strings.Contains(said, busyMessage) {
			t.Errorf("%q said %q", flags, said)
		}
		if left, err := filepath.Glob(filepath.Join(r.dir, "else*")); len(left) > 0 || err != nil {
			t.Errorf("%q left %q, %v", flags, left, err)
		}
		give(t, in, strings.TrimPrefix(r.texts[0], line))
		in.Close()
		exits(t, cmd, exitDone)
		if r.out() != r.texts[0] {
			t.Errorf("%q tore the output of the first run", flags)
		}
	}
}

// TestTwoRunsAtOnce starts two runs with one output, the second at random instants of the first.
// Each is refused, or its output was whole when it ended.
func TestTwoRunsAtOnce(t *testing.T) {
	takesSeconds(t)
	t.Parallel()
	r := newTwoRuns(t, 3000)
	rng := rand.New(rand.NewPCG(3, 1))
	began := time.Now()
	runProgram(t, r.dir, exitDone, "dedup", "-q", "--docs", "5k", "--out", "kept.jsonl", "in0.jsonl")
	took := time.Since(began)
	const times = 8
	refused := 0
	// If the load drops after the measurement, most second runs come too late to meet a first one.
	for n := 0; n < times || refused == 0 && n < 10*times; n++ {
		indextest.Must(t, os.Remove(filepath.Join(r.dir, "kept.jsonl")))
		first := program(t, r.dir, "dedup", "-q", "--docs", "5k", "--out", "kept.jsonl", "in0.jsonl")
		second := program(t, r.dir, "dedup", "-q", "--docs", "5k", "--out", "kept.jsonl", "in1.jsonl")
		start(t, first)
		<-time.After(time.Duration(rng.Int64N(int64(took))))
		start(t, second)
		var done []int
		for i, cmd := range []*exec.Cmd{first, second} {
			if cmd.Wait() == nil {
				done = append(done, i)
			}
			if said := fmt.Sprint(cmd.Stderr); said != "" {
				refused++
				if !strings.Contains(said, busyMessage) {
					t.Fatalf("one said %q", said)
				}
			}
		}
		switch got := r.out(); {
		case len(done) == 0:
			t.Fatal("each was refused for the other")
		case len(done) == 1 && got != r.texts[done[0]]:
			t.Fatalf("the output of %d bytes is not that of the one run that ended well, of %d", len(got), len(r.texts[done[0]]))
		case got != r.texts[0] && got != r.texts[1]:
			t.Fatalf("the output of %d bytes is of neither run", len(got))
		}
		if left, err := filepath.Glob(filepath.Join(r.dir, "kept.jsonl.*")); len(left) > 0 || err != nil {
			t.Fatalf("left: %q, %v", left, err)
		}
	}
	if refused == 0 {
		t.Error("none met the other: nothing was tested")
	}
}
