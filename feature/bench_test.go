package feature

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
)

// BenchmarkCorpus reads documents, one {"text": ...} a line, from the file
// named by FIRSTSEEN_CORPUS:
//
//	FIRSTSEEN_CORPUS=docs.jsonl go test -run '^$' -bench Corpus ./feature
func BenchmarkCorpus(b *testing.B) {
	name := os.Getenv("FIRSTSEEN_CORPUS")
	if name == "" {
		b.Skip("FIRSTSEEN_CORPUS is not set")
	}
	texts := readTexts(b, name)
	benchmark(b, texts)
}

// benchmark extracts all texts once per iteration.
func benchmark(b *testing.B, texts [][]byte) {
	e := newExtractor(b, Scheme{})
	var set Set
	var bytes int64
	for _, t := range texts {
		e.Extract(&set, t)
		bytes += int64(len(t))
	}
	b.SetBytes(bytes)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		for _, t := range texts {
			e.Extract(&set, t)
		}
	}
}

// readTexts is up to 32 MiB of texts of 512 bytes to 16 KiB.
func readTexts(b *testing.B, name string) (texts [][]byte) {
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	for total := 0; total < 32<<20; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		var doc struct{ Text string }
		if json.Unmarshal(line, &doc) != nil {
			continue
		}
		texts = append(texts, []byte(doc.Text))
		total += len(doc.Text)
	}
	return texts
}
