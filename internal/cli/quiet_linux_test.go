package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestLibrariesAreSilent checks that no library writes to the standard error of a command, in a
// container without /sys/fs/cgroup.
func TestLibrariesAreSilent(t *testing.T) {
	mask := `mount -t tmpfs none /sys/fs/cgroup && exec "$0" "$@"`
	if err := exec.Command("unshare", "--mount", "sh", "-c", mask, "true").Run(); err != nil {
		t.Skip("no rights to mask /sys/fs/cgroup: ", err)
	}
	exe, err := os.Executable()
	indextest.Must(t, err)
	dir := t.TempDir()
	name := filepath.Join(dir, "firstseen") // by which it knows that it is the program
	indextest.Must(t, os.Symlink(exe, name))
	for _, args := range [][]string{{"--version"}, {"dedup", "-q", "--out", "-", "-"}, {"serve", "--help"}} {
		cmd := exec.Command("unshare", append([]string{"--mount", "sh", "-c", mask, name}, args...)...)
		cmd.Dir = dir
		var said bytes.Buffer
		cmd.Stdin, cmd.Stderr = bytes.NewBufferString(documentLine("a", 1)), &said
		if err := cmd.Run(); err != nil || said.Len() > 0 {
			t.Errorf("%q says %q, error %v", args, &said, err)
		}
	}
}
