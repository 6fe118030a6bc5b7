//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
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

// arrays writes JSON arrays with copies of each other's records. One has no records, one only
// copies, one is compressed, and one has a bad record.
func arrays(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "in"), 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		var records []string
		for n := range i * 40 % 120 {
			records = append(records, document(i%5*30+n))
		}
		if i == 4 {
			records = append(records, "null")
		}
		text := "[\n  " + strings.Join(records, ",\n  ") + "\n]\n"
		path := filepath.Join(dir, "in", fmt.Sprintf("%d.json", i))
		if i != 2 {
			writeFile(t, path, text)
			continue
		}
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		writeFile(t, path+".gz", packed.String())
	}
}

// TestArraysKilled checks that each output is an array, closed once, however often the run is
// killed. Another number of jobs gives the same bytes.
func TestArraysKilled(t *testing.T) {
	k := &treeKilling{killing: killing{t: t, dir: indextest.TempDir(t), signal: syscall.SIGKILL, rng: rand.New(rand.NewPCG(5, 9))}}
	arrays(t, k.dir)
	k.args = []string{"dedup", "-q", "--docs", "3k", "--checkpoint-bytes", "12k", "--index", "index", "--report", "dups.jsonl", "--out-dir", "out", "in"}
	begun := time.Now()
	runProgram(t, k.dir, exitBadRecords, k.args...)
	k.took = time.Since(begun)
	k.all = k.files()
	k.content = k.indexContent()
	kept := 0
	for i, f := range k.all[:6] {
		data := f.data
		if i == 2 {
			var err error
			if data, err = unpacked(data); err != nil {
				t.Fatal(err)
			}
		}
		var records []struct{ Text string }
		if err := json.Unmarshal(data, &records); err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
		kept += len(records)
	}
	if kept < 100 {
		t.Errorf("only %d records", kept)
	}
	k.reset()
	runProgram(t, k.dir, exitBadRecords, append([]string{"dedup", "-j", "1"}, k.args[1:]...)...)
	k.compare("with one job")
	k.stopSome()
}
