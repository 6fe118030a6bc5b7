package output

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/firstseen/firstseen/internal/testing/filetest"
)

var benchTexts = map[string]string{
	"english": "The filter is derived state: it can always be rebuilt from the table,\n" +
		"and after an unclean stop it \"must\" be, or lost documents would seem to be known.\n\n",
	"chinese":  "过滤器是派生状态，随时可以由副表重建。\n非正常退出之后必须重建，否则“丢失的文档”会被当成已经见过。\n\n",
	"markdown": "<p align=\"center\">\n  <a href=\"https://example.com/a\"><img src=\"b.png\"></a>\n</p>\n",
}

// benchData calls run with generated lines, and with the files listed in the environment variable
// BENCH_JSONL, separated as in PATH.
func benchData(b *testing.B, run func(b *testing.B, data []byte)) {
	for _, name := range []string{"english", "chinese", "markdown"} {
		data := filetest.Lines(benchTexts[name], 8<<20)
		b.Run(name, func(b *testing.B) { run(b, data) })
	}
	for _, file := range filepath.SplitList(os.Getenv("BENCH_JSONL")) {
		data, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(filepath.Base(file), func(b *testing.B) { run(b, data) })
	}
}

// BenchmarkWriter measures the time that the calling goroutine waits, without a disk.
func BenchmarkWriter(b *testing.B) {
	benchData(b, func(b *testing.B, data []byte) {
		lines := bytes.Split(bytes.TrimSpace(data), newline)
		for _, name := range outputNames {
			b.Run(filepath.Ext(name), func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				var stored int64
				for b.Loop() {
					w := newWriter(name, partial{}, nullFile{}, false, packingOf(name))
					for _, line := range lines {
						if err := w.WriteRecord(line, newline); err != nil {
							b.Fatal(err)
						}
					}
					if err := w.Close(); err != nil {
						b.Fatal(err)
					}
					stored = w.written
				}
				b.ReportMetric(float64(len(data))/float64(stored), "ratio")
			})
		}
	})
}

type nullFile struct{ io.ReaderAt }

func (nullFile) Write(p []byte) (int, error) { return len(p), nil }
func (nullFile) Sync() error                 { return nil }
func (nullFile) Close() error                { return nil }
