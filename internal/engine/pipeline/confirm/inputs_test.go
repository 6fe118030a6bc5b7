package confirm

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/page"
	"github.com/firstseen/firstseen/corpus/warc"
)

// lines returns records of all kinds: in two languages, with escapes, empty, bad, without an id,
// and two that are longer than a block.
func lines(rng *rand.Rand) []byte {
	var b bytes.Buffer
	for i := range 3000 {
		switch rng.IntN(12) {
		case 0:
			b.WriteString("\n")
		case 1:
			b.WriteString("{\"id\":\n")
		case 2:
			fmt.Fprintf(&b, "{\"text\":\"without an id, number %d\"}\r\n", i)
		case 3:
			fmt.Fprintf(&b, "{\"id\":\"%d\",\"text\":\"第%d篇\\n\\u6587\\u7ae0\"}\n", i, i)
		default:
			fmt.Fprintf(&b, "{\"id\":\"%d\",\"text\":\"%s\"}\n", i, strings.Repeat(fmt.Sprint("word", i, " "), rng.IntN(60)))
		}
		if i == 1000 || i == 2000 {
			fmt.Fprintf(&b, "{\"id\":\"long\",\"text\":\"%s\"}\n", strings.Repeat("天地玄黄", 60000))
		}
	}
	b.WriteString(`{"id":"last","text":"without an end"}`)
	return b.Bytes()
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

func zstded(data []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll(data, nil)
}

func plainText() corpus.Text {
	return func(_ func(int) []byte, body []byte, _ string) ([]byte, bool, error) { return body, false, nil }
}

func sourceOf(in ...input.Input) *corpus.Source {
	formats := []corpus.Format{jsonl.Format{}, warc.Format{Text: plainText}, page.Format{Text: plainText}}
	return corpus.NewSource(in, jsonl.Format{}, corpus.SourceConfig{Formats: formats})
}

// document is a document as a run sees it.
type document struct {
	place    Place
	id, text string
}

func documentsOf(t *testing.T, name string) (docs []document) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	source := sourceOf(input.Input{Path: name, Name: name, Size: info.Size()})
	defer source.Close()
	var b corpus.Block
	for {
		if err := source.Next(t.Context(), &b); err == io.EOF {
			return docs
		} else if err != nil {
			t.Fatal(err)
		}
		parser, err := b.Format.NewParser("")
		if err != nil {
			t.Fatal(err)
		}
		for doc := range parser.Parse(&b) {
			if doc.Bad == nil && !doc.Empty {
				docs = append(docs, document{Place{b.File, doc.At}, string(doc.ID), string(doc.Text)})
			}
		}
	}
}

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// archive returns a web archive of n pages.
func archive(pages int) []byte {
	var b bytes.Buffer
	for i := range pages {
		body := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n第 %d 页 of the archive, %s", i, strings.Repeat("text ", i))
		record := fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/%d\r\nWARC-Date: 2020-01-01T00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", i, len(body), body)
		b.Write(gzipped([]byte(record)))
	}
	return b.Bytes()
}

// TestTextsAreReadAgain reads all documents of all kinds of inputs, in any order, concurrently.
func TestTextsAreReadAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	data := lines(rng)
	var docs []document
	spools := map[string]bool{}
	for _, c := range []struct {
		name  string
		data  []byte
		least int
		spool bool
	}{
		{"plain.jsonl", data, 2500, false},
		{"mark.jsonl", append([]byte("\xef\xbb\xbf"), data...), 2500, false},
		{"gz.jsonl.gz", gzipped(data), 2500, true},
		{"two.jsonl.gz", append(gzipped(data[:50000]), gzipped(data[50000:])...), 2500, true},
		{"zst.jsonl.zst", zstded(data), 2500, true},
		{"pages.warc.gz", archive(300), 300, true},
		{"page.txt", []byte("One text, and nothing else 全文"), 1, true},
	} {
		name := write(t, c.name, c.data)
		found := documentsOf(t, name)
		if len(found) < c.least {
			t.Fatalf("%s has %d documents", c.name, len(found))
		}
		docs = append(docs, found...)
		spools[name] = c.spool
	}
	rng.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	docs = docs[:3000]
	in := NewInputs(t.Context(), input.NewFinder(nil, compress.Bounds{}).Find, func(i input.Input) *corpus.Source { return sourceOf(i) })
	var wg sync.WaitGroup
	for worker := range 3 {
		wg.Go(func() {
			for i := worker; i < len(docs); i += 3 {
				d := &docs[i]
				if id, text, err := in.Text(d.place, []byte("x")); err != nil || id != d.id || string(text) != "x"+d.text {
					t.Errorf("%v: %q %d bytes %v, want %q %d bytes", d.place, id, len(text), err, d.id, len(d.text)+1)
					return
				}
			}
		})
	}
	wg.Wait()
	for name, x := range in.known {
		for _, p := range x.pieces {
			if (p.records == 0) != spools[name] {
				t.Errorf("%s: a piece of %d records", filepath.Base(name), p.records)
				break
			}
		}
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
}

