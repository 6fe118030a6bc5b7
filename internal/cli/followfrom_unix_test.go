//go:build unix

package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// expire removes the records of the topic pages before an offset.
func expire(t *testing.T, client *kgo.Client, offset int64) {
	t.Helper()
	req, topic, part := kmsg.NewPtrDeleteRecordsRequest(), kmsg.NewDeleteRecordsRequestTopic(), kmsg.NewDeleteRecordsRequestTopicPartition()
	part.Offset = offset
	topic.Topic, topic.Partitions = "pages", append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	_, err := client.Request(t.Context(), req)
	indextest.Must(t, err)
}

// cutting gives snapshots of another server, to clients with its token. After so many bytes it sends
// to met, and waits for the client's end.
type cutting struct {
	other *http.Client
	bytes int64 // -1 for all
	met   chan bool
}

func (s *cutting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/snapshot" || r.Header.Get("Authorization") != "Bearer 0123456789abcdef" {
		http.Error(w, "no token", http.StatusUnauthorized)
		return
	}
	a, err := s.other.Get("http://server/v1/snapshot")
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer a.Body.Close()
	if s.bytes < 0 {
		_, _ = io.Copy(w, a.Body)
		return
	}
	_, _ = io.CopyN(w, a.Body, s.bytes)
	_ = http.NewResponseController(w).Flush()
	s.met <- true
	<-r.Context().Done()
}

// TestFollowFrom starts a follower with --from on a log that has lost its beginning. Killed anywhere
// in the copy, it has no index, and the same command starts it. Killed later, it goes on without the
// other server. Its index equals the other's.
func TestFollowFrom(t *testing.T) {
	t.Parallel()
	c, producer := newCluster(t, kfake.SeedTopics(1, "pages", "others"))
	given := 0
	produce := func(n int) {
		t.Helper()
		for range n {
			given++
			line := documentLine(fmt.Sprint("d", given), given/2)
			indextest.Must(t, producer.ProduceSync(t.Context(), &kgo.Record{Topic: "pages", Value: []byte(line)}).FirstErr())
		}
	}
	dir := t.TempDir()
	follow := func(index, topic string, more ...string) []string {
		return append([]string{"serve", "follow", "--index", index, "--brokers", c.ListenAddrs()[0], "--topic", topic, "--listen", "unix:" + filepath.Join(dir, index[:1])}, more...)
	}
	client := unixClient(filepath.Join(dir, "o"))
	other := program(t, dir, follow("old", "pages")...)
	start(t, other)
	asked(t, client, "/livez") // the settings are in the log
	produce(20)
	if a := asked(t, client, fmt.Sprint("/v1/verdicts/", given)); !strings.Contains(a, `"id":"d20"`) {
		t.Fatal(a)
	}
	expire(t, producer, int64(given+1))
	cuts := &cutting{other: client, bytes: -1, met: make(chan bool)}
	web := httptest.NewServer(cuts)
	t.Cleanup(web.Close)
	writeFile(t, filepath.Join(dir, "token"), "0123456789abcdef\n")
	from := []string{"--from", web.URL, "--token-file", "token"}
	ends := func(code int, says string, args ...string) {
		t.Helper()
		if _, said := runProgram(t, dir, code, args...); !strings.Contains(said, says) {
			t.Errorf("%q does not say %q: %s", args, says, said)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "new*")); len(left) > 0 {
			t.Errorf("%q leaves %q", args, left)
		}
	}
	ends(exitFailed, "a new index needs --from", follow("new", "pages")...)
	ends(exitUsage, "--from: address", follow("new", "pages", "--from", "nowhere")...)
	ends(exitUsage, "give the log with --brokers", "serve", "--index", "new", "--listen", "unix:n", "--from", web.URL)
	ends(exitFailed, "for a snapshot: firstseen server: Unauthorized", follow("new", "pages", "--from", web.URL)...)
	ends(exitFailed, "the snapshot follows topic pages", follow("new", "others", from...)...)

	whole, err := client.Get("http://server/v1/snapshot")
	indextest.Must(t, err)
	size, err := io.Copy(io.Discard, whole.Body)
	indextest.Must(t, err)
	whole.Body.Close()
	// The archive ends with 1024 zeros after the table.
	for _, cuts.bytes = range []int64{0, 100, 600, size / 2, size - 1500} {
		cmd := program(t, dir, follow("new", "pages", from...)...)
		start(t, cmd)
		<-cuts.met
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
			t.Fatalf("killed after %d bytes: the folder is there", cuts.bytes)
		}
	}
	cmd := program(t, dir, follow("new", "pages", from...)...)
	start(t, cmd)
	<-cuts.met
	_ = cmd.Process.Signal(syscall.SIGTERM)
	exits(t, cmd, exitDone)

	cuts.bytes = -1
	if _, said := runProgram(t, dir, exitFailed, follow("folder/new", "pages", append(from, "--threshold", "0.9")...)...); !strings.Contains(said, "leave those flags out") {
		t.Errorf("other settings: %s", said)
	}
	copied := unixClient(filepath.Join(dir, "n"))
	for round := range 3 { // the first fetches, the others go on without the other server
		cmd = program(t, dir, follow("new", "pages", from...)...)
		start(t, cmd)
		asked(t, copied, "/livez")
		produce(5)
		want := fmt.Sprint(`"id":"d`, given, `"`)
		if a := asked(t, copied, fmt.Sprint("/v1/verdicts/", given)); !strings.Contains(a, want) {
			t.Errorf("round %d: %s, want %s", round, a, want)
		}
		web.Close()
		if round < 2 {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	asked(t, client, fmt.Sprint("/v1/verdicts/", given))
	for _, p := range []*os.Process{cmd.Process, other.Process} {
		_ = p.Signal(syscall.SIGTERM)
	}
	exits(t, cmd, exitDone)
	exits(t, other, exitDone)
	for _, what := range []string{"documents", "keys"} {
		old, _ := runProgram(t, dir, exitDone, "index", "dump", "old", "--what", what)
		if copied, _ := runProgram(t, dir, exitDone, "index", "dump", "new", "--what", what); len(old) < 1000 || copied != old {
			t.Errorf("%s: %d bytes and %d bytes differ", what, len(old), len(copied))
		}
	}
}
