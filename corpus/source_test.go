package corpus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	. "github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonarray"
	"github.com/firstseen/firstseen/corpus/jsonl"

	"github.com/firstseen/firstseen/internal/testing/filetest"
)

// readAll reads inputs to their end or an error, and checks the invariants of blocks.
func readAll(tb testing.TB, inputs []input.Input, cfg SourceConfig, fields jsonl.Fields) ([]record, error) {
	tb.Helper()
	src := NewSource(inputs, jsonl.Format{}, cfg)
	defer src.Close()
	p := newParser(tb, fields)
	var records []record
	var c Block
	ends := map[int]int64{}
	for {
		if err := src.Next(context.Background(), &c); err != nil {
			again := src.Next(context.Background(), &c)
			if again != err {
				tb.Fatalf("the error %v became %v", err, again)
			}
			if err == io.EOF {
				err = nil
			}
			return records, err
		}
		if len(c.Data) == 0 || c.File != inputs[c.Input].Name {
			tb.Fatalf("chunk of %d bytes, file %q, input %d", len(c.Data), c.File, c.Input)
		}
		if next, ok := ends[c.Input]; ok && c.First.Record != next {
			tb.Fatalf("block at %v, the one before ended at %d", c.First, next)
		}
		ends[c.Input] = c.First.Record + int64(c.Records)
		for rec := range p.Parse(&c) {
			records = append(records, recordOf(c.File, rec))
		}
	}
}

// A record is a document, or a line with the reason why it is none.
type record struct {
	File     string
	Line     int64
	Raw      string
	ID, Text string
	Reason   string
}

// linesOf splits a whole decoded input at '\n', and parses each line alone. The parser has an oracle
// of its own, in package jsonl.
func linesOf(tb testing.TB, idField string, data []byte, maxLine int) (records []record) {
	utf16 := slices.ContainsFunc([]string{"\xff\xfe", "\xfe\xff", "{\x00", "\x00{"}, func(head string) bool { return bytes.HasPrefix(data, []byte(head)) })
	p := newParser(tb, jsonl.Fields{ID: idField})
	for i, raw := range bytes.Split(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), Newline) {
		r := record{File: "f", Line: int64(i + 1), Raw: string(raw)}
		switch {
		case maxLine > 0 && len(raw) > maxLine:
			r.Reason = "longer than the limit"
			r.Raw = string(raw[:min(maxLine+1, 4096)])
		case len(raw) == 0:
			continue
		case utf16:
			r.Reason = "UTF-16"
		case len(bytes.Trim(raw, " \t\r")) == 0:
			continue
		default:
			for doc := range p.Parse(BlockOf("f", r.Line, raw, jsonl.Format{})) {
				r = recordOf("f", doc)
			}
		}
		records = append(records, r)
	}
	return records
}

func recordOf(file string, doc *Document) record {
	r := record{File: file, Line: doc.At.Record, Raw: string(doc.Raw), ID: string(doc.ID), Text: string(doc.Text)}
	if doc.Bad != nil {
		r.Reason = doc.Bad.Reason
	}
	return r
}

// sameRecords compares records. A wanted reason need only be part of the actual one.
func sameRecords(tb testing.TB, got, want []record) {
	tb.Helper()
	if len(got) != len(want) {
		tb.Fatalf("%d records, want %d:\n got %.2000s\nwant %.2000s", len(got), len(want), fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want))
	}
	for i, w := range want {
		if w.Reason != "" && strings.Contains(got[i].Reason, w.Reason) {
			w.Reason = got[i].Reason
		}
		if got[i] != w {
			tb.Fatalf("line %q\n got %+v\nwant %+v", got[i].Raw, got[i], w)
		}
	}
}

// endings holds the file name endings of JSON lines.
var endings = jsonl.Format{}.Endings()

