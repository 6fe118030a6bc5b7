package follow

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/firstseen/firstseen/internal/base/owners"
	"github.com/firstseen/firstseen/internal/engine/server"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// said collects the lines of slog.
type said struct {
	mu    sync.Mutex
	lines bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines.Write(p)
}

func (s *said) count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Count(s.lines.String(), what)
}

// logged collects what the test says through slog.
func logged(t *testing.T) *said {
	t.Helper()
	s, before := new(said), slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(s, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return s
}

// TestBrokerGone takes the broker away from a front end. Within 10 seconds it is not ready, and new
// documents get 503 at once. Each change is one line.
func TestBrokerGone(t *testing.T) {
	lines, dir, port := logged(t), t.TempDir(), 0
	start := func() *kfake.Cluster {
		t.Helper()
		c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(port), kfake.DataDir(dir), kfake.SyncWrites(), kfake.SeedTopics(1, "log"))
		indextest.Must(t, err)
		return c
	}
	c := start()
	_, p, err := net.SplitHostPort(c.ListenAddrs()[0])
	indextest.Must(t, err)
	port, err = strconv.Atoi(p)
	indextest.Must(t, err)
	index := filepath.Join(t.TempDir(), "index")
	x := openIndex(t, index, followOptions)
	f, err := Open(t.Context(), Config{Index: x, Dir: index, Log: dialed(t, c, ""), Appends: true})
	indextest.Must(t, err)
	s, err := server.Open(server.Config{Index: x, Dir: index, Log: f})
	indextest.Must(t, err)
	web := s.Handler("")
	ask := func(method, path, body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		web.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
		return w
	}
	becomes := func(code int) {
		t.Helper()
		begun := time.Now()
		for ask("GET", "/readyz", "").Code != code {
			if time.Since(begun) > 10*time.Second {
				t.Fatalf("after %v /readyz still does not answer %d", time.Since(begun), code)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	becomes(http.StatusOK)
	document := `{"id":"a","text":"` + text(1) + `"}`
	if w := ask("POST", "/v1/see", document); w.Code != http.StatusOK {
		t.Fatal(w)
	}
	times := 2
	if testing.Short() {
		times = 1
	}
	for range times {
		c.Close()
		becomes(http.StatusServiceUnavailable)
		begun := time.Now()
		if w := ask("POST", "/v1/see", document); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" || time.Since(begun) > time.Second {
			t.Errorf("without a broker, after %v: %v", time.Since(begun), w)
		}
		c = start()
		becomes(http.StatusOK)
		if w := ask("POST", "/v1/see", document); !strings.Contains(w.Body.String(), `"again":true`) {
			t.Errorf("the broker is back: %v", w.Body)
		}
	}
	for _, line := range []string{"no broker answers", "a broker answers again"} {
		if n := lines.count(line); n != times {
			t.Errorf("%d times %q in\n%s", n, line, &lines.lines)
		}
	}
	indextest.Must(t, s.Close())
	indextest.Must(t, x.Close())
	c.Close()
}

// TestLag checks the lag in records and in seconds: since the last decided record arrived, or since
// none was undecided.
func TestLag(t *testing.T) {
	f := &Follower{answers: newAnswers(5), watched: watched{started: time.Now().Add(-40 * time.Second)}}
	expect := func(what string, records int64, seconds float64) {
		t.Helper()
		if n, s := f.Lag(); n != records || s < seconds || s > seconds+5 {
			t.Errorf("%s: %d records and %v seconds, want %d and %v", what, n, s, records, seconds)
		}
	}
	ago := func(seconds time.Duration) int64 { return time.Now().Add(-seconds * time.Second).UnixNano() }
	expect("before the first look", 0, 0)
	f.end.Store(5)
	expect("at the end", 0, 0)
	f.end.Store(8)
	expect("nothing decided since the start", 3, 40)
	f.decided.Store(ago(7200))
	expect("a log of days", 3, 7200)
	f.current.Store(ago(20))
	expect("a quiet log", 3, 20)
	f.decided.Store(ago(-3600))
	expect("a producer whose clock is ahead", 3, 0)
}

// TestStoredInTime checks that a follower of a slow log stores its place although it has decided few
// bytes. A kill then needs no earlier record.
func TestStoredInTime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	all := records(t, 20)
	f, x := followed(t, dir, newMemory(all...), func(c *Config) {
		c.Policy.CheckpointBytes, c.storeEvery = 1<<30, time.Millisecond
	})
	reach(t, f, int64(len(all)-1))
	stored := place{}
	for begun := time.Now(); stored.Next < int64(len(all)) && time.Since(begun) < time.Minute; time.Sleep(time.Millisecond) {
		indextest.Must(t, f.Do(func() error {
			value, err := x.Value(owners.Followed)
			if err == nil && value != nil {
				err = json.Unmarshal(value, &stored)
			}
			return err
		}))
	}
	kill(t, f, x)
	x = openIndex(t, dir, followOptions)
	f, err := Open(t.Context(), Config{Index: x, Dir: dir, Log: bounded{newMemory(), int64(len(all)), int64(len(all)), "1"}})
	indextest.Must(t, err)
	f.Start(nil)
	end(t, f, x)
}
