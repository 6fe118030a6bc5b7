package twostage

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/segments"
)

// BenchmarkExtract extracts the Debian installation guide in English and Chinese (see
// testdata/bilingual), by segments alone and with sketches.
func BenchmarkExtract(b *testing.B) {
	var texts [2][][]byte
	for _, text := range guide(b) {
		i := 0
		if strings.Contains(text, "的") {
			i = 1
		}
		texts[i] = append(texts[i], []byte(text))
	}
	for i, language := range []string{"english", "chinese"} {
		for name, e := range map[string]method.Extractor{"segments": segments.NewExtractor(segments.Scheme{}), "twostage": NewExtractor(segments.Scheme{}, 0)} {
			b.Run(language+"/"+name, func(b *testing.B) { extractAll(b, e, texts[i]) })
		}
	}
}

func extractAll(b *testing.B, e method.Extractor, texts [][]byte) {
	var sketch method.Sketch
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, text := range texts {
			e.Extract(&sketch, text)
		}
	}
}

func guide(tb testing.TB) (texts []string) {
	tb.Helper()
	data, err := os.ReadFile("../../testdata/bilingual/guide.jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var doc struct{ Text string }
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			tb.Fatal(err)
		}
		texts = append(texts, doc.Text)
	}
	return texts
}
