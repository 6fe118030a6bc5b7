package warc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus"
)

// TestAnswers covers HTTP that the standard allows, and violations found in practice.
func TestAnswers(t *testing.T) {
	const text = "a text of some words, which is one line\n"
	long := strings.Repeat("rubbish ", 10)
	for name, c := range map[string]struct{ content, want string }{
		"interim answers":       {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nContent-Type: image/png\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + text, text},
		"an interim one alone":  {"HTTP/1.1 100 Continue\r\nContent-Type: text/plain\r\n\r\n", ""},
		"an error behind it":    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not found\r\nContent-Type: text/plain\r\n\r\n" + text, ""},
		"a transfer coding":     {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + string(chunked(gzipped([]byte(text)), 9)), text},
		"both":                  {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: br\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + string(chunked(gzipped(brotlied([]byte(text))), 9)), text},
		"told twice, done once": {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\nTransfer-Encoding: gzip\r\n\r\n" + string(gzipped([]byte(text))), text},
		"rubbish behind gzip":   {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n" + string(gzipped([]byte(text))) + long, text},
		"a line end behind it":  {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n" + string(gzipped([]byte(text))) + "\r\n", text},
		"two members":           {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n" + string(gzipped([]byte(text[:9]))) + string(gzipped([]byte(text[9:]))), text},
		"rubbish behind zstd":   {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: zstd\r\n\r\n" + string(zstded([]byte(text))) + long, text},
		"rubbish behind zlib":   {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: deflate\r\n\r\n" + string(zlibbed([]byte(text))) + long, text},
		"HTTP/2, no reason":     {"HTTP/2 200\r\ncontent-type: text/plain\r\n\r\n" + text, text},
	} {
		record := fmt.Sprintf("WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: urn:x\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", len(c.content), c.content)
		all, err := read(t, gzipped([]byte(record)), corpus.SourceConfig{})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case c.want == "" && len(all) == 0:
		case len(all) != 1 || all[0].bad != "" || all[0].text != c.want:
			t.Errorf("%s: %+v", name, all)
		}
	}
}
