package server

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestIdleAndSlow gives documents beside idle connections and clients that stop in the middle of a
// body, more of them than there are places. None of the documents is refused, and the memory per
// connection is that of the manual. bench serve has figures of more connections.
func TestIdleAndSlow(t *testing.T) {
	const idle, slow, perIdle = 400, 100, 64 << 10
	s, web := served(t, func(c *Config) { c.Waiting = 8 })
	to := func(send string) net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", web.Listener.Addr().String())
		indextest.Must(t, err)
		t.Cleanup(func() { _ = c.Close() })
		_, err = fmt.Fprint(c, send)
		indextest.Must(t, err)
		return c
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range idle {
		c := to("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
		if answer, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(answer, "200") {
			t.Fatal(answer, err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := (after.HeapInuse + after.StackInuse - before.HeapInuse - before.StackInuse) / idle; grown > perIdle { // with its client
		t.Errorf("an idle connection takes %d bytes, want at most %d", grown, perIdle)
	}
	half := line("slow", article)[:100]
	for range slow {
		to(fmt.Sprintf("POST /v1/see HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", DefaultMaxBody, half))
	}
	for begun := time.Now(); s.held.Load() < slow*int64(len(half)); time.Sleep(time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatalf("of the slow clients %d bytes have come", s.held.Load())
		}
	}
	var all sync.WaitGroup
	for c := range 4 {
		all.Go(func() {
			for n := range 20 {
				if code, body := post(t, web.URL+"/v1/see", "", line(fmt.Sprint(c, n), article)); code != http.StatusOK {
					t.Errorf("beside %d slow clients: code %d, %s", slow, code, body)
				}
			}
		})
	}
	all.Wait()
	web.CloseClientConnections()
	for begun := time.Now(); s.held.Load() != 0; time.Sleep(time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatalf("without clients %d bytes are held", s.held.Load())
		}
	}
}

// TestBodiesAreBounded checks that bodies that arrive together hold no more than all places would.
func TestBodiesAreBounded(t *testing.T) {
	s, web := served(t, func(c *Config) { c.MaxBody, c.Waiting = 1<<20, 2 })
	s.held.Store(2<<20 - 10)
	if code, body := post(t, web.URL+"/v1/see", "", line("a", article)); code != http.StatusTooManyRequests {
		t.Errorf("code %d, %s", code, body)
	}
	if n := s.held.Load(); n != 2<<20-10 {
		t.Errorf("a refused body is still counted: %d", n-(2<<20-10))
	}
	s.held.Store(0)
	if code, body := post(t, web.URL+"/v1/see", "", line("a", article)); code != http.StatusOK || s.held.Load() != 0 {
		t.Errorf("code %d, %s, %d bytes held", code, body, s.held.Load())
	}
}
