package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/step"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// told is a run over files that can be stopped and restarted.
type told struct {
	t       *testing.T
	dir     string
	command Job
	format  jsonl.Format
	alone   bool // the index has no table

	reads    corpus.Format   // unless nil, instead of format
	encoding corpus.Encoding // of the inputs
	workers  int             // 0: one
}

var errStopped = errors.New("stopped by a test")

func newTold(t *testing.T) *told {
	t.Helper()
	dir := t.TempDir()
	var lines strings.Builder
	for n := range 60 {
		fmt.Fprintf(&lines, "{\"id\":\"%d\",\"text\":%q}\n", n, indextest.Sentences(n%30))
		if n%20 == 7 {
			lines.WriteString("no document\n")
		}
	}
	r := &told{t: t, dir: dir}
	for _, name := range []string{"a.jsonl", "b.jsonl"} {
		indextest.Must(t, os.WriteFile(r.path(name), []byte(lines.String()), 0o666))
	}
	inputs, _, err := input.Expand([]string{r.path("a.jsonl"), r.path("b.jsonl")}, jsonl.Format{}.Endings())
	indextest.Must(t, err)
	r.command = Job{
		Args: []string{"a.jsonl", "b.jsonl"}, Inputs: inputs, Choices: Choices{Format: "jsonl"},
		Out: r.path("kept.jsonl"), Report: r.path("report.jsonl"), Rejects: r.path("bad.jsonl"),
		Now: func() time.Time { return time.Unix(1700000000, 0) },
	}
	return r
}

func (r *told) path(name string) string { return filepath.Join(r.dir, name) }

// open opens the index and its ledger, as a process does.
func (r *told) open() (*index.Index, *Ledger, error) {
	x, err := index.Open(context.Background(), r.path("index"), index.Options{Key: index.KeyAsIs, Shape: bloomstore.ForItems(4000), UUID: [16]byte{1}, FilterOnly: r.alone})
	if err != nil {
		return nil, nil, err
	}
	l, err := OpenLedger(x, &r.command)
	if err != nil {
		return nil, nil, errors.Join(err, x.Close())
	}
	return x, l, nil
}

// run acts as one process: it begins the run or continues it.
func (r *told) run() (err error) {
	x, l, err := r.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	if over, _, err := l.Completed(); over != nil || err != nil {
		return err
	}
	job := Job{
		Scheme: x.Scheme(), Workers: cmp.Or(r.workers, 1), MaxBad: -1, CheckpointBytes: 5000,
		Now: r.command.Now, Save: l.Save, Choices: r.command.Choices,
	}
	source := corpus.SourceConfig{Encoding: r.encoding}
	if l.Unfinished() != nil {
		if job.Resume, err = l.Continue(); err != nil {
			return err
		}
		at := job.Resume.At
		source.SkipInputs, source.SkipTo, source.SkipSum = at.Input, at.At, at.Sum
	}
	if job.Outputs, err = l.OpenOutputs(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, job.Outputs.Abort()) }()
	format := r.reads
	if format == nil {
		format = r.format
	}
	job.Source = corpus.NewSource(r.command.Inputs, format, source)
	if _, err := Run(context.Background(), x, job); err != nil {
		return err
	}
	if err := job.Outputs.Close(); err != nil {
		return err
	}
	return l.Note(nil)
}

// stopAfter runs with the nth step failing, which leaves the same state as a kill.
func (r *told) stopAfter(n int) (name string, err error) {
	step.Hook = func(s string) error {
		if n--; n == 0 {
			name = s
			return errStopped
		}
		return nil
	}
	defer func() { step.Hook = nil }()
	return name, r.run()
}

// files returns the outputs and the partial files left, by name.
func (r *told) files() map[string]string {
	r.t.Helper()
	all := map[string]string{}
	for _, name := range r.command.names() {
		for _, name := range []string{name, name + input.PartialSuffix} {
			data, err := os.ReadFile(name)
			if !errors.Is(err, fs.ErrNotExist) {
				indextest.Must(r.t, err)
				all[filepath.Base(name)] = strings.ReplaceAll(string(data), r.dir, "")
			}
		}
	}
	if tree := r.command.Tree; tree != nil {
		indextest.Must(r.t, filepath.WalkDir(tree.Dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if strings.Contains(path, input.PartialSuffix+".") {
				return err // put aside by a run that was stopped before its first checkpoint
			}
			all[strings.TrimPrefix(path, r.dir)] = string(data)
			return err
		}))
	}
	return all
}