func newParser(tb testing.TB, fields jsonl.Fields) Parser {
	tb.Helper()
	p, err := jsonl.Format{Fields: fields}.NewParser("")
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

var oneStdin = []input.Input{{Path: input.Stdin, Name: "f", Size: -1}}

func genLines(t *rapid.T) []byte {
	line := rapid.OneOf(
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{
			`{"text":"a","id":7}`, `{"meta":{"id":"m"},"text":"世"}`, `{"text":"`, `"}`, `{`, `}`, `\u00`, "\xff", "\x00", " ", "\t", "\r", "null", "😀",
		}), 0, 8), func(pieces []string) []byte { return []byte(strings.Join(pieces, "")) }),
		rapid.Just([]byte(" \r")),
		rapid.Map(rapid.IntRange(0, 300), func(n int) []byte { return []byte(`{"text":"` + strings.Repeat("x", n) + `"}`) }))
	data := bytes.Join(rapid.SliceOfN(line, 0, 30).Draw(t, "lines"), Newline)
	head := rapid.SampledFrom([]string{"", "", "", "\xef\xbb\xbf", "\xff\xfe", "\n", "{\x00"}).Draw(t, "head")
	return append([]byte(head), data...)
}

// TestChunksDoNotMatter reads random files with random chunk sizes, plain or compressed in two
// parts, through readers that return few bytes at a time.
func TestChunksDoNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		data := genLines(rt)
		maxLine := rapid.SampledFrom([]int{0, 16, 17, 40, 200}).Draw(rt, "max")
		cfg := SourceConfig{BlockSize: rapid.IntRange(1, 500).Draw(rt, "chunk"), MaxRecord: maxLine}
		want := linesOf(t, "meta.id", data, maxLine)

		stored := data
		if pack := rapid.SampledFrom([]func([]byte) []byte{nil, Gzipped, Zstded}).Draw(rt, "pack"); pack != nil {
			cut := rapid.IntRange(0, len(data)).Draw(rt, "cut")
			stored = append(pack(data[:cut]), pack(data[cut:])...)
			if len(stored) == 0 {
				stored = nil // zstd compresses nothing to nothing
			}
		}
		cfg.Stdin = bytes.NewReader(stored)
		if rapid.Bool().Draw(rt, "small reads") {
			cfg.Stdin = iotest.DataErrReader(iotest.HalfReader(cfg.Stdin))
		}
		got, err := readAll(t, oneStdin, cfg, jsonl.Fields{ID: "meta.id"})
		if err != nil {
			t.Fatal(err)
		}
		sameRecords(t, got, want)
	})
}

