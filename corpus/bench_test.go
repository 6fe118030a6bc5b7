package corpus

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// benchLines makes about size bytes of JSON lines of about 4 KB each.
func benchLines(text string, size int) []byte {
	var data []byte
	for i := 0; len(data) < size; i++ {
		data = fmt.Appendf(data, `{"id":"doc-%d","source":"made","text":`, i)
		data = appendString(data, []byte(strings.Repeat(text, 1+4096/len(text))))
		data = append(data, "}\n"...)
	}
	return data
}

var benchTexts = map[string]string{
	"english": "The filter is derived state: it can always be rebuilt from the table,\n" +
		"and after an unclean stop it \"must\" be, or lost documents would seem to be known.\n\n",
	"chinese":  "过滤器是派生状态，随时可以由副表重建。\n非正常退出之后必须重建，否则“丢失的文档”会被当成已经见过。\n\n",
	"markdown": "<p align=\"center\">\n  <a href=\"https://example.com/a\"><img src=\"b.png\"></a>\n</p>\n",
}

// benchData calls run with made lines, and with the files named in the
// environment variable BENCH_JSONL, separated as in PATH.
func benchData(b *testing.B, run func(b *testing.B, data []byte)) {
	for _, name := range []string{"english", "chinese", "markdown"} {
		data := benchLines(benchTexts[name], 8<<20)
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

// chunks cuts data as a Source does.
func chunks(tb testing.TB, data []byte, size int) []*Chunk {
	src := NewSource([]Input{{Path: Stdin, Name: "bench"}}, SourceConfig{ChunkSize: size, Stdin: bytes.NewReader(data)})
	var all []*Chunk
	for {
		c := new(Chunk)
		err := src.Next(context.Background(), c)
		if err == io.EOF {
			return all
		}
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, c)
	}
}

func BenchmarkParse(b *testing.B) {
	benchData(b, func(b *testing.B, data []byte) {
		p, cs := newParser(b, Fields{}), chunks(b, data, 0)
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			for _, c := range cs {
				for rec := range p.Parse(c) {
					if rec.Err != nil {
						b.Fatal(rec.Err)
					}
				}
			}
		}
	})
}

func BenchmarkAnnotate(b *testing.B) {
	benchData(b, func(b *testing.B, data []byte) {
		lines := bytes.Split(bytes.TrimSpace(data), newline)
		var dst []byte
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			for _, line := range lines {
				var err error
				if dst, err = Annotate(dst[:0], line, "firstseen", []byte(`{"verdict":"unique"}`)); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// BenchmarkSource reads only, as one goroutine does for all parsers.
func BenchmarkSource(b *testing.B) {
	data := append(benchLines(benchTexts["english"], 16<<20), benchLines(benchTexts["chinese"], 16<<20)...)
	for name, stored := range map[string][]byte{"plain": data, "gzip": gzipped(data), "zstd": zstded(data)} {
		b.Run(name, func(b *testing.B) {
			var c Chunk
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				src := NewSource(oneStdin, SourceConfig{Stdin: bytes.NewReader(stored)})
				var err error
				for err == nil {
					err = src.Next(context.Background(), &c)
				}
				if err != io.EOF {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWriter writes without a disk: what the calling goroutine waits for.
func BenchmarkWriter(b *testing.B) {
	benchData(b, func(b *testing.B, data []byte) {
		lines := bytes.Split(bytes.TrimSpace(data), newline)
		for _, name := range outputNames {
			b.Run(filepath.Ext(name), func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				var stored int64
				for b.Loop() {
					w := openWriter(name, nil, nullFile{}, false)
					for _, line := range lines {
						if err := w.WriteLine(line); err != nil {
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

type nullFile struct{}

func (nullFile) Write(p []byte) (int, error) { return len(p), nil }
func (nullFile) Sync() error                 { return nil }
func (nullFile) Close() error                { return nil }