func TestTextsThatAreNotThere(t *testing.T) {
	name := write(t, "in.jsonl", []byte("{\"id\":\"a\",\"text\":\"x\"}\n\n{\"id\":\"b\",\"text\":\"y\"}\n"))
	torn := write(t, "torn.jsonl.gz", gzipped(lines(rand.New(rand.NewPCG(2, 2))))[:9000])
	ctx, cancel := context.WithCancel(t.Context())
	in := NewInputs(ctx, input.NewFinder(nil, compress.Bounds{}).Find, func(i input.Input) *corpus.Source { return sourceOf(i) })
	defer in.Close()
	at := func(file string, part, record int64) Place {
		return Place{File: file, At: corpus.Place{Part: part, Record: record}}
	}
	for _, p := range []Place{at(name, 0, 0), at(name, 0, 2), at(name, 0, 4), at(name, 7, 1), at(name, 0, 1<<60)} {
		if _, _, err := in.Text(p, nil); !errors.Is(err, errNotThere) {
			t.Errorf("%v: %v", p, err)
		}
	}
	if id, text, err := in.Text(at(name, 0, 3), nil); id != "b" || string(text) != "y" || err != nil {
		t.Errorf("%q %q %v", id, text, err)
	}
	if _, _, err := in.Text(at(name+".gone", 0, 1), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a file that is gone: %v", err)
	}
	if _, _, err := in.Text(at(filepath.Dir(name), 0, 1), nil); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("of a directory: %v", err)
	}
	if _, _, err := in.Text(at(torn, 0, 2999), nil); err == nil || errors.Is(err, errNotThere) || in.Lost() != nil {
		t.Errorf("of a torn file: %v", err)
	}
	t.Setenv("TMPDIR", filepath.Join(name, "none"))
	t.Setenv("TMP", filepath.Join(name, "none"))
	whole := write(t, "whole.jsonl.gz", gzipped([]byte("{\"id\":\"a\",\"text\":\"x\"}\n")))
	homeless := NewInputs(ctx, input.NewFinder(nil, compress.Bounds{}).Find, func(i input.Input) *corpus.Source { return sourceOf(i) })
	if _, _, err := homeless.Text(at(whole, 0, 1), nil); err == nil || !strings.Contains(err.Error(), "set TMPDIR") || homeless.Lost() == nil {
		t.Errorf("without a place for a temporary file: %v", err)
	}
	cancel()
	other := NewInputs(ctx, input.NewFinder(nil, compress.Bounds{}).Find, func(i input.Input) *corpus.Source { return sourceOf(i) })
	if _, _, err := other.Text(at(name, 0, 1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after an interrupt: %v", err)
	}
}

// TestManyInputs checks that only a few inputs are open at a time.
func TestManyInputs(t *testing.T) {
	in := NewInputs(t.Context(), input.NewFinder(nil, compress.Bounds{}).Find, func(i input.Input) *corpus.Source { return sourceOf(i) })
	defer in.Close()
	data := lines(rand.New(rand.NewPCG(3, 3)))
	for i := range 12 {
		name := write(t, fmt.Sprint(i, ".jsonl"), data)
		if _, _, err := in.Text(documentsOf(t, name)[0].place, nil); err != nil {
			t.Fatal(err)
		}
		if len(in.open) > maxOpen {
			t.Fatalf("%d inputs are open", len(in.open))
		}
	}
}

