package index

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/firstseen/firstseen/internal/base/step"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

func init() { children["compact"] = compactWithoutFiles }

// TestCompactWithoutFiles forbids opening files from the n-th step of compacting on. The error must
// leave the index whole, whether or not the table was already closed.
func TestCompactWithoutFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	grown(t, dir, smallIndex, 0, 50)
	failed := 0
	for at := 1; ; at++ {
		copied := indextest.Copy(t, dir)
		cmd := childCommand(copied, at)
		cmd.Env = append(cmd.Env, childWork+"=compact")
		err := cmd.Run()
		code := cmd.ProcessState.ExitCode()
		if code != childDone && code != childFailed {
			t.Fatalf("step %d: %v: %s", at, err, cmd.Stderr)
		}
		knows(t, copied, smallIndex, 0, 50, 50)
		if code == childDone {
			break
		}
		failed++
	}
	if failed < 4 {
		t.Errorf("it failed at %d steps: too few to mean anything", failed)
	}
}

// compactWithoutFiles compacts an index, and can open no file from a given step on.
func compactWithoutFiles(dir string) error {
	at, err := strconv.Atoi(os.Getenv(childStep))
	if err != nil {
		return err
	}
	count := func() {
		if at--; at == 0 {
			takeFiles()
		}
	}
	e, err := Edit(dir)
	if err != nil {
		return err
	}
	step.Hook = func(string) error { count(); return nil }
	step.Committed = func(string) { count() }
	_, err = e.Compact(context.Background())
	return errors.Join(err, e.Close())
}

// takeFiles forbids opening files. Open ones stay open.
func takeFiles() {
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{}); err != nil {
		panic(err)
	}
}
