package durable

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRemoveLeftReadOnly checks that a missing file on a read-only file system counts as removed,
// unlike one that exists.
func TestRemoveLeftReadOnly(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	failed := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the thread, which alone has the mount, ends with the goroutine
		failed <- func() error {
			if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
				return err
			}
			err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
			err = errors.Join(err, unix.Mount("tmpfs", dir, "tmpfs", 0, ""), os.WriteFile(there, nil, 0o666))
			if err = errors.Join(err, unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, "")); err != nil {
				return err
			}
			if err := RemoveLeft(there); !errors.Is(err, unix.EROFS) {
				t.Errorf("an existing file: %v", err)
			}
			return RemoveLeft(filepath.Join(dir, "missing"))
		}()
	}()
	switch err := <-failed; {
	case errors.Is(err, unix.EPERM):
		t.Skip("only root can mount:", err)
	case err != nil:
		t.Error(err)
	}
}
