package bloomstore

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/internal/base/durable"
	"github.com/firstseen/firstseen/internal/testing/filetest"
)

// TestKilledBeforeRename kills a child process between writing the new filter and renaming it.
func TestKilledBeforeRename(t *testing.T) {
	const env = "BLOOMSTORE_KILL_AT"
	if path := os.Getenv(env); path != "" {
		f := sample(t)
		f.Add([]uint64{1, 2, 3})
		err := durable.Replace(path, func(file *os.File) error {
			if err := f.encode(file, []byte("new")); err != nil {
				return err
			}
			return filetest.KillSelf()
		})
		t.Fatalf("still alive: %v", err)
	}
	path := filepath.Join(t.TempDir(), "filter")
	old := sample(t)
	if err := old.Save(context.Background(), path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestKilledBeforeRename$")
	child.Env = append(os.Environ(), env+"="+path)
	out, err := child.CombinedOutput()
	if exit := new(exec.ExitError); !errors.As(err, &exit) || strings.Contains(string(out), "still alive") {
		t.Fatalf("child ended with %v, want it killed: %s", err, out)
	}
	// The child's file shows that it got far enough.
	if h, err := ReadHeader(path + ".tmp"); err != nil || string(h.Stamp) != "new" {
		t.Fatalf("the child left %+v, %v", h, err)
	}
	got, stamp, err := Open(context.Background(), path, "scheme-1")
	if err != nil || string(stamp) != "old" {
		t.Fatalf("the old filter is gone: %v", err)
	}
	equal(t, got, old)
	got.Close()
	if err := old.Save(context.Background(), path, []byte("newer")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + ".tmp"); err == nil {
		t.Fatal("the next Save left the child's file there")
	}
}
