//go:build unix

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

var serverKills = flag.Int("kills", 4, "how often TestServerKilled kills the server")

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

// TestServerKilled kills a server again and again while 8 clients send the same texts and retry
// unanswered requests. No text is kept twice, and no acknowledged document is forgotten.
func TestServerKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	t.Parallel()
	const clients, together = 8, 5
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	texts := 400 * *serverKills
	client := unixClient(socket)
	var mu sync.Mutex
	kept := make([]string, texts) // the id under which each text is kept, as answered
	take := func(a seen) {
		var n, c int
		_, _ = fmt.Sscanf(a.ID, "%d/%d", &n, &c)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case a.Kept && kept[n] != "" && kept[n] != a.ID:
			t.Errorf("%s and %s are both kept", kept[n], a.ID)
		case a.Kept:
			kept[n] = a.ID
		case kept[n] != "" && a.Of != kept[n]:
			t.Errorf("%s is a copy of %s, and %s was kept", a.ID, a.Of, kept[n])
		}
	}
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			order := rand.New(rand.NewPCG(uint64(c), 0)).Perm(texts)
			for at := 0; at < texts; at += together {
				lines := ""
				for _, n := range order[at : at+together] {
					lines += documentLine(fmt.Sprintf("%d/%d", n, c), n)
				}
				answers, ok := posted(client, lines)
				for ; !ok && t.Context().Err() == nil; answers, ok = posted(client, lines) {
					time.Sleep(5 * time.Millisecond)
				}
				for _, a := range answers {
					take(a)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	rnd := rand.New(rand.NewPCG(3, 4))
	for range *serverKills {
		server := program(t, dir, "serve", "--index", "seen", "--listen", "unix:"+socket)
		start(t, server)
		select {
		case <-done:
		case <-time.After(time.Duration(100+rnd.IntN(400)) * time.Millisecond):
		}
		_ = server.Process.Signal(syscall.SIGKILL)
		if err := server.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("the server ended by itself: %v\n%s", err, server.Stderr)
		}
	}
	server := program(t, dir, "serve", "--index", "seen", "--listen", "unix:"+socket)
	start(t, server)
	<-done
	for _, up := posted(client, documentLine(kept[0], 0)); !up && t.Context().Err() == nil; _, up = posted(client, documentLine(kept[0], 0)) {
		time.Sleep(5 * time.Millisecond) // the clients may have ended before this server began
	}
	for n, id := range kept {
		if id == "" {
			t.Fatalf("text %d is kept under no id", n)
		}
		answers, ok := posted(client, documentLine(id, n)+documentLine("later", n))
		if !ok || len(answers) != 2 || !answers[0].Again || !answers[0].Kept || answers[1].Of != id {
			t.Fatalf("text %d, kept as %s: %+v", n, id, answers)
		}
	}
	_ = server.Process.Signal(syscall.SIGTERM)
	exits(t, server, exitDone)
	check := program(t, dir, "index", "check", "seen")
	start(t, check)
	exits(t, check, exitDone)
}
