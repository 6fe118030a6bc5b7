package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/firstseen/firstseen/internal/testing/corpustest"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestReadOnlyMount reads inputs on a mount that nothing can be written to, as those of object stores:
// lines, an archive, and mails, in one go and again for --verify and --prefer.
func TestReadOnlyMount(t *testing.T) {
	dir := t.TempDir()
	mount := filepath.Join(dir, "mount")
	indextest.Must(t, os.Mkdir(mount, 0o777))
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the thread, which alone has the mount, ends with the goroutine
		done <- onReadOnly(t, dir, mount)
	}()
	switch err := <-done; {
	case errors.Is(err, unix.EPERM):
		t.Skip("only root can mount:", err)
	case err != nil:
		t.Error(err)
	}
}

func onReadOnly(t *testing.T, dir, mount string) error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return err
	}
	lines := ""
	for i := range 40 {
		lines += fmt.Sprintf("{\"id\":%d,\"text\":\"The text of number%d stands here, and it has%d two pieces.\"}\n", i, i%20, i%20)
	}
	err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	err = errors.Join(err, unix.Mount("tmpfs", mount, "tmpfs", 0, ""), os.Mkdir(filepath.Join(mount, "in"), 0o777))
	err = errors.Join(err, os.WriteFile(filepath.Join(mount, "in", "a.jsonl"), []byte(lines), 0o666))
	err = errors.Join(err, corpustest.Pack(filepath.Join(mount, "all.tar.zst"), filepath.Join(mount, "in")))
	err = errors.Join(err, os.WriteFile(filepath.Join(mount, "mails"), []byte("From a 1:00\nSubject: one\n\nA mail.\n"), 0o666))
	if err = errors.Join(err, unix.Mount("", mount, "", unix.MS_REMOUNT|unix.MS_RDONLY, "")); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(mount, "new"), nil, 0o666); !errors.Is(err, unix.EROFS) {
		return fmt.Errorf("the mount can be written to: %w", err)
	}
	for _, args := range [][]string{
		{"--index", "seen", "--out", "kept.jsonl", "mount/in"},
		{"--index", "seen", "--out", "kept.jsonl", "mount/in"}, // it is over
		{"--out-dir", "kept", "--verify", "--report", "dups.jsonl", "mount/in"},
		{"--out", "longest.jsonl", "--prefer", "text=longest", "mount/in"},
		{"--out", "packed.jsonl", "mount/all.tar.zst"},
		{"--out", "mails.mbox", "mount/mails"},
	} {
		if said, err := program(t, dir, append([]string{"dedup", "-q", "--docs", "1k"}, args...)...).CombinedOutput(); err != nil {
			err = fmt.Errorf("%q: %w\n%s", args, err, said)
			return err
		}
	}
	for name, want := range map[string]int{"kept.jsonl": 20, "kept/a.jsonl": 20, "longest.jsonl": 20, "packed.jsonl": 20} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || bytes.Count(data, []byte("\n")) != want {
			return fmt.Errorf("%s has %d lines, want %d: %w", name, bytes.Count(data, []byte("\n")), want, err)
		}
	}
	return nil
}
