//go:build unix

package cli

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// asked gets path from a server, which may still be starting, and returns the body.
func asked(t *testing.T, c *http.Client, path string) string {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(10 * time.Millisecond) {
		r, err := c.Get("http://server" + path)
		if err != nil {
			continue
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		indextest.Must(t, err)
		return string(body)
	}
	t.Fatalf("%s: no answer", path)
	return ""
}

// newCluster starts a broker, and returns a client of it.
func newCluster(t *testing.T, options ...kfake.Opt) (*kfake.Cluster, *kgo.Client) {
	t.Helper()
	c, err := kfake.NewCluster(append(options, kfake.NumBrokers(1))...)
	indextest.Must(t, err)
	t.Cleanup(c.Close)
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	indextest.Must(t, err)
	t.Cleanup(client.Close)
	return c, client
}

// TestFollow runs a front end, a follower and a producer on one log, and commands that are refused.
func TestFollow(t *testing.T) {
	t.Parallel()
	c, producer := newCluster(t, kfake.SeedTopics(1, "pages", "judged", "early", "open"), kfake.SeedTopics(2, "wide"))
	produce := func(topic, line string) {
		t.Helper()
		indextest.Must(t, producer.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: []byte(line)}).FirstErr())
	}
	dir := t.TempDir()
	socket := func(name string) *http.Client { return unixClient(filepath.Join(dir, name)) }
	brokers := strings.Join(c.ListenAddrs(), ",")
	ends := func(code int, says string, args ...string) {
		t.Helper()
		if _, said := runProgram(t, dir, code, args...); !strings.Contains(said, says) {
			t.Errorf("%q does not say %q: %s", args, says, said)
		}
	}

	produce("early", documentLine("a", 1))
	ends(exitFailed, "does not hold settings; begin with an empty topic", "serve", "follow", "--index", "x", "--brokers", brokers, "--topic", "early")
	ends(exitFailed, "has 2 partitions", "serve", "follow", "--index", "x", "--brokers", brokers, "--topic", "wide")
	ends(exitFailed, "it does not exist", "serve", "follow", "--index", "x", "--brokers", brokers, "--topic", "none")

	front := program(t, dir, "serve", "--index", "front", "--brokers", brokers, "--log", "pages", "--key", "--threshold", "0.7", "--listen", "unix:"+filepath.Join(dir, "f"))
	start(t, front)
	asked(t, socket("f"), "/livez")
	if a, ok := posted(socket("f"), documentLine("a", 1)+documentLine("b", 1)); !ok || !a[0].Kept || a[1].Of != "a" {
		t.Fatalf("answers %+v", a)
	}
	follow := []string{"serve", "follow", "--index", "copy", "--brokers", brokers, "--topic", "pages", "--verdicts", "judged", "--listen", "unix:" + filepath.Join(dir, "c")}
	follower := program(t, dir, follow...)
	start(t, follower)
	produce("pages", documentLine("c", 1))
	produce("pages", "\r\n"+documentLine("d", 2))
	for offset, want := range map[int]string{2: `"of":"a"`, 3: `"of":"a"`, 4: `"verdict":"unique"`} {
		path := fmt.Sprint("/v1/verdicts/", offset)
		f, c := asked(t, socket("f"), path), asked(t, socket("c"), path)
		if f != c || !strings.Contains(f, want) {
			t.Errorf("offset %d: %s and %s, want %s", offset, f, c, want)
		}
	}
	if a := asked(t, socket("c"), "/v1/documents/d"); !strings.Contains(a, `"id":"d"`) {
		t.Errorf("document d: %s", a)
	}
	if m := asked(t, socket("c"), "/metrics"); !strings.Contains(m, "firstseen_log_next_offset 5\n") || !strings.Contains(m, "firstseen_log_lag_records 0\n") || !strings.Contains(m, "firstseen_log_up 1\n") || !strings.Contains(m, `firstseen_documents_total{verdict="duplicate"} 2`) {
		t.Errorf("metrics %s", m)
	}
	if _, ok := posted(socket("c"), documentLine("e", 3)); ok {
		t.Error("a follower takes a document")
	}
	_ = follower.Process.Signal(syscall.SIGTERM)
	exits(t, follower, exitDone)
	_ = front.Process.Signal(syscall.SIGINT)
	exits(t, front, exitDone)

	ends(exitFailed, "follows a log", "dedup", "--index", "copy", "-")
	ends(exitFailed, "follows a log", "serve", "--index", "copy", "--listen", "unix:s")
	ends(exitFailed, "follows a log", "index", "forget", "copy", "a")
	ends(exitFailed, "follows a log", "index", "compact", "copy")
	ends(exitDone, "", "index", "check", "copy")
	ends(exitFailed, "follows topic pages", "serve", "follow", "--index", "copy", "--brokers", brokers, "--topic", "judged")
	ends(exitFailed, "add --new-settings", append(follow, "--threshold", "0.9")...)
	follower = program(t, dir, append(follow, "--threshold", "0.9", "--new-settings")...)
	start(t, follower)
	asked(t, socket("c"), "/livez") // the settings are in the log
	produce("pages", documentLine("f", 3))
	if a := asked(t, socket("c"), "/v1/verdicts/6"); !strings.Contains(a, `"id":"f"`) {
		t.Errorf("behind new settings: %s", a)
	}
	_ = follower.Process.Signal(syscall.SIGTERM)
	exits(t, follower, exitDone)
	ends(exitFailed, `threshold\":0.9`, append(follow, "--threshold", "0.7")...)

	appends := []string{"bulk", "features", "--brokers", brokers, "--log", "open", "in.jsonl"}
	writeFile(t, filepath.Join(dir, "in.jsonl"), documentLine("g", 4)+documentLine("h", 4)+"{}\n")
	ends(exitFailed, "begin it with firstseen serve follow --no-key", appends...)
	ends(exitFailed, "takes no features", "bulk", "features", "--brokers", brokers, "--log", "pages", "in.jsonl")
	ends(exitUsage, "takes no --out", append(appends, "--out", "d")...)
	follower = program(t, dir, "serve", "follow", "--index", "open", "--no-key", "--brokers", brokers, "--topic", "open", "--listen", "unix:"+filepath.Join(dir, "o"))
	start(t, follower)
	asked(t, socket("o"), "/livez")
	ends(exitBadRecords, "2 documents in the log", appends...)
	second := program(t, dir, "serve", "follow", "--index", "open2", "--brokers", brokers, "--topic", "open", "--listen", "unix:"+filepath.Join(dir, "o2"))
	start(t, second) // the log says that a new index has no key
	for _, name := range []string{"o", "o2"} {
		if a := asked(t, socket(name), "/v1/verdicts/2"); !strings.Contains(a, `"id":"h"`) || !strings.Contains(a, `"of":"g"`) {
			t.Errorf("the copy given by its features: %s", a)
		}
	}
	for _, cmd := range []*exec.Cmd{follower, second} {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		exits(t, cmd, exitDone)
	}
}

