package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/step"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// snapshot fetches a snapshot to a new folder.
func snapshot(t *testing.T, web *httptest.Server) (dest string) {
	t.Helper()
	a, err := http.Get(web.URL + "/v1/snapshot")
	indextest.Must(t, err)
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		t.Fatal(a.Status)
	}
	dest = filepath.Join(t.TempDir(), "copy")
	indextest.Must(t, index.Restore(context.Background(), a.Body, dest))
	return dest
}

// TestSnapshotsWhileServing takes eight snapshots while four clients give documents. Each is sound,
// has all documents that were answered before, and is served like the original.
func TestSnapshotsWhileServing(t *testing.T) {
	t.Parallel()
	s, x := opened(t, filepath.Join(t.TempDir(), "index"), memtableKeys, func(c *Config) {
		c.Policy.CheckpointBytes, c.journal = 3000, 9000
	})
	web := httptest.NewServer(s.Handler(""))
	defer func() {
		web.Close()
		closed(t, s, x)
	}()
	docs := texts(8 * 120)
	for round := range 8 {
		var clients sync.WaitGroup
		half := make(chan bool, 4)
		for client := range 4 {
			clients.Go(func() {
				mine := docs[round*120+client*30:][:30]
				for i := 0; i < 30; i += 3 {
					if err := see(s, &request{docs: mine[i : i+3]}); err != nil {
						t.Error(err)
					}
					if i == 6 {
						half <- true
					}
				}
			})
		}
		for range 4 {
			<-half
		}
		copied := snapshot(t, web)
		clients.Wait()
		found, err := index.Check(context.Background(), copied, index.CheckOptions{})
		if err != nil || !found.Sound {
			t.Fatalf("%+v, %v", found, err)
		}
		again, y := opened(t, copied, memtableKeys, nil)
		repeated := texts((round + 1) * 120)
		give(t, again, repeated[:round*120])
		for client := range 4 {
			give(t, again, repeated[round*120+client*30:][:9])
		}
		for _, doc := range repeated {
			if answer := string(doc.Answer); strings.Contains(answer, `"kept":true`) && !strings.Contains(answer, `"again":true`) {
				t.Fatalf("round %d: the answered document %s is new to the copy: %s", round, doc.ID, answer)
			}
		}
		closed(t, again, y)
	}
}

// TestKilledInSnapshot kills the server after each of the two checkpoints of a snapshot. The next
// server has all documents, and the copy equals an index after a clean end.
func TestKilledInSnapshot(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	at := func(c *Config) { c.Policy.Now = func() time.Time { return time.Unix(1_700_000_000, 0) } }
	s, x := opened(t, dir, 0, at)
	web := httptest.NewServer(s.Handler(""))
	defer web.Close()
	give(t, s, texts(60))
	var killed []string
	step.Hook = func(name string) error {
		if name == "took checkpoint" {
			killed = append(killed, indextest.Copy(t, dir))
		}
		return nil
	}
	t.Cleanup(func() { step.Hook = nil })
	copied := snapshot(t, web)
	step.Hook = nil
	more := texts(90)[60:]
	give(t, s, more)
	killed = append(killed, indextest.Copy(t, dir)) // its journal is not dropped
	closed(t, s, x)
	if len(killed) != 3 {
		t.Fatalf("%d checkpoints", len(killed)-1)
	}
	want := dumped(t, dir)
	for i, left := range append(killed, copied) {
		s, x := opened(t, left, 0, at)
		if i != 2 {
			give(t, s, texts(90)[60:])
		}
		closed(t, s, x)
		if diff := cmp.Diff(want, dumped(t, left)); diff != "" {
			t.Errorf("state %d: %s", i, diff)
		}
	}
}

// TestSnapshotCutOff checks that a client sees the failure of a snapshot, and that the server goes on.
func TestSnapshotCutOff(t *testing.T) {
	s, web := served(t, nil)
	give(t, s, texts(30))
	limited := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Handler("").ServeHTTP(&failing{ResponseWriter: w, left: 9000}, r)
	}))
	defer limited.Close()
	a, err := http.Get(limited.URL + "/v1/snapshot")
	indextest.Must(t, err)
	defer a.Body.Close()
	if n, err := io.Copy(io.Discard, a.Body); err == nil {
		t.Errorf("%d bytes and no error", n)
	}
	give(t, s, texts(60)[30:])
	snapshot(t, web)
}

type failing struct {
	http.ResponseWriter
	left int
}

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errors.New("the client is gone")
	}
	return f.ResponseWriter.Write(b)
}
