package index

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/internal/base/step"
	"github.com/firstseen/firstseen/internal/testing/filetest"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// childIndex is the environment variable that makes this test binary work on an index. childStep is
// the step at which it dies.
const (
	childIndex = "DEDUP_TEST_INDEX"
	childStep  = "DEDUP_TEST_STEP"
)

// children are other tasks of a child, by the value of childWork.
var children = map[string]func(dir string) error{}

const childWork = "DEDUP_TEST_WORK"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childIndex); dir != "" {
		os.Exit(child(dir))
	}
	os.Setenv("TMPDIR", indextest.Memory())
	m.Run()
}

const (
	childDone, childFailed, childLocked = 0, 1, 2
)

// child makes or extends a keyed index of 20 documents, and kills itself at the given step.
func child(dir string) int {
	at, _ := strconv.Atoi(os.Getenv(childStep))
	step.Hook = func(string) error {
		if at--; at == 0 {
			return filetest.KillSelf()
		}
		return nil
	}
	work := remember20
	if other := children[os.Getenv(childWork)]; other != nil {
		work = other
	}
	err := work(dir)
	if errors.Is(err, ErrLocked) {
		return childLocked
	}
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		return childFailed
	}
	return childDone
}

func remember20(dir string) error {
	o := smallIndex
	o.Key = KeyRequired
	x, err := Open(context.Background(), dir, o)
	if err != nil {
		return err
	}
	for n := range 20 {
		if _, err := x.See(strconv.Itoa(n), []byte(indextest.Sentences(n))); err != nil {
			return err
		}
	}
	return errors.Join(x.Finish(nil), x.Close())
}

func childCommand(dir string, at int) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childIndex+"="+dir, childStep+"="+strconv.Itoa(at))
	cmd.Stderr = &bytes.Buffer{}
	return cmd
}

// TestKilledAtEveryStep kills the creation and first run of an index between any two steps. That
// must leave an index or none, never damage. The next start completes it.
func TestKilledAtEveryStep(t *testing.T) {
	keyed := smallIndex
	keyed.Key = KeyRequired
	for at := 1; ; at++ {
		dir := filepath.Join(t.TempDir(), "index")
		cmd := childCommand(dir, at)
		err := cmd.Run()
		if cmd.ProcessState.ExitCode() == childDone {
			if at < 8 {
				t.Errorf("only %d steps", at-1)
			}
			return
		}
		if cmd.ProcessState.Exited() && cmd.ProcessState.ExitCode() == childFailed {
			t.Fatalf("step %d: %v: %s", at, err, cmd.Stderr)
		}
		p, err := look(dir)
		indextest.Must(t, err)
		files, err := OpenFiles(dir)
		if (err != nil) != p.none() {
			t.Errorf("step %d: %+v, opened: %v", at, p, err)
		}
		if files != nil {
			indextest.Must(t, files.Close())
		}
		before, err := ReadKey(dir)
		indextest.Must(t, err)
		if cmd := childCommand(dir, 0); cmd.Run() != nil {
			t.Errorf("step %d: the next start: %s", at, cmd.Stderr)
		}
		after, err := ReadKey(dir)
		indextest.Must(t, err)
		if len(after) == 0 || before != nil && !bytes.Equal(before, after) {
			t.Errorf("step %d: key %x was %x", at, after, before)
		}
		knows(t, dir, keyed, 0, 20, 20)
	}
}

