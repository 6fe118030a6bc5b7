package warc_test

import (
	"fmt"
	"testing"

	"github.com/firstseen/firstseen/corpus"
)

// FuzzRead reads any bytes as a web archive: no panic, places that ascend, and the same
// records for two sizes of blocks.
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
		cfg := corpus.SourceConfig{MaxRecord: 20_000, MaxWindow: 1 << 20}
		all, err := read(t, stored, cfg)
		cfg.BlockSize = 1 + block&0xfff
		other, otherErr := read(t, stored, cfg)
		if (err == nil) != (otherErr == nil) || fmt.Sprint(all) != fmt.Sprint(other) {
			t.Fatalf("blocks of %d: %v, %v\nof 1 MiB: %v, %v", cfg.BlockSize, other, otherErr, all, err)
		}
	})
}
