package segments

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/firstseen/firstseen/feature/method"
)

// BenchmarkExtract extracts documents of 4 KiB: the Debian guide in English and Chinese (see
// testdata/bilingual), Go source, and scripts that cannot take the fast path.
func BenchmarkExtract(b *testing.B) {
	guide := readTexts(b, guideName)
	var english, chinese strings.Builder
	for _, t := range guide {
		if isChinese(t) {
			chinese.Write(t)
		} else {
			english.Write(t)
		}
	}
	for _, c := range []struct {
		name, text string
		scheme     Scheme
	}{
		{"english", english.String(), Scheme{}},
		{"chinese", chinese.String(), Scheme{}},
		{"chinese-keyed", chinese.String(), Scheme{Key: make([]byte, 16)}},
		{"code", readSources(b), Scheme{}},
		{"russian", strings.Repeat("Съешь ещё этих мягких французских булок, да выпей же чаю. ", 700), Scheme{}},
		{"french-nfd", norm.NFD.String(strings.Repeat("L'élève a été très étonné de découvrir ça, là-bas, près du café. ", 700)), Scheme{}},
		{"thai", strings.Repeat("วันนี้อากาศดีมากเราจึงไปเที่ยวสวนสาธารณะกับครอบครัว ", 300), Scheme{}},
	} {
		b.Run(c.name, func(b *testing.B) { benchmark(b, c.scheme, documents(c.text, 4<<10)) })
	}
}

// BenchmarkCorpus reads up to 32 MiB of documents, one {"text": ...} per line, from the file named
// by FIRSTSEEN_CORPUS, or else from the guide:
//
//	FIRSTSEEN_CORPUS=docs.jsonl go test -run '^$' -bench Corpus ./feature/segments
func BenchmarkCorpus(b *testing.B) {
	texts := readTexts(b, corpusName())
	b.Run("plain", func(b *testing.B) { benchmark(b, Scheme{}, texts) })
	b.Run("keyed", func(b *testing.B) { benchmark(b, Scheme{Key: make([]byte, 16)}, texts) })
}

// benchmark extracts all texts once per iteration.
func benchmark(b *testing.B, s Scheme, texts [][]byte) {
	e := NewExtractor(s)
	var set method.Sketch
	var size int64
	for _, t := range texts {
		e.Extract(&set, t)
		size += int64(len(t))
	}
	b.SetBytes(size)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		for _, t := range texts {
			e.Extract(&set, t)
		}
	}
}

// documents cuts text into pieces of size bytes.
func documents(text string, size int) (docs [][]byte) {
	for len(text) > size {
		docs = append(docs, []byte(text[:size]))
		text = text[size:]
	}
	return append(docs, []byte(text))
}

const guideName = "../../testdata/bilingual/guide.jsonl"

func corpusName() string { return cmp.Or(os.Getenv("FIRSTSEEN_CORPUS"), guideName) }

// readTexts reads up to 32 MiB of texts.
func readTexts(b testing.TB, name string) (texts [][]byte) {
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	for total := 0; total < 32<<20; {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			return texts
		}
		var doc struct{ Text string }
		if err == nil {
			err = json.Unmarshal(line, &doc)
		}
		if err != nil {
			b.Fatal(err)
		}
		texts = append(texts, []byte(doc.Text))
		total += len(doc.Text)
	}
	return texts
}

func isChinese(text []byte) bool {
	han := 0
	for _, r := range string(text) {
		if unicode.Is(unicode.Han, r) {
			han++
		}
	}
	return 9*han > len(text)
}

// readSources returns the source text of package canon.
func readSources(b *testing.B) string {
	names, err := filepath.Glob("../canon/*.go")
	if err != nil {
		b.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}
