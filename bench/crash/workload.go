package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// A workload is a series of commands, run in a folder beside that of the inputs.
type workload struct {
	name string
	// steps run one after the other, each until it ends with its code.
	steps   []step
	outputs []string // compared byte for byte
	// before, if not nil, runs once and undisturbed. Each trial starts from a copy of its folder.
	before     *step
	linked     bool     // the report lies behind a link, and replaces an older one
	rules      []string // flags that decide what is kept
	filterOnly bool
	large      bool // reads c.jsonl before the others
	archives   bool // reads web archives only
}

type step struct {
	args []string
	code int
}

const (
	indexDir    = "index"
	summaryFile = "summary.json"

	done, bad, full = 0, 3, 4 // exit codes
)

// The files read by the workloads; see writeInputs.
var (
	inputs = []string{"../in/a.jsonl", "../in/b.jsonl"}
	gzipIn = []string{"../in/a.jsonl.gz", "../in/b.jsonl.gz"}
	zstdIn = []string{"../in/a.jsonl.zst", "../in/b.jsonl.zst"}
	large  = "../in/c.jsonl"
	// Web archives: compressed by record, and plain.
	warcIn  = []string{"../in/a.warc.gz", "../in/b.warc"}
	outputs = []string{"kept.jsonl", "dups.jsonl", "bad.jsonl"}
)

func ending(names []string, with string) []string {
	names = slices.Clone(names)
	for i := range names {
		names[i] += with
	}
	return names
}

// allOutputs returns a command with all outputs on the index.
func allOutputs(outputs, inputs []string, flags ...string) []string {
	args := append([]string{
		"dedup", "-q", "--index", indexDir, "--out", outputs[0], "--report", outputs[1], "--rejects", outputs[2],
		"--summary", summaryFile,
	}, flags...)
	return append(args, inputs...)
}

func fileWorkloads() []*workload {
	one := func(name string, outputs, inputs []string, flags ...string) *workload {
		return &workload{name: name, outputs: outputs, steps: []step{{allOutputs(outputs, inputs, flags...), bad}}}
	}
	const often, seldom = "--checkpoint-bytes=60k", "--checkpoint-bytes=400k"
	small := "--memtable-keys=1500"
	merges := one("merges", outputs, inputs, "--docs", "3k", often, small)
	slow := one("slow-merges", outputs, append([]string{large}, inputs...), "--docs", "10k", seldom, "--memtable-keys=9000")
	slow.large = true
	growth := one("growth", outputs, inputs, "--docs", "20", often, small)
	gzip := one("gzip", ending(outputs, ".gz"), gzipIn, "--docs", "3k", often, small, "-j", "2")
	zstd := one("zstd", ending(outputs, ".zst"), zstdIn, "--docs", "3k", seldom, "--method=segments:mosaics=remove")
	zstd.rules = []string{"--method=segments:mosaics=remove"}
	annotate := one("annotate", outputs, inputs, "--docs", "3k", often, "--annotate")
	linked := one("linked", outputs, inputs, "--docs", "3k", seldom)
	linked.linked = true
	keyed := one("keyed", outputs, inputs, "--docs", "3k", often, small)
	keyed.before = &step{[]string{"index", "create", indexDir, "--docs", "3k", "--key"}, done}
	// A filter that takes a while to write makes the end long.
	finish := one("finish", outputs, inputs, "--memory", "48MiB")
	second := one("second", outputs, inputs, "--docs", "3k", often, small)
	second.before = &step{[]string{"dedup", "-q", "--index", indexDir, "--docs", "3k", small, inputs[0]}, bad}
	stop := &workload{name: "full", outputs: outputs, steps: []step{
		{allOutputs(outputs, inputs, "--docs", "100", often, small, "--limit", "full=stop"), full},
		{allOutputs(outputs, inputs, "--docs", "3k", often, small, "--limit", "full=stop"), bad},
	}}
	filterOnly := one("filter-only", outputs, inputs, "--memory", "4MiB", "--filter-only")
	filterOnly.filterOnly = true
	// One worker has the largest blocks, and yet some records are longer.
	warc := one("warc", []string{"kept.warc.gz", "dups.jsonl", "bad.jsonl"}, warcIn, "--docs", "3k", often, small)
	revisit := one("revisit", []string{"kept.warc.gz", "dups.jsonl", "bad.jsonl"}, warcIn, "--docs", "3k", often, small, "--format=warc:revisit,near=keep", "-j", "2")
	warc.archives, revisit.archives = true, true
	passages := one("passages", outputs, inputs, "--docs", "3k", often, small, "--passages=14", "-j", "2")
	// With compressed inputs, the texts of the previous process are read again.
	passagesGzip := one("passages-gzip", outputs, gzipIn, "--docs", "3k", often, small, "--passages=14", "--method=segments:consumed=remove")
	passages.rules, passagesGzip.rules = []string{"--passages=14"}, []string{"--passages=14", "--method=segments:consumed=remove"}
	all := []*workload{merges, slow, growth, gzip, zstd, annotate, linked, keyed, finish, second, stop, filterOnly, warc, revisit, passages, passagesGzip}
	for _, method := range []string{"exact", "shingles", "simhash"} {
		w := one(method, outputs, inputs, "--docs", "3k", often, small, "--method="+method)
		w.rules = []string{"--method=" + method}
		all = append(all, w)
	}
	return all
}

// choose returns the workloads of that name, or all.
func choose(all []*workload, name string) ([]*workload, error) {
	if name == "" {
		return all, nil
	}
	var names []string
	for _, w := range all {
		if w.name == name {
			return []*workload{w}, nil
		}
		names = append(names, w.name)
	}
	return nil, fmt.Errorf("no workload %q among %v", name, names)
}

// againFile has no extension, so it may hold records of any format.
const againFile = "again"

// again returns the command that must keep nothing once all is over.
func (w *workload) again() []string {
	args := []string{"dedup", "-q", "--index", indexDir, "--out", againFile}
	args = append(args, w.rules...)
	if w.filterOnly {
		args = append(args, "--filter-only")
	}
	switch {
	case w.archives:
		return append(args, warcIn...)
	case w.large:
		args = append(args, large)
	}
	return append(args, inputs...)
}

// setUp makes the folder of a trial.
func (w *workload) setUp(root, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if w.before != nil {
		if err := os.CopyFS(filepath.Join(dir, indexDir), os.DirFS(filepath.Join(root, w.name+"-before", indexDir))); err != nil {
			return err
		}
	}
	if !w.linked {
		return nil
	}
	older := filepath.Join(dir, "older")
	if err := os.Mkdir(older, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(older, "report"), []byte("an older report\n"), 0o666); err != nil {
		return err
	}
	return os.Symlink(filepath.Join("older", "report"), filepath.Join(dir, w.outputs[1]))
}
