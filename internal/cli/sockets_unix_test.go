//go:build unix

package cli

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestSocketsOfSystemd checks that sockets from systemd obey the rules of --listen and --lines.
func TestSocketsOfSystemd(t *testing.T) {
	dir := t.TempDir()
	exe, err := os.Executable()
	indextest.Must(t, err)
	indextest.Must(t, os.Symlink(exe, filepath.Join(dir, "firstseen")))
	for _, c := range []struct{ address, name string }{{"0.0.0.0:0", "http"}, {"127.0.0.1:0", "lines"}} {
		l, err := net.Listen("tcp", c.address)
		indextest.Must(t, err)
		file, err := l.(*net.TCPListener).File()
		indextest.Must(t, err)
		cmd := program(t, dir)
		cmd.Env = append(cmd.Env, "LISTEN_FDS=1", "LISTEN_FDNAMES="+c.name)
		sh := exec.Command("sh", "-c", "LISTEN_PID=$$ exec ./firstseen serve --index seen --docs 1000 --listen unix:s")
		sh.Dir, sh.Env, sh.ExtraFiles = dir, cmd.Env, []*os.File{file}
		start(t, sh)
		exits(t, sh, exitFailed)
		if said := fmt.Sprint(sh.Stderr); !strings.Contains(said, "of systemd is open to others") {
			t.Errorf("%s %s: %s", c.name, c.address, said)
		}
		indextest.Must(t, file.Close())
		indextest.Must(t, l.Close())
	}
}