// TestLeftByCreation starts from half-written, unnamed files, as a kill inside a step leaves them.
func TestLeftByCreation(t *testing.T) {
	for _, names := range [][]string{
		{},
		{lockFile},
		{lockFile, KeyFile + ".tmp"},
		{lockFile, TableFile + ".new"},
		{lockFile, FilterFile + ".tmp"},
		{lockFile, KeyFile + ".tmp", TableFile + ".new", FilterFile + ".tmp"},
	} {
		for _, content := range []string{"", "half of it"} {
			dir := t.TempDir()
			for _, name := range names {
				text := content
				if name == lockFile {
					text = ""
				}
				indextest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
			if _, err := OpenFiles(dir); err == nil {
				t.Errorf("%v are an index", names)
			}
			grown(t, dir, smallIndex, 0, 10)
			knows(t, dir, smallIndex, 0, 10, 10)
		}
	}
}

// TestTwoCreators creates a keyed index in three processes at once. Each succeeds or is refused,
// and all fingerprints use one key.
func TestTwoCreators(t *testing.T) {
	t.Parallel()
	keyed := smallIndex
	keyed.Key = KeyRequired
	for range 8 {
		dir := filepath.Join(t.TempDir(), "index")
		cmds := []*exec.Cmd{childCommand(dir, 0), childCommand(dir, 0), childCommand(dir, 0)}
		var wg sync.WaitGroup
		for _, cmd := range cmds {
			wg.Go(func() { _ = cmd.Run() })
		}
		wg.Wait()
		done := 0
		for _, cmd := range cmds {
			switch cmd.ProcessState.ExitCode() {
			case childDone:
				done++
			case childLocked:
			default:
				t.Errorf("%v: %s", cmd.ProcessState, cmd.Stderr)
			}
		}
		if done == 0 {
			t.Error("none was done")
		}
		knows(t, dir, keyed, 0, 20, 20)
	}
}

var errInjected = errors.New("injected")

// failAt makes the named step fail once.
func failAt(t *testing.T, name string) {
	t.Helper()
	failed := false
	step.Hook = func(s string) error {
		if s == name && !failed {
			failed = true
			return errInjected
		}
		return nil
	}
	t.Cleanup(func() {
		step.Hook = nil
		if !failed {
			t.Errorf("no step %q", name)
		}
	})
}

// state is an owner's value of an unfinished run.
func state(s string) map[string][]byte { return map[string][]byte{"run": []byte(s)} }

// TestFinishStopped stops between any two steps of finishing a run. The run is then unfinished,
// with the old filter or the new one, and the index knows exactly its documents.
func TestFinishStopped(t *testing.T) {
	small := smallIndex
	small.MemtableKeys = 100 // so that a run saves the filter
	for _, c := range []struct {
		step string
		gone bool // whether reopening the index rebuilds the filter
	}{
		{"wrote filter.bloom.tmp", true}, // of the previous state
		{"renamed filter.bloom.tmp", false},
		{"saved the filter", false},
		{"", false},
	} {
		dir := filepath.Join(t.TempDir(), "index")
		grown(t, dir, small, 0, 50)
		x := opened(t, dir, small)
		see(t, x, 50, 100)
		indextest.Must(t, checkpoint(x, "unfinished"))
		if c.step != "" {
			failAt(t, c.step)
		}
		if err := x.Finish(state("")); c.step != "" && !errors.Is(err, errInjected) || c.step == "" && err != nil {
			t.Errorf("%q: %v", c.step, err)
		}
		step.Hook = nil
		indextest.Must(t, x.Close())
		x = opened(t, dir, small)
		stored, err := x.table.State("run")
		indextest.Must(t, err)
		if unfinished := string(stored) == "unfinished"; unfinished != (c.step != "") {
			t.Errorf("%q: the run's state is %q", c.step, stored)
		}
		if (x.rebuilt != "") != c.gone {
			t.Errorf("%q: rebuilt: %q", c.step, x.rebuilt)
		}
		see(t, x, 100, 150)
		indextest.Must(t, checkpoint(x, "unfinished"))
		indextest.Must(t, x.Close())
		knows(t, dir, small, 0, 150, 150)
	}
}

// TestKillsKeepTheSize kills several runs in a row. The index keeps the size of its filter.
func TestKillsKeepTheSize(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	grown(t, dir, smallIndex, 0, 50)
	sizeless := smallIndex
	sizeless.Shape, sizeless.MemtableKeys = bloomstore.Shape{}, 100
	for n := 50; n < 200; n += 50 {
		x := opened(t, dir, sizeless)
		if got := x.filter.Shape(); got != smallIndex.Shape {
			t.Errorf("after %d documents the filter has the size %+v, want %+v", n, got, smallIndex.Shape)
		}
		see(t, x, n, n+50)
		indextest.Must(t, x.Checkpoint())
		indextest.Must(t, x.Close())
	}
}

// TestFinishTakesACheckpoint checks that the table is saved before a filter with its documents.
func TestFinishTakesACheckpoint(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	x := opened(t, dir, smallIndex)
	see(t, x, 0, 50)
	failAt(t, "wrote filter.bloom.tmp")
	if err := x.Finish(nil); !errors.Is(err, errInjected) {
		t.Error(err)
	}
	indextest.Must(t, x.Close())
	knows(t, dir, smallIndex, 0, 50, 50)
}

// TestEveryStepFails fails any step of an index's first days: creation, a run, an unfinished run,
// and one that finds a stale filter. The next start must be right, with the same key.
func TestEveryStepFails(t *testing.T) {
	keyed := smallIndex
	keyed.Key = KeyRequired
	days := func(dir string) (seen int, err error) {
		for day := range 4 {
			x, err := Open(context.Background(), dir, keyed)
			if err != nil {
				return seen, err
			}
			see(t, x, seen, 20*day+20)
			err = checkpoint(x, "unfinished")
			if x.table.Unsaved() == 0 { // even if the step after it fails
				seen = 20*day + 20
			}
			if err != nil {
				return seen, errors.Join(err, x.Close())
			}
			if day != 2 {
				err = x.Finish(state(""))
			}
			if err = errors.Join(err, x.Close()); err != nil {
				return seen, err
			}
		}
		return seen, nil
	}
	for n := 1; ; n++ {
		at, failed := n, ""
		step.Hook = func(name string) error {
			if at--; at == 0 {
				failed = name
				return errInjected
			}
			return nil
		}
		dir := filepath.Join(t.TempDir(), "index")
		seen, err := days(dir)
		step.Hook = nil
		if failed == "" {
			if indextest.Must(t, err); seen != 80 || n < 20 {
				t.Errorf("%d documents after %d steps", seen, n-1)
			}
			return
		}
		if !errors.Is(err, errInjected) {
			t.Errorf("step %d, %s: %v", n, failed, err)
		}
		before, err := ReadKey(dir)
		indextest.Must(t, err)
		knows(t, dir, keyed, 0, seen, seen)
		after, err := ReadKey(dir)
		if indextest.Must(t, err); len(after) == 0 || before != nil && !bytes.Equal(before, after) {
			t.Errorf("step %d, %s: key %x was %x", n, failed, after, before)
		}
	}
}
