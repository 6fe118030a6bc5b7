package corpus

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

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

func gzipped(data []byte) []byte {
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	_, _ = w.Write(data)
	_ = w.Close()
	return buf.Bytes()
}

func zstded(data []byte) []byte {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	defer enc.Close()
	return enc.EncodeAll(data, nil)
}

// readAll reads inputs to their end or an error, checking what chunks promise.
func readAll(tb testing.TB, inputs []Input, cfg SourceConfig, fields Fields) ([]oracleRecord, error) {
	tb.Helper()
	src := NewSource(inputs, cfg)
	defer src.Close()
	p := newParser(tb, fields)
	var records []oracleRecord
	var c Chunk
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
		if end, ok := ends[c.Input]; ok && c.Offset != end {
			tb.Fatalf("chunk at %d, the one before ended at %d", c.Offset, end)
		}
		ends[c.Input] = c.End
		for rec := range p.Parse(&c) {
			r := oracleRecord{rec.File, rec.Line, string(rec.Raw), string(rec.ID), string(rec.Text), ""}
			if rec.Err != nil {
				r.Reason = rec.Err.Reason
			}
			records = append(records, r)
		}
	}
}

// sameRecords compares records, of reasons only that the wanted one is part.
func sameRecords(tb testing.TB, got, want []oracleRecord) {
	tb.Helper()
	if len(got) != len(want) {
		tb.Fatalf("%d records, want %d:\n got %.2000s\nwant %.2000s", len(got), len(want), fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want))
	}
	for i := range got {
		rec := &Record{
			File: got[i].File, Line: got[i].Line, Raw: []byte(got[i].Raw),
			ID: []byte(got[i].ID), Text: []byte(got[i].Text),
		}
		if got[i].Reason != "" {
			rec.Err = &BadRecord{Reason: got[i].Reason}
		}
		sameAsOracle(tb, rec, want[i])
	}
}

var oneStdin = []Input{{Path: Stdin, Name: "f", Size: -1}}

func genLines(t *rapid.T) []byte {
	line := rapid.OneOf(rapid.Custom(genLine), rapid.Custom(genObject), rapid.Just([]byte(" \r")),
		rapid.Map(rapid.IntRange(0, 300), func(n int) []byte { return []byte(`{"text":"` + strings.Repeat("x", n) + `"}`) }))
	data := bytes.Join(rapid.SliceOfN(line, 0, 30).Draw(t, "lines"), newline)
	head := rapid.SampledFrom([]string{"", "", "", "\xef\xbb\xbf", "\xff\xfe", "\n", "{\x00"}).Draw(t, "head")
	return append([]byte(head), data...)
}

// TestChunksDoNotMatter reads drawn files with drawn chunk sizes, plain and
// compressed in drawn pieces, through readers that return little at a time.
func TestChunksDoNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		data := genLines(rt)
		maxLine := rapid.SampledFrom([]int{0, 16, 17, 40, 200}).Draw(rt, "max")
		cfg := SourceConfig{ChunkSize: rapid.IntRange(1, 500).Draw(rt, "chunk"), MaxLine: maxLine}
		want := oracleLines(Fields{Text: "text", ID: "meta.id"}, "f", data, maxLine)

		stored := data
		if pack := rapid.SampledFrom([]func([]byte) []byte{nil, gzipped, zstded}).Draw(rt, "pack"); pack != nil {
			cut := rapid.IntRange(0, len(data)).Draw(rt, "cut")
			stored = append(pack(data[:cut]), pack(data[cut:])...)
			if len(stored) == 0 {
				stored = nil // nothing packs to nothing with zstd
			}
		}
		cfg.Stdin = bytes.NewReader(stored)
		if rapid.Bool().Draw(rt, "small reads") {
			cfg.Stdin = iotest.DataErrReader(iotest.HalfReader(cfg.Stdin))
		}
		got, err := readAll(t, oneStdin, cfg, Fields{ID: "meta.id"})
		if err != nil {
			t.Fatal(err)
		}
		sameRecords(t, got, want)
	})
}