// remembered counts the set bits of the filter and the documents of the table. The two must match.
func (r *told) remembered() (bits uint64, docs uint32) {
	r.t.Helper()
	x, l, err := r.open()
	indextest.Must(r.t, err)
	if x.Rebuilt() != "" || l.Unfinished() != nil {
		r.t.Errorf("rebuilt: %q, unfinished: %+v", x.Rebuilt(), l.Unfinished())
	}
	bits = x.Filter().Ones()
	if s := x.TableStats(); s != nil {
		docs = s.Documents
	}
	indextest.Must(r.t, x.Close())
	return bits, docs
}

func (r *told) reset() {
	r.t.Helper()
	indextest.Must(r.t, os.RemoveAll(r.path("index")))
	if r.command.Tree != nil {
		indextest.Must(r.t, os.RemoveAll(r.command.Tree.Dir))
	}
	for _, name := range r.command.names() {
		if name == "" {
			continue
		}
		all, err := filepath.Glob(name + "*")
		indextest.Must(r.t, err)
		for _, name := range all {
			indextest.Must(r.t, os.Remove(name))
		}
	}
}

// TestStoppedBetweenSteps stops a run after each of its steps, stops its continuation once more,
// and repeats it until it is over. The end must be that of an undisturbed run. Without a table
// nothing is remembered before the end, and the run begins anew.
func TestStoppedBetweenSteps(t *testing.T) {
	r := newTold(t)
	checkStopped(t, r, 30, "synced outputs", "took checkpoint", "named kept.jsonl", "saved the filter", "noted the end", "ended")
}

func TestStoppedBetweenStepsAlone(t *testing.T) {
	r := newTold(t)
	r.alone = true
	checkStopped(t, r, 8, "synced outputs", "named kept.jsonl", "named report.jsonl", "saved the filter", "ended")
}

// checkStopped stops r after each of its steps, at least least, and expects the named ones among
// them.
func checkStopped(t *testing.T, r *told, least int, names ...string) {
	indextest.Must(t, r.run())
	if want := r.files(); want["kept.jsonl"] == "" || want["bad.jsonl"] == "" || want["report.jsonl"] == "" {
		t.Fatal("an output is empty")
	}
	checkStoppedEvery(t, r, 1, least, names...)
}

// checkStoppedEvery does the same with a run that is over, after every nth of its steps.
func checkStoppedEvery(t *testing.T, r *told, every, least int, names ...string) {
	t.Helper()
	want := r.files()
	bits, docs := r.remembered()
	seen := map[string]bool{}
	for n := 1; ; n += every {
		r.reset()
		name, err := r.stopAfter(n)
		if name == "" {
			indextest.Must(t, err)
			if n < least {
				t.Errorf("only %d steps", n-1)
			}
			break
		}
		if !errors.Is(err, errStopped) {
			t.Fatalf("stopped after %s: %v", name, err)
		}
		seen[name] = true
		again, err := r.stopAfter(n/3 + 2)
		if again != "" && !errors.Is(err, errStopped) || again == "" && err != nil {
			t.Fatalf("stopped after %s, then after %q: %v", name, again, err)
		}
		if err := r.run(); err != nil {
			t.Fatalf("stopped after %s, then after %q: %v", name, again, err)
		}
		got := r.files()
		for file := range want {
			if got[file] != want[file] {
				t.Fatalf("stopped after %s, then after %q: %s has %d bytes, and %d if nothing happens", name, again, file, len(got[file]), len(want[file]))
			}
		}
		if b, n := r.remembered(); b != bits || n != docs {
			t.Errorf("stopped after %s: %d documents and %d bits remembered, want %d and %d", name, n, b, docs, bits)
		}
		if len(got) != len(want) {
			t.Errorf("stopped after %s: files of %d names are left, want %d", name, len(got), len(want))
		}
	}
	for _, name := range names {
		if !seen[name] {
			t.Errorf("no step %q", name)
		}
	}
}

// halfway returns a run stopped at its third checkpoint.
func halfway(t *testing.T) *told {
	t.Helper()
	return stoppedAt(t, 3)
}

// stoppedAt returns a run stopped at its nth checkpoint.
func stoppedAt(t *testing.T, n int) *told {
	t.Helper()
	r := newTold(t)
	r.stopAt(n)
	return r
}

