package feature

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/firstseen/firstseen/feature/method"
)

// BenchmarkSimHash extracts the Debian guide in English and Chinese (see testdata/bilingual).
func BenchmarkSimHash(b *testing.B) {
	f, err := os.Open("../testdata/bilingual/guide.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var texts [][]byte
	size := 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var doc struct{ Text string }
		if err := json.Unmarshal(lines.Bytes(), &doc); err != nil {
			b.Fatal(err)
		}
		texts = append(texts, []byte(doc.Text))
		size += len(doc.Text)
	}
	e := Scheme{Method: "simhash"}.must().NewExtractor()
	var s method.Sketch
	b.SetBytes(int64(size))
	for b.Loop() {
		for _, text := range texts {
			e.Extract(&s, text)
		}
	}
}
