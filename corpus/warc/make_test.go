package warc_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// made is a generated record with the expected result of reading it.
type made struct {
	bytes []byte // with the blank lines after it
	head  int    // bytes of its header
	size  int    // bytes of its content
	blank int    // bytes of the blank lines
	doc   bool
	id    string
	text  string
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

var plainZstd = sync.OnceValue(func() *zstd.Encoder { return zstdEncoder(nil) })

func zstded(data []byte) []byte { return plainZstd().EncodeAll(data, nil) }

func zlibbed(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

func deflated(data []byte) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, 6)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

func brotlied(data []byte) []byte {
	var b bytes.Buffer
	w := brotli.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

func chunked(data []byte, size int) []byte {
	var b bytes.Buffer
	for len(data) > 0 {
		n := min(size, len(data))
		fmt.Fprintf(&b, "%x;x=y\r\n%s\r\n", n, data[:n])
		data = data[n:]
	}
	b.WriteString("0\r\n\r\n")
	return b.Bytes()
}

// bodies lists ways to encode a body, with the matching headers.
var bodies = []struct {
	header string
	pack   func([]byte) []byte
}{
	{"", nil},
	{"Content-Encoding: gzip", gzipped},
	{"content-encoding:\r\n\tx-gzip", gzipped},
	{"Content-Encoding: deflate", zlibbed},
	{"Content-Encoding: deflate", deflated},
	{"Content-Encoding: br", brotlied},
	{"Content-Encoding: zstd", zstded},
	{"Transfer-Encoding: chunked", func(b []byte) []byte { return chunked(b, 7) }},
	{"Transfer-Encoding: chunked\r\nContent-Encoding: gzip", func(b []byte) []byte { return chunked(gzipped(b), 100) }},
	{"Content-Encoding: gzip, deflate", func(b []byte) []byte { return zlibbed(gzipped(b)) }},
	// Wrong headers.
	{"Transfer-Encoding: chunked", nil},
	{"Content-Encoding: gzip", nil},
	{"Content-Encoding: deflate", nil},
	{"Content-Encoding: br", nil},
	{"Content-Encoding: zstd", nil},
	{"Content-Encoding: something", nil},
}

// drawRecord draws a record's kind, its body's encoding, and violations of the rules that lose
// nothing when records are found by length.
func drawRecord(t *rapid.T, n int) made {
	text := rapid.StringMatching(`text [a-z .\n,]{0,300}(世界){0,20}end`).Draw(t, "text")
	m := made{id: fmt.Sprintf("http://example.org/%d/a b?c=%%d", n), text: text}
	kind := rapid.SampledFrom([]string{"response", "response", "response", "resource", "conversion", "request", "metadata", "revisit", "other status", "image", "wget"}).Draw(t, "kind")
	headers := []string{"WARC-Record-ID: <urn:uuid:" + fmt.Sprint(n) + ">", "WARC-Date: 2024-05-06T07:08:09Z"}
	uri, content, mime := m.id, []byte(text), "text/plain; charset=utf-8"
	switch kind {
	case "response", "other status", "image":
		body := rapid.SampledFrom(bodies).Draw(t, "body")
		payload := content
		if body.pack != nil {
			payload = body.pack(payload)
		}
		status, inner := "200 OK", "Content-Type: text/plain"
		if kind == "other status" {
			status = "404 Not found"
		}
		if kind == "image" {
			inner = "content-type: image/png"
		}
		if body.header != "" {
			inner += "\r\n" + body.header
		}
		content = append([]byte("HTTP/1.1 "+status+"\r\n"+inner+"\r\n\r\n"), payload...)
		mime, m.doc = "application/http; msgtype=response", kind == "response"
		kind = "response"
	case "resource", "conversion":
		m.doc = true
	case "request", "revisit":
		content, mime = []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), "application/http; msgtype=request"
	case "wget":
		kind, uri = "resource", "metadata://gnu.org/software/wget/warc/wget.log"
	}
	if rapid.Bool().Draw(t, "brackets") {
		uri = "<" + uri + ">"
	}
	field := rapid.SampledFrom([]string{"WARC-Target-URI: ", "WARC-Target-URI:\r\n ", "WARC-Target-URI: \r\n\t\r\n  "}).Draw(t, "target")
	if rapid.Bool().Draw(t, "uri folded") {
		uri = strings.ReplaceAll(uri, " ", " \r\n\t")
	}
	headers = append(headers, "WARC-Type: "+kind, field+uri, fmt.Sprintf("Content-Length: %d", len(content)), "Content-Type: "+mime)
	if rapid.Bool().Draw(t, "order") {
		headers[0], headers[4] = headers[4], headers[0]
	}
	if rapid.Bool().Draw(t, "folded") {
		headers = append(headers, "X-Long: a\r\n  b\r\n\tWARC-Type: c")
	}
	end := "\r\n"
	if rapid.Bool().Draw(t, "LF only") {
		end = "\n"
	}
	version := rapid.SampledFrom([]string{"1.0", "1.1", "0.17", "0.18"}).Draw(t, "version")
	head := "WARC/" + version + end + strings.Join(headers, end) + end + end
	if end == "\n" {
		head = strings.ReplaceAll(head, "\r", "")
	}
	m.head, m.size = len(head), len(content)
	m.bytes = append([]byte(head), content...)
	size := len(m.bytes)
	m.bytes = append(m.bytes, rapid.SampledFrom([]string{"\r\n\r\n", "\r\n\r\n", "\n\n", "\r\n", "", "\r\n\r\n\r\n\r\n"}).Draw(t, "blank")...)
	m.blank = len(m.bytes) - size
	return m
}

func drawRecords(t *rapid.T) (all []made) {
	for n := range rapid.IntRange(1, 12).Draw(t, "records") {
		all = append(all, drawRecord(t, n))
	}
	return all
}

// plain concatenates records.
func plain(all []made) (data []byte) {
	for _, m := range all {
		data = append(data, m.bytes...)
	}
	return data
}

// skippable returns a frame that holds a dictionary.
func skippable(dict []byte) []byte {
	n := len(dict)
	return append([]byte{0x5d, 0x2a, 0x4d, 0x18, byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}, dict...)
}

// packed is a file format with one member per record.
type packed struct {
	name   string
	ending string // of files
	head   []byte
	member func([]byte) []byte
}

// memberwise lists formats with one member per record.
var memberwise = sync.OnceValue(func() []packed {
	dict := dictionary()
	none, with := zstdEncoder(nil), zstdEncoder(dict)
	return []packed{
		{"gzip", ".gz", nil, gzipped},
		{"zstd", ".zst", nil, func(b []byte) []byte { return none.EncodeAll(b, nil) }},
		{"zstd with a dictionary", ".zst", skippable(dict), func(b []byte) []byte { return with.EncodeAll(b, nil) }},
		{"zstd with a packed dictionary", ".zst", skippable(zstded(dict)), func(b []byte) []byte { return with.EncodeAll(b, nil) }},
	}
})

func zstdEncoder(dict []byte) *zstd.Encoder {
	options := []zstd.EOption{zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true), zstd.WithLowerEncoderMem(true)}
	if dict != nil {
		options = append(options, zstd.WithEncoderDict(dict))
	}
	enc, err := zstd.NewWriter(nil, options...)
	if err != nil {
		panic(err)
	}
	return enc
}

// dictionary holds beginnings of records. It is built on demand, as building slows fuzz workers.
var dictionary = sync.OnceValue(func() []byte {
	var samples [][]byte
	for i := range 60 {
		samples = append(samples, fmt.Appendf(nil, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/%d/%d\r\nContent-Length: %d\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\ntext %d", i, i*i, i*7, i*31))
	}
	dict, err := zstd.BuildDict(zstd.BuildDictOptions{ID: 7, Contents: samples, History: bytes.Join(samples[:6], nil), Offsets: [3]int{1, 4, 8}})
	if err != nil {
		panic(err)
	}
	return dict
})