// TestSkip resumes at every line of every input, with several chunk sizes.
func TestSkip(t *testing.T) {
	inputs, _, err := input.Expand([]string{filepath.Join("testdata", "tree"), filepath.Join("testdata", "oddities.jsonl")}, endings)
	if err != nil {
		t.Fatal(err)
	}
	for _, chunk := range []int{0, 1, 50} {
		cfg := SourceConfig{BlockSize: chunk, MaxRecord: 400}
		all, err := readAll(t, inputs, cfg, jsonl.Fields{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range inputs {
			for line := range int64(40) {
				cfg.SkipInputs, cfg.SkipTo = i, Place{Record: line + 1}
				got, err := readAll(t, inputs, cfg, jsonl.Fields{})
				if err != nil {
					t.Fatal(err)
				}
				index := func(r record) int {
					return slices.IndexFunc(inputs, func(in input.Input) bool { return in.Name == r.File })
				}
				want := slices.DeleteFunc(slices.Clone(all), func(r record) bool {
					return index(r) < i || index(r) == i && r.Line <= line
				})
				sameRecords(t, got, want)
			}
		}
	}
}

// TestCutOff cuts compressed inputs at every byte. Whole lines and an error that names the input
// must follow, unless whole frames remain.
func TestCutOff(t *testing.T) {
	a, b := filetest.Lines("first, ", 30_000), filetest.Lines("second; ", 30_000)
	lines := linesOf(t, "id", append(slices.Clone(a), b...), 0)
	for name, pack := range map[string]func([]byte) []byte{"gzip": Gzipped, "zstd": Zstded} {
		first := pack(a)
		stored := append(slices.Clone(first), pack(b)...)
		for n := 10; n < len(stored); n++ {
			got, err := readAll(t, oneStdin, SourceConfig{Stdin: bytes.NewReader(stored[:n])}, jsonl.Fields{})
			if n == len(first) {
				if err != nil {
					t.Errorf("%s, whole frame: %v", name, err)
				}
				continue
			}
			if err == nil || !strings.Contains(err.Error(), "reading f:") || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s cut at %d of %d: error %v", name, n, len(stored), err)
			}
			sameRecords(t, got, lines[:len(got)])
		}
	}
}

func TestDamagedInput(t *testing.T) {
	for name, stored := range map[string][]byte{
		"gzip": Gzipped(filetest.Lines("text ", 50_000)), "zstd": Zstded(filetest.Lines("text ", 50_000)),
	} {
		stored[len(stored)-3] ^= 0x10 // in the checksum
		_, err := readAll(t, oneStdin, SourceConfig{Stdin: bytes.NewReader(stored)}, jsonl.Fields{})
		if err == nil || !strings.Contains(err.Error(), "reading f:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReadErrorAfterLines lets a read fail after whole records: short ones, one of many blocks, and
// one over the limit. All are returned first, whatever a read brings, but not the record cut short.
func TestReadErrorAfterLines(t *testing.T) {
	broken := errors.New("the disk is broken")
	whole := "{\"text\":\"a\"}\nb\n{\"text\":\"" + strings.Repeat("long ", 30) + "\"}\nc\nd\n" + strings.Repeat("over ", 50) + "\ne\nf\n"
	for _, cut := range []string{"", "{\"text\":\"cut", strings.Repeat("cut ", 60)} {
		for chunk := 1; chunk < 600; chunk++ {
			in := io.MultiReader(strings.NewReader(whole+cut), iotest.ErrReader(broken))
			got, err := readAll(t, oneStdin, SourceConfig{BlockSize: chunk, MaxRecord: 200, Stdin: in}, jsonl.Fields{})
			if !errors.Is(err, broken) || !strings.Contains(err.Error(), "reading f:") {
				t.Fatalf("error %v", err)
			}
			sameRecords(t, got, linesOf(t, "id", []byte(whole), 200))
		}
	}
}

// TestCutOffHeads checks that the bare magic bytes of a compression are an input that is cut off. A
// format without a reader is named.
func TestCutOffHeads(t *testing.T) {
	for head, want := range map[string]string{
		"\xfd7zXZ\x00\x00\x04": "cut off", "BZh91AY&SY": "cut off", "\x04\x22\x4d\x18\x60": "cut off",
		"PK\x03\x04": "a zip file", "PAR1\x15": "a Parquet file", "%PDF-1.7\n": "a PDF", "SQLite format 3\x00": "an SQLite database",
		"PK\x03\x04" + strings.Repeat("\x00", 26) + "[Content_Types].xml": "an Office document or an e-book", "PK\x03\x04" + strings.Repeat("\x00", 26) + "mimetypeapplication/epub+zip": "an Office document or an e-book",
	} {
		_, err := readAll(t, oneStdin, SourceConfig{Stdin: strings.NewReader(head)}, jsonl.Fields{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "reading f:") {
			t.Errorf("%q: %v", head, err)
		}
	}
}

func TestSkippableFrameFirst(t *testing.T) {
	stored := append([]byte("\x50\x2a\x4d\x18\x03\x00\x00\x00abc"), Zstded([]byte(`{"text":"a"}`))...)
	got, err := readAll(t, oneStdin, SourceConfig{Stdin: bytes.NewReader(stored)}, jsonl.Fields{})
	if err != nil || len(got) != 1 || got[0].Text != "a" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestOverlongLine reads a line of 64 MiB with a limit of 1 MiB, and checks the size of the buffer.
func TestOverlongLine(t *testing.T) {
	in := io.MultiReader(strings.NewReader("{\"text\":\"a\"}\n"), io.LimitReader(zeros{}, 64<<20),
		strings.NewReader("\n{\"text\":\"b\"}"))
	src := NewSource(oneStdin, jsonl.Format{}, SourceConfig{MaxRecord: 1 << 20, BlockSize: 1 << 16, Stdin: in})
	p, c := newParser(t, jsonl.Fields{}), new(Block)
	var got []string
	for src.Next(context.Background(), c) == nil {
		if cap(c.Buffer()) > 2<<20 {
			t.Errorf("a buffer of %d bytes", cap(c.Buffer()))
		}
		for rec := range p.Parse(c) {
			got = append(got, string(rec.Text))
			if rec.At.Record == 2 && (rec.Bad == nil || len(rec.Raw) != OverlongHead) {
				t.Errorf("record %v, %d bytes of it", rec.Bad, len(rec.Raw))
			}
		}
	}
	if !slices.Equal(got, []string{"a", "", "b"}) {
		t.Errorf("texts %q", got)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestNextHonoursContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	src := NewSource(oneStdin, jsonl.Format{}, SourceConfig{Stdin: zeros{}})
	if err := src.Next(ctx, new(Block)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// stops returns one byte, then stops the run while it returns the rest.
type stops struct {
	text []byte
	stop func()
}

func (s *stops) Read(p []byte) (int, error) {
	n := 1
	if s.text[0] != '{' {
		s.stop()
		n = len(s.text)
	}
	n = copy(p, s.text[:n])
	s.text = s.text[n:]
	return n, nil
}

// TestSourceStoppedInTheFirstRead stops a run in the successful read that identifies an input.
func TestSourceStoppedInTheFirstRead(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	in := &stops{[]byte(`{"text":"a"}` + "\n"), cancel}
	src := NewSource(oneStdin, jsonarray.Format{}, SourceConfig{Stdin: in})
	if err := src.Next(ctx, new(Block)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestSourceCloses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl.zst")
	if err := os.WriteFile(path, Zstded(filetest.Lines("text ", 1<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	inputs, _, err := input.Expand([]string{path}, endings)
	if err != nil {
		t.Fatal(err)
	}
	src := NewSource(inputs, jsonl.Format{}, SourceConfig{BlockSize: 1000})
	if err := src.Next(context.Background(), new(Block)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(src.Close(), src.Close()); err != nil {
		t.Error(err)
	}
	if err := src.Next(context.Background(), new(Block)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestProgress checks that the count of stored bytes ends at the total size.
func TestProgress(t *testing.T) {
	inputs, _, err := input.Expand([]string{filepath.Join("testdata", "tree")}, endings)
	if err != nil {
		t.Fatal(err)
	}
	total, known := input.TotalSize(inputs)
	src := NewSource(inputs, jsonl.Format{}, SourceConfig{BlockSize: 20})
	var c Block
	last := int64(0)
	for src.Next(context.Background(), &c) == nil {
		if c.Read < last {
			t.Errorf("read %d after %d", c.Read, last)
		}
		last = c.Read
	}
	if !known || total == 0 || last != total {
		t.Errorf("read %d of %d (known: %v)", last, total, known)
	}
}

// FuzzSource reads any bytes as an input. Two chunk sizes must yield the same records, with or
// without an error. Uncompressed input is checked against the oracle.
func FuzzSource(f *testing.F) {
	plain := []byte("{\"text\":\"a\"}\n\n{\"text\":\"\\ud83d\\ude00\",\"id\":1}\r\n[]")
	for _, seed := range [][]byte{plain, Gzipped(plain), Zstded(plain), []byte("\xef\xbb\xbf{}"), []byte("\xff\xfe{\x00")} {
		f.Add(seed, 7, 20)
	}
	f.Fuzz(func(t *testing.T, stored []byte, chunk, maxLine int) {
		read := func(chunk int) ([]record, error) {
			return readAll(t, oneStdin, SourceConfig{BlockSize: chunk, MaxRecord: maxLine, Stdin: bytes.NewReader(stored)}, jsonl.Fields{})
		}
		chunk, maxLine = 1+(chunk&0xfff), 16+(maxLine&0xfff)
		got, err := read(chunk)
		other, otherErr := read(0)
		if (err == nil) != (otherErr == nil) {
			t.Fatalf("chunks of %d: %v, of 1 MiB: %v", chunk, err, otherErr)
		}
		sameRecords(t, got, other)
		head := stored[:min(10, len(stored))]
		if IsOther(stored) {
			if err == nil {
				t.Fatal("read as lines")
			}
			return
		}
		if !bytes.HasPrefix(head, []byte("\x1f\x8b")) && !IsZstd(head) && CompressionOf(head) == "" {
			if err != nil {
				t.Fatal(err)
			}
			sameRecords(t, got, linesOf(t, "id", stored, maxLine))
		}
	})
}

// BenchmarkSource measures reading without parsing: one goroutine reads for all parsers.
func BenchmarkSource(b *testing.B) {
	data := append(filetest.Lines("plain text, and some more of it. ", 16<<20), filetest.Lines("过滤器是派生状态，随时可以由副表重建。", 16<<20)...)
	for name, stored := range map[string][]byte{"plain": data, "gzip": Gzipped(data), "zstd": Zstded(data)} {
		b.Run(name, func(b *testing.B) {
			var c Block
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				src := NewSource(oneStdin, jsonl.Format{}, SourceConfig{Stdin: bytes.NewReader(stored)})
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
