package parquet_test

import (
	"os"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/parquet"
)

// BenchmarkRead reads text and id, or all columns, of a test file or the file that PARQUET names.
func BenchmarkRead(b *testing.B) {
	path := os.Getenv("PARQUET")
	if path == "" {
		path = "testdata/pyarrow-zstd-crc.parquet"
	}
	for _, rows := range []bool{false, true} {
		name := "text"
		if rows {
			name = "rows"
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s, n := open(b, path, parquet.Format{Rows: rows}), int64(0)
				var block corpus.Block
				for s.Next(b.Context(), &block) == nil {
					n += int64(len(block.Data))
				}
				b.SetBytes(n)
				block.Release()
			}
		})
	}
}

func open(b *testing.B, path string, f parquet.Format) *corpus.Source {
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	return corpus.NewSource([]input.Input{{Path: path, Name: "f", Size: info.Size()}}, f, corpus.SourceConfig{})
}