// TestKept checks that only documents that no run has parsed are read again, in any block order.
func TestKept(t *testing.T) {
	data := lines(rand.New(rand.NewPCG(4, 4)))
	marked := append([]byte("\xef\xbb\xbf"), data...)
	for name, data := range map[string][]byte{"in.jsonl": data, "marked.jsonl": marked, "in.jsonl.gz": gzipped(data), "in.jsonl.zst": zstded(data), "in.warc.gz": archive(300)} {
		t.Run(name, func(t *testing.T) {
			name := write(t, name, data)
			docs := documentsOf(t, name)
			again := 0
			in := NewInputs(t.Context(), input.NewFinder(nil, compress.Bounds{}).Find, func(i input.Input) *corpus.Source {
				again++
				return sourceOf(i)
			})
			defer in.Close()
			blocks := blocksOf(t, name)
			first := blocks[0].First
			if len(blocks) > 1 {
				first = blocks[1].First
			}
			for _, i := range rand.New(rand.NewPCG(5, 5)).Perm(len(blocks)) {
				if len(blocks) > 1 && i == 0 {
					continue // of an earlier run
				}
				parser, err := blocks[i].Format.NewParser("")
				if err != nil {
					t.Fatal(err)
				}
				if err := in.Keep(&blocks[i], parser.Parse(&blocks[i])); err != nil {
					t.Fatal(err)
				}
			}
			plain := strings.HasSuffix(name, ".jsonl")
			slices.Reverse(docs) // those of the first block are last
			for _, d := range docs {
				id, text, err := in.Text(d.place, nil)
				if err != nil || id != d.id || string(text) != d.text {
					t.Fatalf("%v: %q %q %v", d.place, id, text, err)
				}
				if read := again > 0; read != (d.place.At.Compare(first) < 0) {
					t.Fatalf("%v: the input was read again %d times", d.place, again)
				}
			}
			_, spooled := os.Stat(name)
			if spooled != nil || plain != (in.spool.length == 0) {
				t.Errorf("%d bytes were kept", in.spool.length)
			}
		})
	}
}

// blocksOf returns all blocks of an input.
func blocksOf(t *testing.T, name string) (blocks []corpus.Block) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	source := sourceOf(input.Input{Path: name, Name: name, Size: info.Size()})
	defer source.Close()
	source.Bound(50_000, nil)
	var b corpus.Block
	for {
		if err := source.Next(t.Context(), &b); err == io.EOF {
			return blocks
		} else if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, b.Copy())
	}
}

// TestKeptWithoutRoom checks that Keep names the setting if it can make no temporary file.
func TestKeptWithoutRoom(t *testing.T) {
	name := write(t, "in.jsonl.gz", gzipped([]byte("{\"id\":\"a\",\"text\":\"x\"}\n")))
	blocks := blocksOf(t, name)
	t.Setenv("TMPDIR", filepath.Join(name, "none"))
	t.Setenv("TMP", filepath.Join(name, "none"))
	in := NewInputs(t.Context(), input.NewFinder(nil, compress.Bounds{}).Find, nil)
	parser, err := blocks[0].Format.NewParser("")
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Keep(&blocks[0], parser.Parse(&blocks[0])); err == nil || !strings.Contains(err.Error(), "set TMPDIR") {
		t.Errorf("%v", err)
	}
}

// TestTextsInTheirOrder reads documents in order, across block boundaries. No block is read before
// one of its documents is asked for.
func TestTextsInTheirOrder(t *testing.T) {
	data := lines(rand.New(rand.NewPCG(4, 4)))
	for _, c := range []struct {
		name string
		data []byte
	}{{"in.jsonl", data}, {"in.jsonl.gz", gzipped(data)}} {
		name := write(t, c.name, c.data)
		in := NewInputs(t.Context(), input.NewFinder(nil, compress.Bounds{}).Find, func(i input.Input) *corpus.Source { return sourceOf(i) })
		blocks := 0
		for _, d := range documentsOf(t, name) {
			id, text, err := in.Text(d.place, nil)
			if err != nil || id != d.id || string(text) != d.text {
				t.Fatalf("%s: %v: %q %d bytes %v, want %q %d bytes", c.name, d.place, id, len(text), err, d.id, len(d.text))
			}
			x := in.known[name]
			if n := len(x.pieces); n > blocks {
				if blocks > 0 && x.pieces[blocks].first.Compare(d.place.At) > 0 {
					t.Fatalf("%s: for %v the block from %v on was read", c.name, d.place, x.pieces[blocks].first)
				}
				blocks = n
			}
		}
		if blocks < 3 {
			t.Errorf("%s has %d blocks", c.name, blocks)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
}