// stopAt runs to the nth checkpoint.
func (r *told) stopAt(n int) {
	r.t.Helper()
	checkpoints := 0
	step.Hook = func(name string) error {
		if name == "took checkpoint" {
			if checkpoints++; checkpoints == n {
				return errStopped
			}
		}
		return nil
	}
	err := r.run()
	step.Hook = nil
	if !errors.Is(err, errStopped) {
		r.t.Fatal(err)
	}
}

// TestNotContinued checks every change that keeps a run from being continued.
func TestNotContinued(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(r *told) error
		want Refusal
		than []Choice
	}{
		{"another output", func(r *told) error { r.command.Out = r.path("other.jsonl"); return nil }, OtherCommand, []Choice{ChosenOutputs}},
		{"other rules", func(r *told) error { r.command.Rules.Threshold = 0.9; return nil }, OtherCommand, []Choice{"rules"}},
		{"other fields", func(r *told) error { r.command.Format = "jsonl id url"; return nil }, OtherCommand, []Choice{"format"}},
		{"an input less", func(r *told) error { r.command.Inputs = r.command.Inputs[:1]; return nil }, OtherCommand, []Choice{ChosenInputs}},
		{"inputs in another order", func(r *told) error { slices.Reverse(r.command.Inputs); return nil }, OtherCommand, []Choice{ChosenInputs}},
		{"a batch", func(r *told) error { r.command.Batch = "b"; return nil }, OtherCommand, []Choice{"batch"}},
		{"a window", func(r *told) error { r.command.Window.Seconds = 9; return nil }, OtherCommand, []Choice{"window"}},
		{"what is told beside", func(r *told) error { r.command.Spans = true; return nil }, OtherCommand, []Choice{"spans"}},
		{"newer versions", func(r *told) error { r.command.ReplaceSameID = true; return nil }, OtherCommand, []Choice{"replace"}},
		{"another index", func(r *told) error { r.command.Against = []index.AgainstID{{Edge: 1}}; return nil }, OtherCommand, []Choice{"against"}},
		{"to a pipe", func(r *told) error { r.command.Out = input.Stdin; return nil }, OtherCommand, []Choice{ChosenPipe}},
		{"an annotated output", func(r *told) error {
			r.command.Annotate, r.command.MaxRecord = !r.command.Annotate, 7
			return nil
		}, OtherCommand, []Choice{"annotate", "max_record"}},
		{"an input changed", func(r *told) error { return rewrite(r.path("a.jsonl")) }, InputChanged, nil},
		{"an output gone", func(r *told) error { return os.Remove(r.path("kept.jsonl.partial")) }, OutputGone, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := halfway(t)
			indextest.Must(t, c.harm(r))
			var refused *RefusedError
			err := r.run()
			if !errors.As(err, &refused) || refused.Why != c.want || refused.Error() == "" || refused.Run.Progress.Tally.Documents == 0 {
				t.Fatalf("%v", err)
			}
			if !slices.Equal(refused.Other, c.than) {
				t.Errorf("other is %v, want %v", refused.Other, c.than)
			}
			if (refused.Unwrap() != nil) != (c.want == InputChanged || c.want == OutputGone) {
				t.Errorf("found: %v", refused.Err)
			}
		})
	}
}

// TestUnreadInputsMayChange cuts two inputs off, stops a run over them, and puts the whole ones in place.
func TestUnreadInputsMayChange(t *testing.T) {
	whole := newTold(t)
	indextest.Must(t, whole.run())
	text, err := os.ReadFile(whole.path("a.jsonl"))
	indextest.Must(t, err)
	write := func(r *told, input int, text []byte) {
		in := &r.command.Inputs[input]
		in.Size = int64(len(text))
		indextest.Must(t, os.WriteFile(in.Path, text, 0o666))
	}
	begun := func(r *told) int {
		x, l, err := r.open()
		indextest.Must(t, err)
		defer x.Close()
		return l.Unfinished().Progress.At.Input
	}
	var reached [2]bool
	for n := 1; !reached[1]; n++ {
		r := newTold(t)
		write(r, 0, text[:len(text)*3/4])
		write(r, 1, text[:len(text)*3/4])
		r.stopAt(n)
		at := begun(r)
		reached[at] = true
		write(r, 1, text)
		if at == 0 {
			write(r, 0, bytes.Replace(text, []byte("\"0\""), []byte("\"x\""), 1))
			if err := r.run(); !errors.Is(err, corpus.ErrChanged) {
				t.Fatalf("stopped at checkpoint %d, then with another first record: %v", n, err)
			}
		}
		write(r, 0, text)
		if at == 0 {
			r.stopAt(1)
		}
		err := r.run()
		if at == 0 {
			if diff := gocmp.Diff(whole.files(), r.files()); err != nil || diff != "" {
				t.Fatalf("stopped at checkpoint %d: %v (-undisturbed +continued): %s", n, err, diff)
			}
			continue
		}
		var refused *RefusedError
		if !errors.As(err, &refused) || !slices.Equal(refused.Other, []Choice{ChosenInputState}) {
			t.Fatalf("stopped at checkpoint %d, after the first input: %v", n, err)
		}
	}
	if !reached[0] {
		t.Error("no run stopped in the first input")
	}
}

