package server

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/engine/apply"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// guide gives a server some pages of the bilingual guide, copies and others.
func guide(t *testing.T, web *httptest.Server) {
	t.Helper()
	text, err := os.ReadFile("../../../testdata/bilingual/guide.jsonl")
	indextest.Must(t, err)
	if code, body := post(t, web.URL+"/v1/see", "", string(text)); code != 200 {
		t.Fatal(code, body)
	}
}

// explanation is an answer of /v1/explain.
type explanation struct {
	explained
	Report *verdict `json:"report"`
}

func explainOf(t *testing.T, web *httptest.Server, query, text string) (e explanation) {
	t.Helper()
	code, body := post(t, web.URL+"/v1/explain?"+query, "text/plain", text)
	if err := json.Unmarshal([]byte(body), &e); code != 200 || err != nil {
		t.Fatalf("%d %s, %v", code, body, err)
	}
	return e
}

// answerTo sends a request, and returns code, body and headers of the answer.
func answerTo(t *testing.T, r *http.Request) (int, string, http.Header) {
	t.Helper()
	answer, err := http.DefaultClient.Do(r)
	indextest.Must(t, err)
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	indextest.Must(t, err)
	return answer.StatusCode, string(b), answer.Header
}

// TestNothingWithoutToken checks that nothing is answered without the token.
func TestNothingWithoutToken(t *testing.T) {
	s, x := opened(t, filepath.Join(t.TempDir(), "index"), 0, nil)
	defer closed(t, s, x)
	web := httptest.NewServer(s.Handler("a token of this server"))
	defer web.Close()
	for _, path := range []string{"/v1/", "/v1/recent", "/v1/explain?id=x", "/v1/stats", "/other"} {
		method := map[bool]string{true: http.MethodPost, false: http.MethodGet}[strings.Contains(path, "explain")]
		r, err := http.NewRequest(method, web.URL+path, strings.NewReader("x"))
		indextest.Must(t, err)
		if code, body, _ := answerTo(t, r); code != http.StatusUnauthorized || strings.Contains(body, "list") {
			t.Errorf("%s without a token: %d %s", path, code, body)
		}
	}
}

// TestPageHeaders checks that the page may run its own script alone, and that NoPage takes it away.
func TestPageHeaders(t *testing.T) {
	_, web := served(t, nil)
	r, err := http.NewRequest(http.MethodGet, web.URL+"/", nil)
	indextest.Must(t, err)
	code, body, headers := answerTo(t, r)
	policy := headers.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'sha256-", "connect-src 'self'", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("%q lacks %q", policy, want)
		}
	}
	if strings.Contains(policy, "unsafe") || code != 200 || strings.Contains(body, "{{") || headers.Get("X-Content-Type-Options") != "nosniff" || headers.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("%d, %v", code, headers)
	}
	_, bare := served(t, func(c *Config) { c.NoPage = true })
	guide(t, bare)
	r, err = http.NewRequest(http.MethodGet, bare.URL+"/", nil)
	indextest.Must(t, err)
	if code, body, _ := answerTo(t, r); code != http.StatusNotFound || !strings.Contains(body, "GET /v1/stats") {
		t.Errorf("without a page: %d %s", code, body)
	}
	if e := explainOf(t, bare, "id=x&find=1", "amd64/en/ch01"); e.Stored == nil || e.Later.Why == "" {
		t.Errorf("without a page: %+v", e)
	}
}

