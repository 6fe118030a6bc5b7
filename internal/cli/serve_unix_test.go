//go:build unix

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// unixClient returns a client of the server at the socket path.
func unixClient(path string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}}
}

// seen is the part of an answer that tests look at.
type seen struct {
	ID    string `json:"id"`
	Kept  bool   `json:"kept"`
	Of    string `json:"of"`
	Again bool   `json:"again"`
}

// posted posts lines to a server. ok reports whether all answers came.
func posted(c *http.Client, lines string) (answers []seen, ok bool) {
	r, err := c.Post("http://server/v1/see", "application/x-ndjson", strings.NewReader(lines))
	if err != nil {
		return nil, false
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		return nil, false
	}
	for dec := json.NewDecoder(bytes.NewReader(body)); dec.More(); {
		var a seen
		if dec.Decode(&a) != nil {
			return nil, false
		}
		answers = append(answers, a)
	}
	return answers, true
}

func documentLine(id string, n int) string {
	return fmt.Sprintf("{\"id\":%q,\"text\":%q}\n", id, indextest.Sentences(n))
}

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
