package warc_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/warc"
)

// benchArchive returns an archive with one member per page.
func benchArchive() (file []byte, decoded int64) {
	for n := range 200 {
		content := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + strings.Repeat(fmt.Sprintf("<p>page %d has words %d\n", n, n*n), 500)
		record := fmt.Appendf(nil, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: urn:%d\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", n, len(content), content)
		file, decoded = append(file, gzipped(record)...), decoded+int64(len(record))
	}
	return file, decoded
}

// BenchmarkRead measures reading without parsing, and decompression alone for comparison. The
// environment variable WARC_FILE may name another file.
func BenchmarkRead(b *testing.B) {
	file, decoded := benchArchive()
	if path := os.Getenv("WARC_FILE"); path != "" {
		var err error
		if file, err = os.ReadFile(path); err != nil {
			b.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(file))
		if err != nil {
			b.Fatal(err)
		}
		if decoded, err = io.Copy(io.Discard, z); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("gunzip alone", func(b *testing.B) {
		b.SetBytes(decoded)
		for b.Loop() {
			z, err := gzip.NewReader(bytes.NewReader(file))
			if err == nil {
				_, err = io.Copy(io.Discard, z)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("records", func(b *testing.B) {
		b.SetBytes(decoded)
		b.ReportAllocs()
		var block corpus.Block
		for b.Loop() {
			src := corpus.NewSource(stdin, warc.Format{}, corpus.SourceConfig{Stdin: bytes.NewReader(file)})
			var err error
			for err == nil {
				err = src.Next(context.Background(), &block)
			}
			if err != io.EOF {
				b.Fatal(err)
			}
		}
	})
}
