package jsonl

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
)

// benchData calls run with generated lines of about 4 KB each, and with the files listed in the
// environment variable BENCH_JSONL, separated as in PATH.
func benchData(b *testing.B, run func(b *testing.B, data []byte)) {
	for name, text := range map[string]string{
		"english":  "The filter is derived state: it can always be rebuilt from the table,\nand after an unclean stop it \"must\" be.\n\n",
		"chinese":  "过滤器是派生状态，随时可以由副表重建。\n非正常退出之后必须重建，否则“丢失的文档”会被当成已经见过。\n\n",
		"markdown": "<p align=\"center\">\n  <a href=\"https://example.com/a\"><img src=\"b.png\"></a>\n</p>\n",
	} {
		var data []byte
		for i := 0; len(data) < 8<<20; i++ {
			data = fmt.Appendf(data, "{\"id\":\"doc-%d\",\"source\":\"made\",\"text\":%q}\n", i, strings.Repeat(text, 1+4096/len(text)))
		}
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

// blocks cuts data into blocks as a Source does.
func blocks(tb testing.TB, data []byte) []*corpus.Block {
	src := corpus.NewSource([]input.Input{{Path: input.Stdin, Name: "bench"}}, Format{}, corpus.SourceConfig{Stdin: bytes.NewReader(data)})
	var all []*corpus.Block
	for {
		c := new(corpus.Block)
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
		p, cs := parserOf(b, Fields{}), blocks(b, data)
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			for _, c := range cs {
				for rec := range p.Parse(c) {
					if rec.Bad != nil {
						b.Fatal(rec.Bad)
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
				if dst, err = annotated(dst[:0], line, "firstseen", []byte(`{"verdict":"unique"}`)); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