// TestOtherSites checks that a page of another site can neither send requests nor read texts.
func TestOtherSites(t *testing.T) {
	_, web := served(t, nil)
	for _, c := range []struct {
		method, path, host string
		headers            map[string]string
		code               int
	}{
		{"POST", "/v1/see?id=x", "", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"POST", "/v1/batches/b/cancel", "", map[string]string{"Origin": "https://elsewhere.example"}, 403},
		{"POST", "/v1/see?id=x", "", map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1"}, 200},
		{"POST", "/v1/see?id=x", "elsewhere.example", nil, 200}, // as behind a proxy
		{"GET", "/v1/recent", "elsewhere.example", nil, 403},
		{"POST", "/v1/explain?id=x", "elsewhere.example:80", nil, 403},
		{"GET", "/v1/recent", "localhost:80", nil, 200},
		{"GET", "/v1/recent", "[::1]", nil, 200},
		{"GET", "/v1/recent", "127.0.0.1.elsewhere.example", nil, 403},
	} {
		r, err := http.NewRequest(c.method, web.URL+c.path, strings.NewReader("some text"))
		indextest.Must(t, err)
		r.Host = c.host
		r.Header.Set("Content-Type", "text/plain")
		for name, value := range c.headers {
			r.Header.Set(name, value)
		}
		if code, body, _ := answerTo(t, r); code != c.code {
			t.Errorf("%+v: %d %s", c, code, body)
		}
	}
}

// TestExplain checks what is shown of a text, a removed id, a kept id and an unknown one, and that
// nothing of it is remembered.
func TestExplain(t *testing.T) {
	s, web := served(t, nil)
	guide(t, web)
	line := strings.Repeat("Installing Debian on this machine is described here. ", 3)
	post(t, web.URL+"/v1/see?id=kept&batch=b", "text/plain", line+"The end of it is here and nowhere else.")
	e := explainOf(t, web, "id=x", line+"The end of it is there and nowhere else.")
	if e.Report == nil || e.Report.Of != "kept" || e.Report.Verdict != "related" || e.Earlier == nil || len(e.Reasons) == 0 {
		t.Fatalf("%+v", e)
	}
	only := func(s side) (text string) {
		for _, p := range s.Parts {
			if p.Only {
				text += p.Text
			}
		}
		return strings.TrimSpace(text)
	}
	if only(e.Later) != "there" || only(*e.Earlier) != "here" && only(*e.Earlier) != "" {
		t.Errorf("%+v beside %+v", e.Later, e.Earlier)
	}
	if e := explainOf(t, web, "id=x", "i386/en/ch01"); e.Report == nil || e.Report.Verdict != "unique" || e.Earlier != nil {
		t.Errorf("an id as a text: %+v", e)
	}
	if e := explainOf(t, web, "id=x&find=1", " i386/en/ch01\n"); e.Removal == nil || e.Removal.Of != "amd64/en/ch01" || e.Earlier == nil || e.Earlier.Why != "" || e.Later.ID != "i386/en/ch01" {
		t.Errorf("a removed id: %+v", e)
	}
	if e := explainOf(t, web, "id=x&find=1", "kept"); e.Stored == nil || e.Stored.Batch != "b" || len(e.Later.Parts) != 1 {
		t.Errorf("a kept id: %+v", e)
	}
	if e := explainOf(t, web, "id=x&find=1", "nowhere"); e.Report == nil || e.Stored != nil || e.Removal != nil {
		t.Errorf("an unknown id: %+v", e)
	}
	long := strings.Repeat("é", maxShown)
	if e := explainOf(t, web, "id=x&find=1", long); !e.Later.Cut || e.Later.Parts[0].Text != long[:maxShown] {
		t.Error("a long text is not cut")
	}
	if code, body := post(t, web.URL+"/v1/explain?id=x", "text/plain", "\xff"); code != 400 {
		t.Errorf("no UTF-8: %d %s", code, body)
	}
	if n := s.cfg.Index.TableStats().Documents; n != 39 {
		t.Errorf("%d documents are remembered", n)
	}
}

// TestForgottenLeavesThePage checks that neither ids nor texts of what is taken back can be seen.
func TestForgottenLeavesThePage(t *testing.T) {
	s, web := served(t, nil)
	text := func(n int) string { return indextest.Sentences(n) }
	for i, id := range []string{"a", "b", "c"} {
		post(t, web.URL+"/v1/see?batch="+id+"&id="+id, "text/plain", text(i))
		post(t, web.URL+"/v1/see?id=copy-"+id, "text/plain", text(i))
	}
	gone := func(id string) {
		t.Helper()
		if e := explainOf(t, web, "id=x&find=1", "copy-"+id); e.Removal != nil {
			t.Errorf("the copy of %s is seen: %+v", id, e.Removal)
		}
		if e := explainOf(t, web, "id=x&find=1", id); e.Stored != nil {
			t.Errorf("%s is seen", id)
		}
	}
	forget := func(method, path string) {
		t.Helper()
		r, err := http.NewRequest(method, web.URL+path, nil)
		indextest.Must(t, err)
		if code, body, _ := answerTo(t, r); code != 200 || !strings.Contains(body, ":1}") {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	forget(http.MethodDelete, "/v1/documents/a")
	gone("a")
	forget(http.MethodPost, "/v1/batches/b/cancel")
	gone("b")
	if e := explainOf(t, web, "id=x&find=1", "copy-c"); e.Removal == nil || e.Earlier.Why != "" || len(s.recent.texts) != 1 || len(s.recent.removals) != 1 || s.recent.bytes > 2000 {
		t.Errorf("%+v, %d texts", e, len(s.recent.texts))
	}
}

// TestRecentIsBounded checks that the oldest texts and removals make room, and that the counts of an
// hour ago go.
func TestRecentIsBounded(t *testing.T) {
	var p recent
	text := make([]byte, 100_000)
	for i := range 1000 {
		p.decided(&apply.Step{Entry: journal.Entry{ID: fmt.Sprint(i % 300), Text: text}}, &dedup.Result{Kept: true}, kept{number: uint32(i + 1)})
		p.decided(&apply.Step{Entry: journal.Entry{ID: fmt.Sprint("r", i), Text: text}}, &dedup.Result{Of: dedup.Source{ID: "x"}}, kept{})
		if i%10 == 0 {
			p.forget(&apply.Step{Entry: journal.Entry{Kind: journal.Forgotten, ID: fmt.Sprint(i % 300)}})
		}
	}
	size := 0
	for _, k := range p.texts {
		size += k.size()
	}
	if size != p.bytes || size > lastTexts || size < lastTexts/2 || len(p.removals) != lastRemovals {
		t.Errorf("%d texts of %d bytes, counted as %d; %d removals", len(p.texts), size, p.bytes, len(p.removals))
	}
	if _, there := p.textOf(1000); !there {
		t.Error("the latest text is gone")
	}
	now := time.Now()
	if l := p.lately(now); len(l.Minutes) == 0 || l.Removals[0].ID != "r999" {
		t.Errorf("%+v", l)
	}
	if l := p.lately(now.Add(time.Hour + time.Minute)); len(l.Minutes) != 0 {
		t.Errorf("after an hour: %+v", l.Minutes)
	}
}

// TestTextWithCurl checks that a text sent with curl's own type says what to add.
func TestTextWithCurl(t *testing.T) {
	_, web := served(t, nil)
	for body, want := range map[string]string{
		"Some text.\nMore.": "-H 'Content-Type: text/plain' and ?id=ID",
		"[\n{\"id\":1}]":    "-H 'Content-Type: application/json'",
		"{\"id\":1":         "",
	} {
		_, answer := post(t, web.URL+"/v1/see", "application/x-www-form-urlencoded", body)
		if first, rest, _ := strings.Cut(answer, "\n"); !strings.Contains(first, want) || strings.Contains(first, "-H") != (want != "") || strings.Contains(rest, "-H") {
			t.Errorf("%q: %s", body, answer)
		}
	}
	if _, answer := post(t, web.URL+"/v1/see", "application/x-ndjson", "Some text."); strings.Contains(answer, "-H") {
		t.Error(answer)
	}
}
