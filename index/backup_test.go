package index

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/firstseen/firstseen/internal/base/step"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

func init() {
	children["backup"] = func(dir string) error { return Backup(context.Background(), dir, dir+".copy") }
}

// toCopy makes a keyed index of 40 documents in a folder of its own.
func toCopy(t *testing.T) (dir, dest string) {
	t.Helper()
	o := smallIndex
	o.Key = KeyRequired
	dir = filepath.Join(t.TempDir(), "index")
	grown(t, dir, o, 0, 40)
	return dir, dir + ".copy"
}

// onlyIndex checks that nothing of a failed copy is left beside the index.
func onlyIndex(t *testing.T, dir, what string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(dir))
	indextest.Must(t, err)
	if len(entries) != 1 {
		t.Errorf("%s: left behind: %v", what, entries)
	}
}

func isCopy(t *testing.T, dest string) {
	t.Helper()
	found, err := Check(context.Background(), dest, CheckOptions{})
	if err != nil || !found.Sound || found.Table.Documents != 40 {
		t.Fatalf("the copy: %+v, %v", found, err)
	}
	o := smallIndex
	o.Key = KeyRequired
	knows(t, dest, o, 0, 40, 40)
}

// TestBackupKilledAtEveryStep kills a backup between any two steps. DEST is then complete or absent,
// and the same command makes it.
func TestBackupKilledAtEveryStep(t *testing.T) {
	for at := 1; ; at++ {
		dir, dest := toCopy(t)
		cmd := childCommand(dir, at)
		cmd.Env = append(cmd.Env, childWork+"=backup")
		err := cmd.Run()
		if cmd.ProcessState.ExitCode() == childDone {
			if at < 4 {
				t.Errorf("only %d steps", at-1)
			}
			return
		}
		if cmd.ProcessState.Exited() {
			t.Fatalf("step %d: %v: %s", at, err, cmd.Stderr)
		}
		if _, err := os.Stat(dest); err != nil {
			indextest.Must(t, os.WriteFile(filepath.Join(dest+".partial", TermsFile), []byte("of another index"), 0o600))
			indextest.Must(t, Backup(context.Background(), dir, dest))
		}
		isCopy(t, dest)
		if _, err := os.Stat(dest + ".partial"); err == nil {
			t.Errorf("step %d: the partial copy is left", at)
		}
	}
}

// TestBackupFails fails at each step before the rename, and with an existing DEST.
func TestBackupFails(t *testing.T) {
	dir, dest := toCopy(t)
	t.Cleanup(func() { step.Hook = nil })
	for _, at := range []string{"wrote key", "wrote table.db", "unpacked a snapshot"} {
		step.Hook = func(name string) error {
			if name == at {
				return syscall.ENOSPC
			}
			return nil
		}
		if err := Backup(context.Background(), dir, dest); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", at, err)
		}
		onlyIndex(t, dir, at)
	}
	step.Hook = nil
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Backup(ctx, dir, dest); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	onlyIndex(t, dir, "cancelled")
	indextest.Must(t, os.Mkdir(dest, 0o777))
	if err := Backup(context.Background(), dir, dest); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("to an empty folder: %v", err)
	}
	indextest.Must(t, os.Remove(dest))
	onlyIndex(t, dir, "refused")
	release, err := HoldTemporary(func() string { indextest.Must(t, os.Mkdir(dest+".partial", 0o777)); return dest + ".partial" }())
	indextest.Must(t, err)
	if err := Backup(context.Background(), dir, dest); !errors.Is(err, ErrLocked) {
		t.Errorf("beside another backup: %v", err)
	}
	indextest.Must(t, release())
	indextest.Must(t, Backup(context.Background(), dir, dest))
	isCopy(t, dest)
}

// TestBackupSparesAnIndex refuses a DEST for which another index stands where the partial copy would.
func TestBackupSparesAnIndex(t *testing.T) {
	dir, dest := toCopy(t)
	indextest.Must(t, os.CopyFS(dest+".partial", os.DirFS(dir)))
	if err := Backup(context.Background(), dir, dest); err == nil || !strings.Contains(err.Error(), "is in the way") {
		t.Errorf("copied over an index: %v", err)
	}
	isCopy(t, dest+".partial")
}

// TestSnapshotCutAnywhere refuses a snapshot that lacks any of its files' bytes, and leaves nothing.
func TestSnapshotCutAnywhere(t *testing.T) {
	dir, dest := toCopy(t)
	files, err := OpenFiles(dir)
	indextest.Must(t, err)
	defer files.Close()
	s, err := snapshotOf(dir, files.Table)
	indextest.Must(t, err)
	var b bytes.Buffer
	indextest.Must(t, errors.Join(s.Write(&b), s.Close()))
	whole := b.Len() - 2*512 // the archive's end is two empty blocks
	for n := 0; n < whole; n += max(1, min(509, whole-1-n)) {
		if err := Restore(context.Background(), bytes.NewReader(b.Bytes()[:n]), dest); err == nil {
			t.Fatalf("cut at %d of %d: no error", n, whole)
		}
		onlyIndex(t, dir, "cut")
	}
	indextest.Must(t, Restore(context.Background(), &b, dest))
	isCopy(t, dest)
}

// TestNoSnapshot refuses archives of other files, also outside of the folder.
func TestNoSnapshot(t *testing.T) {
	dir, dest := toCopy(t)
	for _, names := range [][]string{{}, {KeyFile}, {"../index/key"}, {"other"}, {TableFile + "/"}, {TermsFile, KeyFile}} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, name := range names {
			indextest.Must(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o600}))
		}
		indextest.Must(t, w.Close())
		if err := Restore(context.Background(), &b, dest); err == nil {
			t.Errorf("%q: no error", names)
		}
		onlyIndex(t, dir, "another archive")
	}
}
