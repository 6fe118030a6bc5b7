//go:build unix

package cli

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestStandby kills a server under load, promotes its standby, and begins again with a standby of that.
// A new server has all documents that were answered a second before the kill, with the same answers.
func TestStandby(t *testing.T) {
	takesSeconds(t)
	t.Parallel()
	dir := t.TempDir()
	serve := func(n int, args ...string) (*exec.Cmd, *http.Client) {
		cmd := program(t, dir, append([]string{"serve", "--index", fmt.Sprint("i", n), "--listen", fmt.Sprint("unix:s", n)}, args...)...)
		start(t, cmd)
		return cmd, unixClient(filepath.Join(dir, fmt.Sprint("s", n)))
	}
	type answer struct {
		seen
		text int
		when time.Time
	}
	var mu sync.Mutex
	var all []answer
	server, c := serve(0)
	for n := 1; n <= 3; n++ {
		asked(t, c, "/readyz")
		var clients sync.WaitGroup
		for client := range 4 {
			clients.Go(func() {
				for i := 0; ; i++ {
					text := rand.IntN(1000)
					got, ok := posted(c, documentLine(fmt.Sprint(n, "/", client, "/", i), text))
					if !ok {
						return
					}
					mu.Lock()
					all = append(all, answer{got[0], text, time.Now()})
					mu.Unlock()
				}
			})
		}
		standby, next := serve(n, "--standby-of", fmt.Sprint("unix:s", n-1))
		keptUp := func() {
			for !regexp.MustCompile(`firstseen_standby_up 1\n(.*\n)*firstseen_standby_lag_seconds 0\.[0-5]`).MatchString(asked(t, next, "/metrics")) {
				time.Sleep(10 * time.Millisecond)
			}
		}
		keptUp()
		if said := asked(t, next, "/readyz"); !strings.Contains(said, "standby") {
			t.Errorf("before the promotion: %s", said)
		}
		time.Sleep(time.Duration(1000+rand.IntN(500)) * time.Millisecond)
		keptUp()
		indextest.Must(t, server.Process.Kill())
		killed := time.Now()
		_ = server.Wait()
		r, err := next.Post("http://server/v1/promote", "", nil)
		indextest.Must(t, err)
		indextest.Must(t, r.Body.Close())
		if ready := asked(t, next, "/readyz"); r.StatusCode != 200 || ready != "ok\n" || time.Since(killed) > 5*time.Second {
			t.Fatalf("%v after the kill: %s, ready: %s", time.Since(killed), r.Status, ready)
		}
		clients.Wait()
		lost, oldest := map[string]bool{}, time.Duration(0)
		for _, a := range all {
			got, ok := posted(next, documentLine(a.ID, a.text))
			if !ok {
				t.Fatal("the promoted server does not answer")
			}
			if got := got[0]; got.Kept == a.Kept && got.Again == a.Kept && (a.Kept || got.Of == a.Of) || lost[a.Of] {
				continue
			}
			lost[a.ID] = true
			oldest = max(oldest, killed.Sub(a.when))
		}
		t.Logf("%d answers, %d lost, the oldest %v before the kill", len(all), len(lost), oldest)
		if oldest > time.Second {
			t.Errorf("a lost answer was %v old", oldest)
		}
		all = nil
		server, c = standby, next
	}
	indextest.Must(t, server.Process.Kill())
	_ = server.Wait()
	for args, code := range map[string]int{
		"serve --index i3 --standby-of unix:s2 --listen unix:s3":               exitFailed, // it was promoted
		"serve --index i9 --standby-of nowhere --listen unix:s9":               exitUsage,
		"serve --index i9 --standby-of unix:s2 --log x --brokers y --listen z": exitUsage,
	} {
		if _, said := runProgram(t, dir, code, strings.Fields(args)...); !strings.Contains(said, "standby") {
			t.Error(said)
		}
	}
}
