//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestBulkIndex compares the index and the report of decisions over shards with those of one run over
// their inputs, in English and Chinese: with any number of processors, beside an earlier index, and
// killed after steps of each kind and continued.
func TestBulkIndex(t *testing.T) {
	takesSeconds(t)
	t.Parallel()
	dir := indextest.TempDir(t)
	resumeInput(t, dir)
	writeFile(t, filepath.Join(dir, "old.jsonl"), document(5)+"\n"+document(77)+"\n")
	runProgram(t, dir, 0, "dedup", "-q", "--docs", "3k", "--index", "old", "old.jsonl")
	runProgram(t, dir, exitBadRecords, "bulk", "features", "--out", "f", "--shard", "1/3", "a.jsonl")
	runProgram(t, dir, 0, "bulk", "features", "--out", "f", "--shard", "2/3", "old.jsonl")
	runProgram(t, dir, exitBadRecords, "bulk", "features", "--out", "f", "--shard", "3/3", "b.jsonl")
	for _, more := range [][]string{nil, {"--against", "old"}} {
		in := append([]string{"dedup", "-q", "--docs", "3k", "--index", "want", "--report", "want.jsonl"}, more...)
		runProgram(t, dir, exitBadRecords, append(in, "a.jsonl", "old.jsonl", "b.jsonl")...)
		report, content := decided(t, dir, "want")
		if strings.Count(report, "\n") < 200 {
			t.Fatalf("the report is short:\n%s", report)
		}
		b := &bulkIndex{t: t, dir: dir, report: report, content: content}
		for _, jobs := range []string{"1", "2", "64"} {
			b.args = append([]string{"bulk", "decide", "-q", "--index", "got", "--report", "got.jsonl", "--checkpoint-bytes", "30k", "-j", jobs}, more...)
			b.args = append(b.args, "f")
			runProgram(t, dir, 0, b.args...)
			b.compare("-j " + jobs)
		}
		b.remove("want")
		if more != nil {
			b.kill()
		}
	}
}

// bulkIndex is a decision over shards with its expected results.
type bulkIndex struct {
	t               *testing.T
	dir             string
	args            []string
	report, content string
}

// kill kills the decision twice after steps of each kind. Another command is refused meanwhile, and
// the decision goes on at its last checkpoint.
func (b *bulkIndex) kill() {
	b.args = append(b.args, "--summary", "sum.json")
	for _, at := range []string{"took checkpoint", "synced outputs", "renamed got.jsonl.partial", "saved the filter", "40"} {
		for range 2 {
			cmd := program(b.t, b.dir, b.args...)
			stopAfter(cmd, at, stopByKill)
			start(b.t, cmd)
			_ = cmd.Wait()
		}
		first := at == "took checkpoint"
		if first {
			_, stderr := runProgram(b.t, b.dir, 1, "dedup", "--index", "got", "a.jsonl")
			if !strings.Contains(stderr, "interrupted") {
				b.t.Errorf("another command says %s", stderr)
			}
		}
		runProgram(b.t, b.dir, 0, b.args...)
		if summary, err := os.ReadFile(filepath.Join(b.dir, "sum.json")); first && (err != nil || !strings.Contains(string(summary), `"resumed": true`)) {
			b.t.Errorf("killed after a checkpoint, it started over: %s, %v", summary, err)
		}
		b.compare("killed after " + at)
	}
}

func (b *bulkIndex) compare(what string) {
	b.t.Helper()
	report, content := decided(b.t, b.dir, "got")
	if report != b.report {
		b.t.Fatalf("%s: the report of %d bytes is not that of a run, of %d", what, len(report), len(b.report))
	}
	if content != b.content {
		b.t.Fatalf("%s: the index is not that of a run", what)
	}
	if left, _ := filepath.Glob(filepath.Join(b.dir, "*.partial*")); len(left) > 0 {
		b.t.Fatalf("%s: %q are left", what, left)
	}
	b.remove("got")
}

func (b *bulkIndex) remove(name string) {
	indextest.Must(b.t, os.RemoveAll(filepath.Join(b.dir, name)))
	indextest.Must(b.t, os.Remove(filepath.Join(b.dir, name+".jsonl")))
}

var samples = regexp.MustCompile(`,"sample":\[[^\n]*?\],"`)

// decided returns a report without quotations, which features do not have, and the content of an index.
func decided(t *testing.T, dir, name string) (report, content string) {
	t.Helper()
	content, err := indexContent(filepath.Join(dir, name))
	indextest.Must(t, err)
	return samples.ReplaceAllString(readFile(t, filepath.Join(dir, name+".jsonl")), `,"`), content
}
