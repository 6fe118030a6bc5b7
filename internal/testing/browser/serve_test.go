package browser

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/engine/server"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// served returns a server of an empty index.
func served(t *testing.T, token string) *httptest.Server {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "index")
	x, err := index.Open(context.Background(), dir, index.Options{Key: index.KeyNew, Shape: index.ShapeFor(1000, feature.Scheme{}, false), Serve: true})
	indextest.Must(t, err)
	s, err := server.Open(server.Config{Index: x, Dir: dir})
	indextest.Must(t, err)
	web := httptest.NewServer(s.Handler(token))
	t.Cleanup(func() {
		web.Close()
		indextest.Must(t, s.Close())
		indextest.Must(t, x.Close())
	})
	return web
}

// TestServedPage checks the page as people use it: a text and an id are answered with both texts,
// in both colour schemes and widths, with no error and no request elsewhere.
func TestServedPage(t *testing.T) {
	t.Parallel()
	web := served(t, "")
	text, err := os.ReadFile("../../../testdata/bilingual/guide.jsonl")
	indextest.Must(t, err)
	answer, err := http.Post(web.URL+"/v1/see", "application/x-ndjson", bytes.NewReader(text))
	indextest.Must(t, err)
	indextest.Must(t, answer.Body.Close())
	p := Open(t, web.URL+"/")
	p.Size(1280, 900)
	p.Wait(`$("documents").textContent === "38" && $("removals").rows.length === 11`)
	p.Click("#text")
	p.Type(strings.Repeat("A sentence that is in no document at all. ", 9))
	p.Click("#ask button")
	p.Wait(`$("answer").textContent.includes("this text is new")`)
	p.Eval(`$("text").value = "i386/en/ch01", 0`, nil)
	p.Click("#ask button")
	p.Wait(`$("answer").textContent.includes("i386/en/ch01 is a copy of amd64/en/ch01") && $("answer").querySelectorAll(".text").length === 2 && $("answer").querySelector("mark.only") && $("answer").querySelector("li")`)
	for _, dark := range []bool{false, true} {
		p.Dark(dark)
		for _, width := range []int{1280, 360} {
			p.Size(width, 900)
			if faults := p.Axe(); len(faults) > 0 {
				t.Errorf("dark %v, %d wide: %q", dark, width, faults)
			}
			if dir := os.Getenv("FIRSTSEEN_SCREENSHOTS"); dir != "" {
				p.Screenshot(filepath.Join(dir, fmt.Sprintf("serve-%d-%v.png", width, dark)))
			}
		}
	}
	p.Click("#removals button")
	p.Wait(`$("text").value === $("removals").querySelector("button").textContent && document.activeElement.id === "answer"`)
	checkQuiet(t, p, web)
}

// checkQuiet checks that a page has logged no error and asked no other server.
func checkQuiet(t *testing.T, p *Page, web *httptest.Server) {
	t.Helper()
	if errors := p.Errors(); len(errors) > 0 {
		t.Errorf("%q", errors)
	}
	for _, r := range p.Requests() {
		if !strings.HasPrefix(r, web.URL+"/") && !strings.HasPrefix(r, "data:") {
			t.Errorf("a request to %s", r)
		}
	}
}

// TestServedPageWithToken checks that the page shows nothing before it has the token, which stays out of
// addresses and goes with the tab.
func TestServedPageWithToken(t *testing.T) {
	t.Parallel()
	web := served(t, "a token of this server")
	p := Open(t, web.URL+"/")
	p.Wait(`!$("login").hidden && $("main").hidden && document.activeElement === $("token")`)
	if requests := p.Requests(); len(requests) > 2 {
		t.Errorf("before the token it asked %q", requests)
	}
	p.Size(360, 640)
	if faults := p.Axe(); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
	p.Click("#token")
	p.Type(" a token of this server ")
	p.Key("Enter")
	p.Wait(`$("login").hidden && $("documents").textContent === "0" && $("none").checkVisibility()`)
	checkQuiet(t, p, web)
	p.Go(web.URL + "/")
	p.Wait(`$("login").hidden && $("documents").textContent === "0"`)
	p.Eval(`sessionStorage.setItem(key, "another"), 0`, nil)
	p.Go(web.URL + "/")
	p.Wait(`!$("login").hidden && $("refused").textContent.includes("does not know") && !sessionStorage.getItem(key)`)
	for _, r := range p.Requests() {
		if strings.Contains(r, "token") {
			t.Errorf("the address %s has the token", r)
		}
	}
}
