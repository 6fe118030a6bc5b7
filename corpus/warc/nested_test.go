package warc_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/warc"
	"github.com/firstseen/firstseen/internal/testing/corpustest"
)

// packedRecord returns a response whose header declares encodings.
func packedRecord(encodings string, body []byte) []byte {
	content := append([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: "+encodings+"\r\n\r\n"), body...)
	head := fmt.Sprintf("WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: urn:x\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n", len(content))
	return append(append([]byte(head), content...), "\r\n\r\n"...)
}

// inflated reads an archive and returns the number of bytes that its bodies decompress to.
func inflated(t *testing.T, f warc.Format, data []byte) (n int64, all []got) {
	t.Helper()
	err := corpustest.Each(f, stdin, corpus.SourceConfig{Stdin: bytes.NewReader(data)}, func(b *corpus.Block, doc *corpus.Document) {
		g := got{text: string(doc.Text)}
		if doc.Bad != nil {
			g.bad = doc.Bad.Reason
		}
		all, n = append(all, g), b.Inflated // a packed record is alone in its block
	})
	if err != nil {
		t.Fatal(err)
	}
	return n, all
}

// TestNestedEncodings checks that all encodings of a body together decompress at most 1000 times
// its bytes, or 128 KiB. So a MB of records costs at most the work of a GB.
func TestNestedEncodings(t *testing.T) {
	zeros := make([]byte, 60<<20)
	twice := gzipped(gzipped(zeros))
	quine := func(n int) string { return strings.TrimSuffix(strings.Repeat("gzip, ", n), ", ") }
	for name, c := range map[string]struct {
		encodings string
		body      []byte
		format    warc.Format
		most      int64  // limit of decompressed bytes; 0 is the documented one
		bad       string // "" for a text
	}{
		"gzip in gzip":        {"gzip, gzip", twice, warc.Format{}, 0, "allow it with --limit ratio=0"},
		"and in a third":      {"gzip, gzip, gzip", gzipped(twice), warc.Format{}, 0, "allow it with --limit ratio=0"},
		"in brotli":           {"gzip, br", brotlied(gzipped(zeros)), warc.Format{}, 0, "allow it with --limit ratio=0"},
		"brotli":              {"br", brotlied(zeros), warc.Format{}, 0, "allow it with --limit ratio=0"},
		"zstd in deflate":     {"zstd, deflate", zlibbed(zstded(zeros)), warc.Format{}, 1 << 20, "allow it with --limit ratio=0"},
		"any ratio":           {"gzip, gzip", twice, warc.Format{Ratio: -1}, 61 << 20, ""},
		"a ratio of 100":      {"gzip", gzipped(zeros), warc.Format{Ratio: 100}, 100*int64(len(gzipped(zeros))) + 1, "allow it with --limit ratio=0"},
		"longer than allowed": {"gzip, gzip", twice, warc.Format{Ratio: -1, MaxBody: 1 << 20}, 2 << 20, "longer than the limit of 1048576 bytes"},
		"nine encodings":      {quine(9), []byte("text"), warc.Format{}, 0, "9 nested encodings"},
		"eight encodings":     {quine(8), []byte("text"), warc.Format{}, 0, ""},
		"a short text":        {"gzip, br", brotlied(gzipped([]byte("text"))), warc.Format{}, 1 << 10, ""},
		"a text of one word":  {"br", brotlied(bytes.Repeat([]byte("word "), 20_000)), warc.Format{}, 128 << 10, ""},
	} {
		n, all := inflated(t, c.format, packedRecord(c.encodings, c.body))
		if len(all) != 1 || (all[0].bad == "") != (c.bad == "") || !strings.Contains(all[0].bad, c.bad) {
			t.Errorf("%s: %.300v", name, all)
		}
		if c.most == 0 {
			c.most = int64(max(128<<10, 1000*len(c.body))) + 1
		}
		if n > c.most {
			t.Errorf("%s: of a body of %d bytes %d are decompressed, want %d at most", name, len(c.body), n, c.most)
		}
	}
}

// TestInflatedOfAnArchive checks that hostile records decompress to at most 1000 times their size.
func TestInflatedOfAnArchive(t *testing.T) {
	zeros := make([]byte, 60<<20)
	for name, record := range map[string][]byte{
		"gzip in gzip": packedRecord("gzip, gzip", gzipped(gzipped(zeros))),
		"in a third":   packedRecord("gzip, gzip, gzip", gzipped(gzipped(gzipped(zeros)))),
		"in brotli":    packedRecord("gzip, br", brotlied(gzipped(zeros))),
		"brotli":       packedRecord("br", brotlied(zeros[:4<<20])),
	} {
		n, _ := inflated(t, warc.Format{}, record)
		before, _ := inflated(t, warc.Format{Ratio: -1}, record)
		perByte := n / int64(len(record))
		t.Logf("%s: %d bytes of WARC, %d decompressed, %d for each; without the limit %d", name, len(record), n, perByte, before)
		if n == 0 || perByte > 1000 || before < 10*n {
			t.Errorf("%s: %d bytes are decompressed of %d, and %d without the limit", name, n, len(record), before)
		}
	}
}
