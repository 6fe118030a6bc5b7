//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// tables writes tables with copies of each other's rows. One has no rows, and one is compressed.
func tables(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "in"), 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		var b strings.Builder
		fmt.Fprintf(&b, "text,id,\"column\n%d\"\r\n", i)
		for n := range i * 40 % 120 {
			fmt.Fprintf(&b, "\"%s\",%d-%d,\"a\nb\"\r\n", strings.ReplaceAll(document(i*30+n), `"`, `""`), i, n)
		}
		if i == 4 {
			b.WriteString("one field\r\n")
		}
		path := filepath.Join(dir, "in", fmt.Sprintf("%d.csv", i))
		if i != 2 {
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

// TestTablesKilled checks that each output has its header once, however often the run is killed.
// Another number of jobs gives the same bytes, also with verdicts in columns.
func TestTablesKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	t.Parallel()
	t.Run("kept", func(t *testing.T) { tablesKilled(t, "") })
	t.Run("annotated", func(t *testing.T) { tablesKilled(t, ",firstseen_verdict,firstseen_of,firstseen_score", "--annotate") })
}

func tablesKilled(t *testing.T, added string, flags ...string) {
	k := &treeKilling{killing: killing{t: t, dir: indextest.TempDir(t), signal: syscall.SIGKILL, rng: rand.New(rand.NewPCG(5, 8))}}
	tables(t, k.dir)
	k.args = []string{"dedup", "-q", "--docs", "3k", "--checkpoint-bytes", "12k", "--format", "csv", "--index", "index", "--report", "dups.jsonl", "--out-dir", "out", "in"}
	k.args = append(k.args, flags...)
	begun := time.Now()
	runProgram(t, k.dir, exitBadRecords, k.args...)
	k.took = time.Since(begun)
	k.all = k.files()
	k.content = k.indexContent()
	for i, f := range k.all[:6] {
		data := f.data
		if i == 2 {
			var err error
			if data, err = unpacked(data); err != nil {
				t.Fatal(err)
			}
		}
		if head := fmt.Sprintf("text,id,\"column\n%d\"%s\r\n", i, added); !bytes.HasPrefix(data, []byte(head)) || bytes.Count(data, []byte("column")) != 1 {
			t.Errorf("%s: %.60q", f.name, data)
		}
	}
	k.reset()
	runProgram(t, k.dir, exitBadRecords, append([]string{"dedup", "-j", "1"}, k.args[1:]...)...)
	k.compare("with one job")
	k.stopSome()
}

// stopSome kills runs after some of their steps, then once more, and lets them finish.
func (k *treeKilling) stopSome() {
	k.t.Helper()
	k.reset()
	steps := k.stopAt(0, "")
	for n := 1; n < len(steps); n += len(steps)/5 + 1 {
		k.reset()
		k.stopAt(n, stopByKill)
		k.stopBefore(n/2 + 1)
		k.finish()
		k.compare(fmt.Sprintf("killed after step %d, %s", n, steps[n-1]))
	}
}
