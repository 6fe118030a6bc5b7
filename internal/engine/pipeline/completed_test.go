package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestManyRunsAreOver checks that the index knows the latest runs, as many as promised or fit.
func TestManyRunsAreOver(t *testing.T) {
	r := newTold(t)
	r.alone = true
	const runs = maxCompleted + 6
	name := func(n int) string { return r.path(fmt.Sprintf("kept%d.jsonl", n)) }
	for n := range runs {
		r.command.Out, r.command.Report, r.command.Rejects = name(n), "", ""
		indextest.Must(t, r.run())
	}
	for n := range runs {
		r.command.Out, r.command.Report, r.command.Rejects = name(n), "", ""
		x, l, err := r.open()
		indextest.Must(t, err)
		stored, err := x.Value(CompletedName)
		indextest.Must(t, err)
		known, err := l.completedRuns()
		if err != nil || len(stored) > maxCompletedBytes || len(known) > maxCompleted || len(known) < maxCompleted/2 {
			t.Fatalf("%d runs in %d bytes, %v", len(known), len(stored), err)
		}
		t.Logf("%d runs in %d bytes", len(known), len(stored))
		completed, _, err := l.Completed()
		if err != nil || (completed != nil) != (n >= runs-len(known)) {
			t.Errorf("run %d of %d, of which %d are known: %+v, %v", n, runs, len(known), completed, err)
		}
		indextest.Must(t, errors.Join(err, x.Close()))
	}
}

// TestRunsThatAreOverFit checks that a filter's stamp leaves out the oldest runs if not all fit.
func TestRunsThatAreOverFit(t *testing.T) {
	r := newTold(t)
	r.alone = true
	long := make([]completedRun, 39)
	for i := range long {
		long[i].Command = strings.Repeat("c", 1000)
	}
	long[2].Command = "" // over a pipe; cannot be run again
	stored, err := json.Marshal(long)
	indextest.Must(t, err)
	x, _, err := r.open()
	indextest.Must(t, err)
	indextest.Must(t, x.Begin(index.Policy{OnFull: index.OnFullWarn}))
	indextest.Must(t, errors.Join(x.Finish(map[string][]byte{CompletedName: stored}), x.Close()))
	indextest.Must(t, r.run())
	x, l, err := r.open()
	indextest.Must(t, err)
	defer x.Close()
	stored, err = x.Value(CompletedName)
	indextest.Must(t, err)
	known, err := l.completedRuns()
	if err != nil || len(stored) > maxCompletedBytes || len(stored) < maxCompletedBytes-2000 || len(known) == len(long)+1 {
		t.Errorf("%d runs in %d bytes, %v", len(known), len(stored), err)
	}
	if known[0].Command != "" || known[1].Command == "" {
		t.Error("the run over a pipe is not the first that is left")
	}
	if tally, _, err := l.Completed(); tally == nil || err != nil {
		t.Errorf("the last is not known: %v, %v", tally, err)
	}
}

// TestToldMore checks that more report fields do not repeat a finished run, but other changes do.
func TestToldMore(t *testing.T) {
	r := newTold(t)
	indextest.Must(t, r.run())
	for what, c := range map[string]struct {
		change    func(c *Job)
		completed bool
	}{
		"the same":       {func(*Job) {}, true},
		"spans":          {func(c *Job) { c.Spans = true }, true},
		"rules":          {func(c *Job) { c.Rules.Threshold = .9 }, false},
		"a batch":        {func(c *Job) { c.Batch = "a" }, false},
		"a window":       {func(c *Job) { c.Window.Seconds = 9 }, false},
		"another order":  {func(c *Job) { slices.Reverse(c.Inputs) }, false},
		"another output": {func(c *Job) { c.Report = r.path("other") }, false},
	} {
		command := r.command
		r.command.Inputs = slices.Clone(command.Inputs)
		c.change(&r.command)
		x, l, err := r.open()
		indextest.Must(t, err)
		if completed, _, err := l.Completed(); (completed != nil) != c.completed || err != nil {
			t.Errorf("%s: %v, %v", what, completed, err)
		}
		indextest.Must(t, x.Close())
		r.command = command
	}
}

// TestNotOver checks that a run is over once all is decided and while its outputs are unchanged.
func TestNotOver(t *testing.T) {
	r := newTold(t)
	x, l, err := r.open()
	indextest.Must(t, err)
	l.Save(Progress{})
	if stored, err := l.overNow(index.ErrFull); stored != nil || err != nil {
		t.Errorf("a run that is reading is over: %s, %v", stored, err)
	}
	l.Save(Progress{Ended: true})
	if stored, err := l.overNow(nil); stored == nil || err != nil {
		t.Errorf("it is not over: %v", err)
	}
	indextest.Must(t, x.Close())
	indextest.Must(t, r.run())
	completed := func() bool {
		t.Helper()
		x, l, err := r.open()
		indextest.Must(t, err)
		tally, _, err := l.Completed()
		indextest.Must(t, errors.Join(err, x.Close()))
		return tally != nil
	}
	for _, name := range r.command.names() {
		whole, err := os.ReadFile(name)
		indextest.Must(t, err)
		for _, changed := range []string{string(whole[1:]), "x" + string(whole[1:]), string(whole) + "x"} {
			indextest.Must(t, os.WriteFile(name, []byte(changed), 0o666))
			if completed() {
				t.Errorf("%s has %d bytes of %d, or others", name, len(changed), len(whole))
			}
		}
		indextest.Must(t, os.WriteFile(name, whole, 0o666))
	}
	if !completed() {
		t.Error("with all outputs it is not over")
	}
}
