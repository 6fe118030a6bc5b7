package crash

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// inputDocs is how many documents the inputs have, copies included: enough for
// dozens of checkpoints and, with a small table in memory, merges of two levels.
const inputDocs = 1200

// A writer of texts makes documents that share nothing, and copies of them.
type texts struct {
	rng  *rand.Rand
	made [][]string // sentences of each document
}

func newTexts(seed uint64) *texts {
	return &texts{rng: rand.New(rand.NewPCG(seed, 7))}
}

// sentence is one that no other call returns: five numbers are spelt in it.
func (t *texts) sentence() string {
	words := make([]string, 9+t.rng.IntN(8))
	for i := range words {
		words[i] = spell(t.rng.Uint64() >> 40)
	}
	return strings.Join(words, " ") + "."
}

// spell writes a number as a word of consonants and vowels.
func spell(n uint64) string {
	var b []byte
	for n > 0 {
		b = append(b, "bdfgklmnprstvz"[n%14], "aeiou"[n/14%5])
		n /= 70
	}
	return string(b)
}

// unique is a new document of a few sentences.
func (t *texts) unique() []string {
	doc := make([]string, 4+t.rng.IntN(24))
	for i := range doc {
		doc[i] = t.sentence()
	}
	t.made = append(t.made, doc)
	return doc
}

func (t *texts) earlier() []string { return t.made[t.rng.IntN(len(t.made))] }

// next is a document of any kind: half are new; the others are exact copies, near
// copies, quotations and documents assembled from three.
func (t *texts) next() []string {
	if len(t.made) < 10 {
		return t.unique()
	}
	switch kind := t.rng.IntN(20); {
	case kind < 10:
		return t.unique()
	case kind < 14:
		return t.earlier()
	case kind < 17:
		near := append([]string{}, t.earlier()...)
		near[t.rng.IntN(len(near))] = t.sentence()
		return near
	case kind < 18:
		return append(append([]string{}, t.unique()...), t.earlier()[:4]...)
	}
	var mosaic []string
	for range 3 {
		mosaic = append(mosaic, t.earlier()[:4]...)
	}
	return mosaic
}

func line(id int, sentences []string) string {
	return fmt.Sprintf("{\"id\":\"d%d\",\"text\":\"%s\"}\n", id, strings.Join(sentences, " "))
}

// writeInputs writes a.jsonl and b.jsonl, plain and compressed: documents of all
// kinds, bad records, blank lines, a menu that everybody has, and no line end at
// the end.
func writeInputs(dir string) error {
	t := newTexts(1)
	var files [2]bytes.Buffer
	for id := range inputDocs {
		out := &files[id*len(files)/inputDocs]
		doc := t.next()
		if id%5 == 0 {
			doc = append([]string{"Home, products, news of the week and how to reach us."}, doc...)
		}
		out.WriteString(line(id, doc))
		switch {
		case id%90 == 31:
			fmt.Fprintf(out, "{\"id\":\"bad %d\",\n", id)
		case id%90 == 57:
			out.WriteString("\n")
		}
	}
	files[1].Truncate(files[1].Len() - 1)
	for i, name := range []string{"a.jsonl", "b.jsonl"} {
		data := files[i].Bytes()
		for ending, pack := range map[string]func([]byte) ([]byte, error){"": plain, ".gz": gzipped, ".zst": zstdPacked} {
			packed, err := pack(data)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, name+ending), packed, 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}

// unpack decompresses by the ending of a name.
func unpack(name string, data []byte) ([]byte, error) {
	switch filepath.Ext(name) {
	case ".gz":
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	case ".zst":
		r, err := zstd.NewReader(nil)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return r.DecodeAll(data, nil)
	}
	return data, nil
}

func plain(data []byte) ([]byte, error) { return data, nil }

func gzipped(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(data)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

func zstdPacked(data []byte) ([]byte, error) {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		return nil, err
	}
	return w.EncodeAll(data, nil), nil
}