// TestSkip goes on at every line of every input, with several chunk sizes.
func TestSkip(t *testing.T) {
	inputs, _, err := Expand([]string{filepath.Join("testdata", "tree"), filepath.Join("testdata", "oddities.jsonl")})
	if err != nil {
		t.Fatal(err)
	}
	for _, chunk := range []int{0, 1, 50} {
		cfg := SourceConfig{ChunkSize: chunk, MaxLine: 400}
		all, err := readAll(t, inputs, cfg, Fields{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range inputs {
			for line := range int64(40) {
				cfg.SkipInputs, cfg.SkipLines = i, line
				got, err := readAll(t, inputs, cfg, Fields{})
				if err != nil {
					t.Fatal(err)
				}
				index := func(r oracleRecord) int {
					return slices.IndexFunc(inputs, func(in Input) bool { return in.Name == r.File })
				}
				want := slices.DeleteFunc(slices.Clone(all), func(r oracleRecord) bool {
					return index(r) < i || index(r) == i && r.Line <= line
				})
				sameRecords(t, got, want)
			}
		}
	}
}

// TestCutOff cuts compressed inputs at every byte: an error that names the
// input, after nothing but whole lines, unless the cut leaves whole frames.
func TestCutOff(t *testing.T) {
	a, b := benchLines("first, ", 30_000), benchLines("second; ", 30_000)
	lines := oracleLines(Fields{Text: "text", ID: "id"}, "f", append(slices.Clone(a), b...), 0)
	for name, pack := range map[string]func([]byte) []byte{"gzip": gzipped, "zstd": zstded} {
		first := pack(a)
		stored := append(slices.Clone(first), pack(b)...)
		for n := 10; n < len(stored); n++ {
			got, err := readAll(t, oneStdin, SourceConfig{Stdin: bytes.NewReader(stored[:n])}, Fields{})
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
		"gzip": gzipped(benchLines("text ", 50_000)), "zstd": zstded(benchLines("text ", 50_000)),
	} {
		stored[len(stored)-3] ^= 0x10 // in the checksum
		_, err := readAll(t, oneStdin, SourceConfig{Stdin: bytes.NewReader(stored)}, Fields{})
		if err == nil || !strings.Contains(err.Error(), "reading f:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadErrorAfterLines(t *testing.T) {
	broken := errors.New("the disk is broken")
	for chunk := 1; chunk < 40; chunk++ {
		in := io.MultiReader(strings.NewReader("{\"text\":\"a\"}\nb\n{\"text\":\"cut"), iotest.ErrReader(broken))
		got, err := readAll(t, oneStdin, SourceConfig{ChunkSize: chunk, Stdin: in}, Fields{})
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "reading f:") {
			t.Fatalf("error %v", err)
		}
		if len(got) != 2 || got[0].Text != "a" || got[1].Raw != "b" {
			t.Fatalf("chunk size %d: records %+v", chunk, got)
		}
	}
}

func TestForeignCompression(t *testing.T) {
	for _, head := range []string{"\xfd7zXZ\x00\x00\x04", "BZh91AY&SY", "\x04\x22\x4d\x18\x60", "PK\x03\x04"} {
		_, err := readAll(t, oneStdin, SourceConfig{Stdin: strings.NewReader(head)}, Fields{})
		if err == nil || !strings.Contains(err.Error(), "not supported") {
			t.Errorf("%q: %v", head, err)
		}
	}
}

func TestSkippableFrameFirst(t *testing.T) {
	stored := append([]byte("\x50\x2a\x4d\x18\x03\x00\x00\x00abc"), zstded([]byte(`{"text":"a"}`))...)
	got, err := readAll(t, oneStdin, SourceConfig{Stdin: bytes.NewReader(stored)}, Fields{})
	if err != nil || len(got) != 1 || got[0].Text != "a" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestOverlongLine reads a line of 64 MiB with a limit of 1 MiB and looks at
// how much of it was held.
func TestOverlongLine(t *testing.T) {
	in := io.MultiReader(strings.NewReader("{\"text\":\"a\"}\n"), io.LimitReader(zeros{}, 64<<20),
		strings.NewReader("\n{\"text\":\"b\"}"))
	src := NewSource(oneStdin, SourceConfig{MaxLine: 1 << 20, ChunkSize: 1 << 16, Stdin: in})
	p, c := newParser(t, Fields{}), new(Chunk)
	var got []string
	for src.Next(context.Background(), c) == nil {
		if cap(c.buf) > 2<<20 {
			t.Errorf("a buffer of %d bytes", cap(c.buf))
		}
		for rec := range p.Parse(c) {
			got = append(got, string(rec.Text))
			if rec.Line == 2 && (rec.Err == nil || len(rec.Raw) != overlongHead || c.End-c.Offset != 64<<20+1) {
				t.Errorf("record %v, %d bytes of it, chunk from %d to %d", rec.Err, len(rec.Raw), c.Offset, c.End)
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
	src := NewSource(oneStdin, SourceConfig{Stdin: zeros{}})
	if err := src.Next(ctx, new(Chunk)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestSourceCloses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl.zst")
	if err := os.WriteFile(path, zstded(benchLines("text ", 1<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	inputs, _, err := Expand([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	src := NewSource(inputs, SourceConfig{ChunkSize: 1000})
	if err := src.Next(context.Background(), new(Chunk)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(src.Close(), src.Close()); err != nil {
		t.Error(err)
	}
	if err := src.Next(context.Background(), new(Chunk)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestProgress checks that the stored bytes read end at the total size.
func TestProgress(t *testing.T) {
	inputs, _, err := Expand([]string{filepath.Join("testdata", "tree")})
	if err != nil {
		t.Fatal(err)
	}
	total, known := TotalSize(inputs)
	src := NewSource(inputs, SourceConfig{ChunkSize: 20})
	var c Chunk
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

// FuzzSource reads any bytes as an input: no panic, and the same records for
// two chunk sizes; what is not compressed is checked against the oracle.
func FuzzSource(f *testing.F) {
	plain := []byte("{\"text\":\"a\"}\n\n{\"text\":\"\\ud83d\\ude00\",\"id\":1}\r\n[]")
	for _, seed := range [][]byte{plain, gzipped(plain), zstded(plain), []byte("\xef\xbb\xbf{}"), []byte("\xff\xfe{\x00")} {
		f.Add(seed, 7, 20)
	}
	f.Fuzz(func(t *testing.T, stored []byte, chunk, maxLine int) {
		read := func(chunk int) ([]oracleRecord, error) {
			return readAll(t, oneStdin, SourceConfig{ChunkSize: chunk, MaxLine: maxLine, Stdin: bytes.NewReader(stored)}, Fields{})
		}
		chunk, maxLine = 1+(chunk&0xfff), 16+(maxLine&0xfff)
		got, err := read(chunk)
		other, otherErr := read(0)
		if (err == nil) != (otherErr == nil) {
			t.Fatalf("chunks of %d: %v, of 1 MiB: %v", chunk, err, otherErr)
		}
		sameRecords(t, got, other)
		head := stored[:min(10, len(stored))]
		if !bytes.HasPrefix(head, []byte("\x1f\x8b")) && !isZstd(head) && otherCompression(head) == "" {
			if err != nil {
				t.Fatal(err)
			}
			sameRecords(t, got, oracleLines(Fields{Text: "text", ID: "id"}, "f", stored, maxLine))
		}
	})
}