// TestDecidedInputsMayNotChange stops a run that has read all, before its outputs have their names. Records
// that came since would be in no output, and the run would be noted as over.
func TestDecidedInputsMayNotChange(t *testing.T) {
	var r *told
	for n := 1; ; n++ {
		r = newTold(t)
		if name, err := r.stopAfter(n); name == "" {
			t.Fatalf("no step between decided and published: %v", err)
		}
		x, l, err := r.open()
		indextest.Must(t, err)
		decided := l.Unfinished() != nil && l.Unfinished().Progress.Ended
		indextest.Must(t, x.Close())
		if decided {
			break
		}
	}
	text, err := os.ReadFile(r.path("b.jsonl"))
	indextest.Must(t, err)
	in := &r.command.Inputs[1]
	in.Size = int64(2 * len(text))
	indextest.Must(t, os.WriteFile(in.Path, slices.Concat(text, text), 0o666))
	var refused *RefusedError
	if err := r.run(); !errors.As(err, &refused) || !slices.Equal(refused.Other, []Choice{ChosenInputState}) {
		t.Fatal(err)
	}
}

// rewrite changes a byte of a file, but neither its size nor its modification time.
func rewrite(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	data[20] ^= 1
	return errors.Join(os.WriteFile(path, data, 0o666), os.Chtimes(path, info.ModTime(), info.ModTime()))
}

// TestGivenUp checks that outputs are cut back to the last checkpoint and stay the only copy.
func TestGivenUp(t *testing.T) {
	r := halfway(t)
	x, l, err := r.open()
	indextest.Must(t, err)
	defer x.Close()
	u := l.Unfinished()
	if u == nil || u.Foreign || u.Pipe || u.Progress.Ended || u.Progress.Tally.Kept == 0 || u.Saved != 1700000000 || !slices.Equal(u.Args, r.command.Args) {
		t.Errorf("%+v", u)
	}
	left, err := l.GiveUp()
	if err != nil || len(left) != 3 || left[0] != r.path("kept.jsonl.partial") {
		t.Errorf("%q, %v", left, err)
	}
}

// TestLedgerOfAnotherVersion checks that such a ledger is not read, continued or cut.
func TestLedgerOfAnotherVersion(t *testing.T) {
	r := newTold(t)
	x, _, err := r.open()
	indextest.Must(t, err)
	indextest.Must(t, x.Begin(index.Policy{Flush: func(bool) (map[string][]byte, error) {
		return map[string][]byte{LedgerName: []byte("run 2: 17 documents")}, nil
	}}))
	indextest.Must(t, errors.Join(x.Checkpoint(), x.Close()))
	var refused *RefusedError
	if err := r.run(); !errors.As(err, &refused) || refused.Why != OtherVersion {
		t.Error(err)
	}
	x, l, err := r.open()
	indextest.Must(t, err)
	defer x.Close()
	if left, err := l.GiveUp(); left != nil || err != nil || !l.Unfinished().Foreign {
		t.Errorf("%q, %v", left, err)
	}
}

// TestLedgerOfOtherRules checks that a run of a version with other rules is not continued: its
// outputs would be those of no version. It can be given up.
func TestLedgerOfOtherRules(t *testing.T) {
	r := halfway(t)
	x, l, err := r.open()
	indextest.Must(t, err)
	e := *l.Unfinished()
	e.Version--
	indextest.Must(t, errors.Join(x.Finish(map[string][]byte{LedgerName: encoded(e)}), x.Close()))
	var refused *RefusedError
	if err := r.run(); !errors.As(err, &refused) || refused.Why != OtherVersion {
		t.Error(err)
	}
	x, l, err = r.open()
	indextest.Must(t, err)
	defer x.Close()
	if left, err := l.GiveUp(); len(left) != 3 || err != nil {
		t.Errorf("%q, %v", left, err)
	}
}

