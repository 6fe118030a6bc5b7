package warc_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/warc"
)

// TestWanted checks which records are documents by default, and with all types and statuses.
func TestWanted(t *testing.T) {
	answer := func(status int, mime string) string {
		return fmt.Sprintf("HTTP/1.1 %d x\r\nContent-Type: %s\r\n\r\nText of a page.", status, mime)
	}
	const http = "application/http; msgtype=response"
	records := []struct{ id, kind, mime, content string }{
		{"ok", "response", http, answer(200, "text/html")},
		{"plain", "response", http, answer(200, "text/plain; charset=utf-8")},
		{"part", "response", http, answer(206, "text/html")},
		{"other", "response", http, answer(203, "text/html")},
		{"moved", "response", http, answer(301, "text/html")},
		{"gone", "response", http, answer(404, "text/html")},
		{"image", "response", http, answer(200, "image/png")},
		{"resource", "resource", "text/html", "Text of a page."},
		{"data", "resource", "application/json", "{}"},
		{"converted", "conversion", "text/plain", "Text of a page."},
		{"revisit", "revisit", http, answer(200, "text/html")},
		{"request", "request", "application/http; msgtype=request", "GET / HTTP/1.1\r\n\r\n"},
		{"metadata", "metadata", "application/warc-fields", "a: b"},
		{"info", "warcinfo", "application/warc-fields", "a: b"},
		{"metadata://gnu.org/software/wget/warc/MANIFEST.txt", "resource", "text/plain", "Text of a page."},
	}
	var stored bytes.Buffer
	for _, r := range records {
		fmt.Fprintf(&stored, "WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
			r.kind, r.id, r.mime, len(r.content), r.content)
	}
	for _, c := range []struct {
		name   string
		format warc.Format
		want   string
	}{
		{"zero value", warc.Format{}, "ok plain resource converted"},
		{"any", warc.Format{Status: []warc.StatusRange{{From: 0, To: 999}}, Types: []string{"any"}}, "ok plain part other moved gone image resource data converted"},
		{"some", warc.Format{Status: []warc.StatusRange{{From: 203, To: 206}}, Types: []string{"text/html"}}, "part other resource"},
	} {
		all, err := readFrom(t, stdin, c.format, corpus.SourceConfig{Stdin: bytes.NewReader(stored.Bytes())})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, g := range all {
			ids = append(ids, g.id+g.bad)
		}
		if want := strings.Fields(c.want); !slices.Equal(ids, want) {
			t.Errorf("%s: %q, want %q", c.name, ids, want)
		}
	}
}
