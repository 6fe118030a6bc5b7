package warc_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/warc"
	"github.com/firstseen/firstseen/internal/testing/effort"
)

// hostile lists inputs of n pieces that provoke repeated scans of the same bytes.
var hostile = []struct {
	name  string
	piece string
	end   string // once, after all pieces
}{
	{"headers without an end", "WARC/1.0\r\nWARC-Type: response\r\n", ""},
	{"headers without an end in lines of others", "WARC/1.0\r\nWARC-Type: x", ""},
	{"first lines in one line", "WARC/1.0 ", ""},
	{"headers without a length", "WARC/1.0\r\nWARC-Type: response\r\n\r\n", ""},
	{"lengths that lead behind many others", "WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 900000\r\n\r\n", ""},
	{"lengths that lead into blank lines", "WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 900000\r\n\r\n", strings.Repeat("\n", 1<<20) + "x"},
	{"records over the limit", "WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 90000000\r\n\r\nHTTP/1.1 200 OK\r\n", ""},
	{"records over the limit with others in them", "WARC/1.0\r\nWARC-Type: x\r\nContent-Length: 90000000\r\n\r\naWARC/1.0\r\nWARC-Type: x", ""},
	{"rubbish between records of an ARC", "\x80\n" + "http://x/ 1.2.3.4 20140216050221 text/plain 0\n", ""},
	{"lines like those of an ARC", "a:b c d e f g\n", ""},
	{"members that begin in each other", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", ""},
}

// TestLinear checks that no record makes the reader scan the rest again.
func TestLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, h := range hostile {
		effort.Linear(t, h.name, 128<<10, func(n int) func() {
			data := append(bytes.Repeat([]byte(h.piece), n/len(h.piece)+1), h.end...)
			return func() {
				if _, err := read(t, data, corpus.SourceConfig{MaxRecord: 1 << 20}); err != nil {
					t.Fatalf("%s: %v", h.name, err)
				}
			}
		})
	}
}

// TestOverlongLength reads records with overlong or wrong lengths, documents or not. Records within
// a wrong length must be found.
func TestOverlongLength(t *testing.T) {
	record := func(kind, uri, content string, length int) string {
		return fmt.Sprintf("WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
			kind, uri, length, content)
	}
	long := strings.Repeat("long ", 100_000)
	inner := record("resource", "urn:in", "inner", 5)
	const limit = 100_000
	const over = "the record is longer than the limit of 100000 bytes"
	for _, c := range []struct{ name, first, want string }{
		{"no document, short, wrong", record("metadata", "urn:1", "m", 50_000), "urn:2=two urn:3=three"},
		{"no document, over the limit, wrong", record("metadata", "urn:1", "m", 5_000_000), "urn:2=two urn:3=three"},
		{"a document, over the limit, wrong", record("resource", "urn:1", "m", 5_000_000), "=" + over + " urn:2=two urn:3=three"},
		{"no document, over the limit, right", record("metadata", "urn:1", long, len(long)), "urn:2=two urn:3=three"},
		{"a document, over the limit, right", record("resource", "urn:1", long, len(long)), "=" + over + " urn:2=two urn:3=three"},
		{"more than a number holds", record("metadata", "urn:1", "m", 1<<62), "urn:2=two urn:3=three"},
		{"an archive in it", record("metadata", "urn:1", inner+long+inner, len(inner+long+inner)), "urn:2=two urn:3=three"},
		{"what looks like a header in it", record("metadata", "urn:1", long+"WARC/1.0\r\nWARC-Type: x"+long, 2*len(long)+22), "urn:2=two urn:3=three"},
		{"too short", record("metadata", "urn:1", long, len(long)-1000), "=no record begins here: the data up to the next header is skipped urn:2=two urn:3=three"},
	} {
		file := []byte(c.first + record("resource", "urn:2", "two", 3) + record("resource", "urn:3", "three", 5))
		for _, stored := range [][]byte{file, gzipped(file), zstded(file)} {
			for _, block := range []int{1, 1000, 0} {
				have, err := readFrom(t, stdin, warc.Format{}, corpus.SourceConfig{Stdin: bytes.NewReader(stored), MaxRecord: limit, BlockSize: block})
				if err != nil {
					t.Fatal(err)
				}
				var all []string
				for _, g := range have {
					all = append(all, g.id+"="+g.text+g.bad)
				}
				if got := strings.Join(all, " "); got != c.want {
					t.Errorf("%s, blocks of %d:\n got %.300s\nwant %s", c.name, block, got, c.want)
				}
			}
		}
		cut := []byte(c.first)[:len(c.first)/2]
		have, err := read(t, cut, corpus.SourceConfig{MaxRecord: limit})
		if err != nil || len(have) != 1 || have[0].bad == "" {
			t.Errorf("%s, cut off: %.300v, %v", c.name, have, err)
		}
	}
}
