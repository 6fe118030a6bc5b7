package warc_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/warc"
)

// FuzzRead reads any bytes as a web archive. Places must ascend, and two block sizes must yield the
// same records. A replacement must be read as one record.
func FuzzRead(f *testing.F) {
	record := []byte("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: <urn:1>\r\nWARC-Date: 2024-01-02T03:04:05Z\r\nContent-Length: 72\r\n\r\n" +
		"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n<p>hi\r\n0\r\n\r\n\r\n\r\n")
	two := append(gzipped(record), gzipped(record)...)
	for _, seed := range [][]byte{
		record, append(record, record...), two, two[:len(two)-9], gzipped(append(record, record...)), zstded(record),
		append(skippable(dictionary()), zstdEncoder(dictionary()).EncodeAll(record, nil)...),
		[]byte(arcHead + arcRecord("http://x/", "text", 0) + arcRecord("http://x/ y", "text", 3)),
		append([]byte("rubbish"), record...), append(gzipped(record), "rubbish"...),
	} {
		f.Add(seed, 7)
	}
	f.Fuzz(func(t *testing.T, stored []byte, block int) {
		cfg := corpus.SourceConfig{MaxRecord: 20_000, Bounds: compress.Bounds{MaxWindow: 1 << 20}}
		all, err := read(t, stored, cfg)
		cfg.BlockSize = 1 + block&0xfff
		other, otherErr := read(t, stored, cfg)
		if (err == nil) != (otherErr == nil) || fmt.Sprint(all) != fmt.Sprint(other) {
			t.Fatalf("blocks of %d: %v, %v\nof 1 MiB: %v, %v", cfg.BlockSize, other, otherErr, all, err)
		}
		for _, g := range all {
			if g.bad == "" {
				checkInsteadOf(t, g.raw)
			}
		}
	})
}

// checkInsteadOf checks that a replacement is read as one record of the declared length and copied.
func checkInsteadOf(t *testing.T, raw string) {
	t.Helper()
	for _, written := range warc.InsteadOf([]byte(raw)) {
		end := []byte("\r\n\r\n")
		frames := revisits.Frames(1 << 30)
		fr := frames.Frame(append(bytes.Clone(written), end...), corpus.Ends)
		if !fr.Other || fr.Bad != "" || fr.Take != len(written) || fr.Pass != len(written)+len(end) {
			t.Fatalf("for %q\nthere is %q\nwhich is read as %+v", raw, written, fr)
		}
	}
}
