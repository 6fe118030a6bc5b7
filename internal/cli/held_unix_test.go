//go:build unix

package cli

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/internal/base/owners"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// see posts a body to a server and returns its answer.
func see(t *testing.T, c *http.Client, contentType, id, body string) string {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, "http://server/v1/see", strings.NewReader(body))
	indextest.Must(t, err)
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("X-Firstseen-Id", id)
	a, err := c.Do(r)
	indextest.Must(t, err)
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	indextest.Must(t, err)
	return string(b)
}

// record returns a WARC record with a page.
func record(url, html string) string {
	body := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + html
	return fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", url, len(body), body)
}

// TestHeld checks that a server takes pages and archives, and that commands on the index ask it.
// Once it is killed they refuse the index, even without its journals, until these are abandoned.
func TestHeld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	server := program(t, dir, "serve", "--index", "seen", "--listen", "unix:s")
	start(t, server)
	c := unixClient(socket)
	asked(t, c, "/readyz")
	text, other := indextest.Sentences(1), indextest.Sentences(2)
	page := "<html><body><article><p>" + text + "</p></article></body></html>"
	for _, one := range []struct{ contentType, id, body, want string }{
		{"text/html; charset=utf-8", "http://x/1", page, `"id":"http://x/1","verdict":"unique"`},
		{"text/plain", "copy", text, `"of":"http://x/1"`},
		{"application/warc", "", record("http://x/2", page) + record("http://x/3", strings.Replace(page, text, other, 1)), `"id":"http://x/3","verdict":"unique"`},
		{"text/html", "", page, "give ?id="},
		{"application/warc", "", "no archive", "no record begins here"},
	} {
		if got := see(t, c, one.contentType, one.id, one.body); !strings.Contains(got, one.want) {
			t.Errorf("%s %s: %s", one.contentType, one.id, got)
		}
	}
	indextest.Must(t, os.WriteFile(filepath.Join(dir, "one.jsonl"), []byte(documentLine("q", 2)), 0o666))
	indextest.Must(t, os.WriteFile(filepath.Join(dir, "new.jsonl"), []byte(documentLine("n", 7)), 0o666))
	indextest.Must(t, os.WriteFile(filepath.Join(dir, "same.jsonl"), []byte(documentLine("http://x/3", 2)), 0o666))
	runs := func(code int, says string, args ...string) {
		t.Helper()
		out, stderr := runProgram(t, dir, code, args...)
		if !strings.Contains(out+stderr, says) {
			t.Errorf("%q does not say %q: %s", args, says, out+stderr)
		}
	}
	runs(0, `"id":"q","verdict":"duplicate","kept":false,"of":"http://x/3"`, "query", "seen", "one.jsonl")
	runs(0, `"file":"one.jsonl","line":1`, "query", "seen", "one.jsonl")
	runs(0, `"id":"http://x/3","verdict":"duplicate","kept":false,"of":"http://x/3","exact":true`, "query", "seen", "same.jsonl")
	runs(0, `"verdict":"unique"`, "query", "--id", "seen", "http://x/3")
	links := strings.Repeat("<li><a href='/x'>"+text+"</a></li>", 20)
	indextest.Must(t, os.WriteFile(filepath.Join(dir, "links.html"), []byte("<html><body><ul>"+links+"</ul></body></html>"), 0o666))
	runs(0, `"verdict":"unique","kept":true,"of":null,"exact":false,"same_id":false,"score":0,"seen":0`, "query", "seen", "links.html") // as without the server
	runs(0, `"documents":[]`, "query", "--id", "seen", "http://x/2")
	runs(exitUsage, "its own --threshold", "query", "seen", "--threshold", "0.9", "one.jsonl")
	runs(0, "table    2 documents", "index", "stats", "seen")
	runs(0, "sound", "index", "check", "seen")
	runs(exitFailed, "using this index", "index", "check", "--rebuild", "seen")

	indextest.Must(t, server.Process.Kill())
	_ = server.Wait()
	runs(exitFailed, "served.1.log", "index", "stats", "seen")
	logs, err := owners.Journals(filepath.Join(dir, "seen"))
	indextest.Must(t, err)
	runs(exitFailed, "a server is using the index", "index", "abandon", "seen")
	for _, n := range logs {
		indextest.Must(t, os.Remove(filepath.Join(dir, "seen", owners.Journal(n))))
	}
	runs(exitFailed, "with answered documents is missing", "dedup", "--index", "seen", "new.jsonl")
	runs(0, "", "index", "abandon", "seen")
	runs(0, "", "dedup", "--index", "seen", "--report", "r.jsonl", "new.jsonl")
}

// TestNotServed checks that the server refuses flags that only dedup can use, with the reason.
func TestNotServed(t *testing.T) {
	for name := range notServed {
		if _, said := runProgram(t, t.TempDir(), exitUsage, "serve", "--index", "seen", "--"+name+"=x"); !strings.Contains(said, "a server has no --"+name+": ") {
			t.Errorf("--%s: %s", name, said)
		}
	}
}
