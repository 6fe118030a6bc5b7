package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/client"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/listen"
	"github.com/firstseen/firstseen/internal/engine/server"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// served serves an index at a Unix socket, behind wrap, and returns a client of it.
func served(t *testing.T, wrap func(http.Handler) http.Handler) *client.Client {
	dir := filepath.Join(t.TempDir(), "index")
	x, err := index.Open(context.Background(), dir, index.Options{Shape: index.ShapeFor(1000, feature.Scheme{}, false), Serve: true})
	indextest.Must(t, err)
	s, err := server.Open(server.Config{Index: x, Dir: dir, MaxDocuments: 3})
	indextest.Must(t, err)
	address := "unix:" + filepath.Join(t.TempDir(), "s")
	l, err := listen.Listen(address)
	indextest.Must(t, err)
	web := httptest.NewUnstartedServer(wrap(s.Handler("0123456789abcdef")))
	indextest.Must(t, web.Listener.Close())
	web.Listener = l
	web.Start()
	t.Cleanup(func() {
		web.Close()
		indextest.Must(t, s.Close())
		indextest.Must(t, x.Close())
	})
	c, err := client.New(address)
	indextest.Must(t, err)
	c.Token = "0123456789abcdef"
	t.Cleanup(c.HTTP.CloseIdleConnections)
	return c
}

// TestSee first meets a busy server, then one that decides but loses its answer, then a proxy
// whose server is down.
func TestSee(t *testing.T) {
	var tries atomic.Int32
	c := served(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch tries.Add(1) {
			case 1:
				w.WriteHeader(http.StatusTooManyRequests)
			case 2:
				next.ServeHTTP(httptest.NewRecorder(), r)
				panic(http.ErrAbortHandler)
			case 3:
				w.WriteHeader(http.StatusBadGateway)
			default:
				next.ServeHTTP(w, r)
			}
		})
	})
	docs := []client.Document{{ID: "a", Text: indextest.Sentences(1)}, {ID: "b", Text: indextest.Sentences(1)}}
	got, err := c.See(t.Context(), docs)
	indextest.Must(t, err)
	want := []client.Answer{{ID: "a", Verdict: "unique", Kept: true, Of: "a", Score: 1, Again: true}, {ID: "b", Verdict: "duplicate", Of: "a", Score: 1}}
	if diff := cmp.Diff(want, got); diff != "" || tries.Load() != 4 {
		t.Errorf("%d tries: %s", tries.Load(), diff)
	}
}

func TestRefusals(t *testing.T) {
	c := served(t, func(next http.Handler) http.Handler { return next })
	var refused *client.StatusError
	if _, err := c.See(t.Context(), make([]client.Document, 4)); !errors.As(err, &refused) || refused.Status != 413 {
		t.Errorf("too many documents: error %v", err)
	}
	c.Token = "another"
	if _, err := c.See(t.Context(), make([]client.Document, 1)); !errors.As(err, &refused) || refused.Status != 401 {
		t.Errorf("another token: error %v", err)
	}
	away, err := client.New("unix:" + filepath.Join(t.TempDir(), "none"))
	indextest.Must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := away.See(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no server: error %v", err)
	}
	for _, c := range []client.Client{{URL: "http://["}, {}, {URL: "localhost:80"}, {URL: away.URL, Token: "a line\n"}} {
		c.HTTP = away.HTTP
		if _, err := c.See(ctx, nil); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%q and %q, which cannot be sent: error %v", c.URL, c.Token, err)
		}
	}
	for _, address := range []string{"localhost:80", "unix:", "http://", ""} {
		if c, err := client.New(address); err == nil || c != nil {
			t.Errorf("the address %q was taken", address)
		}
	}
}

// TestLiteral checks that a client made without New uses the default HTTP client.
func TestLiteral(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	var refused *client.StatusError
	c := client.Client{URL: web.URL}
	if _, err := c.See(t.Context(), nil); !errors.As(err, &refused) || refused.Status != http.StatusNotFound {
		t.Errorf("error %v", err)
	}
}