// TestFollowWaits starts a follower before its broker: it waits, says so, and follows. Each line that
// it writes is a structured one. A signal during the wait ends it in order.
func TestFollowWaits(t *testing.T) {
	t.Parallel()
	early, err := net.Listen("tcp", "127.0.0.1:0")
	indextest.Must(t, err)
	go func() {
		for {
			c, err := early.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	dir := t.TempDir()
	waiting := func() (*exec.Cmd, *bufio.Scanner) {
		t.Helper()
		cmd := program(t, dir, "serve", "follow", "--index", "copy", "--brokers", early.Addr().String(), "--topic", "pages", "--listen", "unix:"+filepath.Join(dir, "w"), "-j", "4096")
		said, err := cmd.StderrPipe()
		indextest.Must(t, err)
		start(t, cmd)
		lines := bufio.NewScanner(said)
		for lines.Scan() && !strings.Contains(lines.Text(), "waiting: no broker answers") {
			t.Errorf("before it waits it says %q", lines.Text())
		}
		return cmd, lines
	}
	ends := func(cmd *exec.Cmd, lines *bufio.Scanner) (n int) {
		t.Helper()
		_ = cmd.Process.Signal(syscall.SIGTERM)
		for ; lines.Scan(); n++ {
			if line := lines.Text(); !strings.HasPrefix(line, "time=20") || !strings.Contains(line, " level=") || !strings.Contains(line, " msg=") {
				t.Errorf("%q is no structured line", line)
			}
		}
		exits(t, cmd, exitDone)
		return n
	}
	if n := ends(waiting()); n > 0 {
		t.Errorf("%d more lines within a minute", n)
	}
	follower, lines := waiting()
	indextest.Must(t, early.Close())
	_, port, err := net.SplitHostPort(early.Addr().String())
	indextest.Must(t, err)
	number, err := strconv.Atoi(port)
	indextest.Must(t, err)
	newCluster(t, kfake.Ports(number), kfake.SeedTopics(1, "pages"))
	if got := asked(t, unixClient(filepath.Join(dir, "w")), "/readyz"); got != "ok\n" {
		t.Errorf("ready: %q", got)
	}
	if n := ends(follower, lines); n < 2 { // -j, and the address
		t.Errorf("%d lines", n)
	}
}
