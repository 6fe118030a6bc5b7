package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/warc"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// archive is a web archive of 12 documents, packed record by record, with copies and other records.
// One has no valid text, one is too long, and one member is damaged.
func archive(pack func([]byte) []byte) (file []byte) {
	write := func(kind, uri, content string) []byte {
		record := fmt.Appendf(nil, "WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nWARC-Date: 2024-01-02T03:04:05Z\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
			kind, uri, len(content), content)
		if pack != nil {
			record = pack(record)
		}
		file = append(file, record...)
		return record
	}
	for n := range 12 {
		write("request", "", "GET")
		write("resource", fmt.Sprintf("urn:%d", n), indextest.Sentences(n%8))
		switch n {
		case 4:
			write("resource", "urn:none", "no text \xff")
		case 6:
			write("resource", "urn:long", strings.Repeat("too long ", 100))
		case 8:
			damaged := write("resource", "urn:damaged", indextest.Sentences(20))
			if pack != nil {
				damaged = file[len(file)-len(damaged):]
				damaged[len(damaged)/2] ^= 4
			}
		}
	}
	return file
}

// TestArchives stops runs over web archives after each document and continues them. The bytes are
// those of an undisturbed run.
func TestArchives(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	gzipped := func(data []byte) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write(data)
		_ = w.Close()
		return b.Bytes()
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	indextest.Must(t, err)
	defer enc.Close()
	files := map[string][]byte{
		"plain.warc": archive(nil), "members.warc.gz": archive(gzipped), "whole.warc.gz": gzipped(archive(nil)),
		"frames.warc.zst": archive(func(b []byte) []byte { return enc.EncodeAll(b, nil) }),
	}
	for name, file := range files {
		path := filepath.Join(t.TempDir(), name)
		indextest.Must(t, os.WriteFile(path, file, 0o600))
		inputs := []input.Input{{Path: path, Name: name, Size: int64(len(file))}}
		run := func(stops ...int) string {
			f := &formatRun{t: t, dir: t.TempDir(), input: inputs, format: warc.Format{}}
			for _, n := range stops {
				if err := f.run(n); !errors.Is(err, errStop) {
					t.Fatalf("%s stopped after %d: %v", name, n, err)
				}
			}
			indextest.Must(t, f.run(1<<30))
			return f.outputs()
		}
		whole := run()
		for _, part := range []string{
			`{"id":"urn:8","verdict":"duplicate","kept":false,"of":"urn:0"`, `"time":"2024-01-02T03:04:05Z"`, `"reason":"it is not UTF-8"`,
			`"reason":"the record is longer than the limit of 700 bytes"`, "WARC-Target-URI: urn:7\r\n",
		} {
			if !strings.Contains(whole, part) {
				t.Errorf("%s: no %s in\n%s", name, part, whole)
			}
		}
		if damaged := strings.Contains(name, "members") || strings.Contains(name, "frames"); strings.Contains(whole, `"reason":"the compressed data is damaged`) != damaged {
			t.Errorf("%s: damage told: %v\n%s", name, !damaged, whole)
		}
		for n := range 12 {
			if got := run(n); got != whole {
				t.Errorf("%s stopped after %d documents:\n%s\nwant\n%s", name, n, got, whole)
			}
		}
	}
}