// TestLedgerOfAPipe checks that such a run is reported and not continued. The next may begin
// unasked if it left no file.
func TestLedgerOfAPipe(t *testing.T) {
	for _, gone := range []bool{false, true} {
		r := newTold(t)
		r.alone = gone
		r.command.Inputs = []input.Input{{Path: input.Stdin, Name: "stdin", Size: -1}}
		if gone {
			r.command.Out, r.command.Report, r.command.Rejects = input.Stdin, "", ""
		}
		x, l, err := r.open()
		indextest.Must(t, err)
		if l.CanContinue() || l.Unfinished() != nil {
			t.Error("a pipe can be continued")
		}
		indextest.Must(t, x.Begin(index.Policy{Stream: true, Flush: func(bool) (map[string][]byte, error) {
			return l.Save(Progress{}), nil
		}}))
		indextest.Must(t, x.Close())
		x, l, err = r.open()
		indextest.Must(t, err)
		if u := l.Unfinished(); u == nil || !u.Pipe || u.Gone != gone || u.Saved != 1700000000 {
			t.Errorf("%+v", u)
		}
		var refused *RefusedError
		if _, err := l.Continue(); !errors.As(err, &refused) || refused.Why != OverPipe {
			t.Error(err)
		}
		if left, err := l.GiveUp(); left != nil || err != nil {
			t.Errorf("%q, %v", left, err)
		}
		indextest.Must(t, x.Close())
	}
}

// TestNoLedgerWithoutAnIndex checks that a temporary index stores no run.
func TestNoLedgerWithoutAnIndex(t *testing.T) {
	r := newTold(t)
	r.command.Temporary = true
	x, l, err := r.open()
	indextest.Must(t, err)
	defer x.Close()
	if l.Save(Progress{}) != nil || l.CanContinue() {
		t.Error("it stores a run")
	}
	r.command.Temporary = false
	r.command.Inputs[0].Path = r.path("nothing")
	if _, err := OpenLedger(x, &r.command); err == nil {
		t.Error("an input that is not there")
	}
}

// TestNamedWhileReading checks that a run that was reading has published no output. An existing
// file with exactly its content is not taken for it.
func TestNamedWhileReading(t *testing.T) {
	r := halfway(t)
	x, l, err := r.open()
	indextest.Must(t, err)
	at, err := l.Continue()
	indextest.Must(t, err)
	kept := r.command.Out
	indextest.Must(t, os.Truncate(kept+input.PartialSuffix, at.Written[0].Size))
	indextest.Must(t, os.Rename(kept+input.PartialSuffix, kept))
	indextest.Must(t, x.Close())
	if there, err := output.Published(kept, at.Written[0]); !there || err != nil || at.Ended {
		t.Fatalf("published %v, %v, ended %v", there, err, at.Ended)
	}
	var refused *RefusedError
	if err := r.run(); !errors.As(err, &refused) || refused.Why != OutputGone {
		t.Error(err)
	}
}

// TestPipeIsGivenUp checks that everything a pipe run wrote stays, whatever is stored about it.
func TestPipeIsGivenUp(t *testing.T) {
	r := newTold(t)
	kept := r.path("kept.jsonl")
	indextest.Must(t, os.WriteFile(kept+input.PartialSuffix, []byte("a record\nanother\n"), 0o666))
	w, err := output.Create(r.path("same"))
	indextest.Must(t, err)
	indextest.Must(t, w.WriteRecord([]byte("a record\n")))
	at, err := w.Sync()
	indextest.Must(t, errors.Join(err, w.Abort()))
	stored, err := json.Marshal(Unfinished{Pipe: true, Choices: choices{Outputs: []input.StoredName{input.StoredName(kept)}}, Progress: Progress{Written: Written{at}}})
	indextest.Must(t, err)
	x, l, err := r.open()
	indextest.Must(t, err)
	defer x.Close()
	l.found = new(Unfinished)
	indextest.Must(t, json.Unmarshal(stored, l.found))
	if left, err := l.GiveUp(); left != nil || err != nil {
		t.Errorf("%q, %v", left, err)
	}
	if data, err := os.ReadFile(kept + input.PartialSuffix); string(data) != "a record\nanother\n" {
		t.Errorf("%q is left, %v", data, err)
	}
}

// TestLaterInputChanged checks that all inputs begun so far are checked again, and no others.
func TestLaterInputChanged(t *testing.T) {
	for n := 1; ; n++ {
		r := stoppedAt(t, n)
		x, l, err := r.open()
		indextest.Must(t, err)
		at, err := l.Continue()
		indextest.Must(t, err)
		begun := at.At.Input == 1
		indextest.Must(t, x.Close())
		indextest.Must(t, rewrite(r.path("b.jsonl")))
		var refused *RefusedError
		if err := r.run(); errors.As(err, &refused) != begun || begun && refused.Why != InputChanged {
			t.Errorf("stopped at checkpoint %d, in input %d: %v", n, at.At.Input, err)
		}
		if begun {
			return
		}
	}
}

// TestBegunByAnother checks outputs written before anything was remembered. The same command writes
// them anew, and any other puts them aside.
func TestBegunByAnother(t *testing.T) {
	for what, change := range map[string]func(c *Job){
		"":                func(*Job) {},
		"rules":           func(c *Job) { c.Rules.Threshold = .9 },
		"inputs":          func(c *Job) { c.Inputs = c.Inputs[1:] },
		"order of inputs": func(c *Job) { slices.Reverse(c.Inputs) },
	} {
		r := newTold(t)
		step.Hook = func(name string) error {
			if name == "synced outputs" {
				return errStopped
			}
			return nil
		}
		err := r.run()
		step.Hook = nil
		if !errors.Is(err, errStopped) {
			t.Fatal(err)
		}
		change(&r.command)
		indextest.Must(t, r.run())
		aside, err := filepath.Glob(r.path("kept.jsonl.partial*"))
		indextest.Must(t, err)
		if want := min(len(what), 1); len(aside) != want {
			t.Errorf("another %s: %q is put aside", what, aside)
		}
	}
}

// TestStoredChoices checks that the stored form of a command stays as it is, so that runs
// interrupted under earlier versions can be continued.
func TestStoredChoices(t *testing.T) {
	files := choices{Inputs: []inputID{{"/in", 1, 2}}, Outputs: []input.StoredName{"/out", "", ""}}
	const head = `{"inputs":[{"path":"/in","size":1,"mtime":2}],"outputs":["/out","",""],`
	const rules = `"rules":{"Threshold":0,"Score":0,"RemoveMosaics":false},`
	few, all := files, files
	all.Dir, all.Tree = "/dir", "digest"
	all.Choices = Choices{
		Annotate: true, Format: "jsonl", MaxRecord: 7, Batch: "b", ReplaceSameID: true, Spans: true,
		Against: []index.AgainstID{{}}, Window: Window{Seconds: 9, Told: true},
	}
	against, err := json.Marshal(all.Against)
	indextest.Must(t, err)
	for want, c := range map[string]choices{
		head + `"annotate":false,` + rules + `"format":"","max_record":0}`: few,
		head + `"dir":"/dir","tree":"digest","annotate":true,` + rules + `"format":"jsonl","max_record":7,"batch":"b","replace":true,` +
			`"spans":true,"against":` + string(against) + `,"window":{"Seconds":9,"Told":true}}`: all,
	} {
		got, err := json.Marshal(c)
		if string(got) != want || err != nil {
			t.Errorf("%s, %v\nwant %s", got, err, want)
		}
	}
}

// TestStoredNames checks that names outside UTF-8 read back unchanged. Otherwise no run over them
// could be continued.
func TestStoredNames(t *testing.T) {
	type note struct {
		Choices choices
		Tree    output.TreeMark
	}
	for _, name := range []string{"/caf\xe9", "/\xffcaf\xe8\"\\", "/café \ufffd", "", "/a\nb"} {
		stored := input.StoredName(name)
		mark := output.TreeMark{Open: &output.TreeFile{Name: stored}, Done: []output.TreeFile{{Name: stored + "2"}}}
		want := note{choices{Inputs: []inputID{{stored, 1, 2}}, Outputs: []input.StoredName{stored}, Dir: stored, Tree: stored}, mark}
		var got note
		indextest.Must(t, json.Unmarshal(encoded(want), &got))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v", name, got, want)
		}
	}
}
