package corpus_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	. "github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/warc"

	"github.com/firstseen/firstseen/internal/testing/filetest"
)

// genText returns lines of varied bytes.
func genText(t *rapid.T, label string) []byte {
	var b bytes.Buffer
	seed := rapid.Uint64().Draw(t, label)
	r := rand.New(rand.NewPCG(seed, 1))
	for range r.IntN(40) {
		fmt.Fprintf(&b, "{\"id\":%d,\"text\":\"%s%x\"}\n", r.IntN(1000), strings.Repeat("ab", r.IntN(30)), r.Uint64())
	}
	return b.Bytes()
}

// genGzip returns a gzip file of several members, some of them stored, with zeros between them. A
// member may contain data that looks like another member.
func genGzip(t *rapid.T) []byte {
	var b bytes.Buffer
	for i := range rapid.IntRange(1, 6).Draw(t, "members") {
		level := rapid.SampledFrom([]int{gzip.NoCompression, gzip.BestSpeed, gzip.BestCompression}).Draw(t, "level")
		w, _ := gzip.NewWriterLevel(&b, level)
		w.Name = rapid.SampledFrom([]string{"", "name"}).Draw(t, "name")
		_, _ = w.Write(genText(t, "text"))
		if rapid.IntRange(0, 3).Draw(t, "inside") == 0 {
			_, _ = w.Write(append(Gzipped(genText(t, "inner")), '\n'))
		}
		_ = w.Close()
		b.Write(make([]byte, rapid.SampledFrom([]int{0, 0, 0, 1, i * 100}).Draw(t, "zeros")))
	}
	return b.Bytes()
}

// genSkippable returns a skippable frame with data that looks like a frame, or none.
func genSkippable(t *rapid.T) (b []byte) {
	if rapid.IntRange(0, 2).Draw(t, "skippable") == 0 {
		skipped := Zstded(genText(t, "skipped"))
		b = append(b, 0x50+byte(rapid.IntRange(0, 15).Draw(t, "kind")), 0x2a, 0x4d, 0x18)
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(skipped))), skipped...)
	}
	return b
}

// genZstd returns a zstd file of several frames with windows of different sizes, and
// skippable frames between them.
func genZstd(t *rapid.T) []byte {
	var b []byte
	for range rapid.IntRange(1, 6).Draw(t, "frames") {
		b = append(b, genSkippable(t)...)
		window := 1 << rapid.IntRange(10, 18).Draw(t, "window")
		var one bytes.Buffer
		w, err := zstd.NewWriter(&one, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithEncoderCRC(rapid.Bool().Draw(t, "sum")))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(genText(t, "text"))
		_ = w.Flush()
		_, _ = w.Write(genText(t, "more"))
		_ = w.Close()
		b = append(b, one.Bytes()...)
	}
	return b
}

// packed compresses data with the writer that open returns.
func packed(t *rapid.T, data []byte, open func(w io.Writer) (io.WriteCloser, error)) []byte {
	var b bytes.Buffer
	w, err := open(&b)
	if err == nil {
		_, err = w.Write(data)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func genStored(t *rapid.T) (data []byte) {
	switch rapid.SampledFrom([]string{"plain", "gzip", "gzip", "gzip", "zstd", "zstd", "zstd", "xz", "lz4", "empty"}).Draw(t, "stored") {
	case "plain":
		data = genText(t, "text")
	case "gzip":
		data = genGzip(t)
	case "zstd":
		data = genZstd(t)
	case "xz":
		data = packed(t, genText(t, "text"), func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) })
	case "lz4":
		for range rapid.IntRange(1, 3).Draw(t, "frames") {
			data = append(data, genSkippable(t)...)
			data = append(data, packed(t, genText(t, "text"), func(w io.Writer) (io.WriteCloser, error) { return lz4.NewWriter(w), nil })...)
		}
	}
	switch rapid.SampledFrom([]string{"", "", "", "", "", "", "flip", "cut", "more"}).Draw(t, "damage") {
	case "flip":
		if len(data) > 0 {
			data[rapid.IntRange(0, len(data)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		}
	case "cut":
		data = data[:rapid.IntRange(0, len(data)).Draw(t, "left")]
	case "more":
		data = append(data, rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "garbage")...)
	}
	return data
}

func writeInputs(tb testing.TB, dir string, stored [][]byte) (inputs []input.Input) {
	tb.Helper()
	for i, data := range stored {
		name := filepath.Join(dir, fmt.Sprintf("%02d", i))
		if err := os.WriteFile(name, data, 0o600); err != nil {
			tb.Fatal(err)
		}
		inputs = append(inputs, input.Input{Path: name, Name: fmt.Sprint("f", i), Size: int64(len(data))})
	}
	return inputs
}

// TestAheadDoesNotMatter reads random files, whole and damaged, with and without decoding ahead.
// Both must yield the same records and the same error.
func TestAheadDoesNotMatter(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		inputs := writeInputs(t, dir, rapid.SliceOfN(rapid.Custom(genStored), 1, 8).Draw(rt, "files"))
		cfg := SourceConfig{
			BlockSize: rapid.SampledFrom([]int{1, 50, 500, 5000, 1 << 20}).Draw(rt, "block"), MaxRecord: 300,
			Bounds:     compress.Bounds{MaxWindow: rapid.SampledFrom([]int64{1 << 12, 1 << 16, 1 << 23}).Draw(rt, "limit")},
			SkipInputs: rapid.SampledFrom([]int{0, 0, 1}).Draw(rt, "skip"),
			SkipTo:     Place{Record: int64(rapid.SampledFrom([]int{0, 0, 5, 50}).Draw(rt, "to"))},
		}
		want, wantErr := readAll(t, inputs, cfg, jsonl.Fields{})
		cfg.DecodeAhead(rapid.IntRange(1, 5).Draw(rt, "decoders"), rapid.SampledFrom([]int{1, 7, 100, 3000}).Draw(rt, "chunk"),
			rapid.IntRange(0, 20).Draw(rt, "buffers"), int64(1)<<rapid.IntRange(9, 19).Draw(rt, "window"),
			int64(rapid.IntRange(1, 2000).Draw(rt, "piece")), int64(rapid.IntRange(1, 3000).Draw(rt, "look")))
		got, gotErr := readAll(t, inputs, cfg, jsonl.Fields{})
		if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
			rt.Fatalf("error %v, want %v", gotErr, wantErr)
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("%d records, want %d:\n got %.2000s\nwant %.2000s", len(got), len(want), fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want))
		}
	})
}

// TestSkippableLZ4 reads lz4 files that begin with a skippable frame, or have one between frames.
func TestSkippableLZ4(t *testing.T) {
	var frame bytes.Buffer
	w := lz4.NewWriter(&frame)
	_, err := w.Write([]byte("{\"text\":\"one line\"}\n"))
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	skippable := "\x53\x2a\x4d\x18\x03\x00\x00\x00any"
	stored := []byte(skippable + skippable + frame.String() + skippable + frame.String())
	for _, ahead := range []int{0, 2} {
		got, err := readAll(t, writeInputs(t, t.TempDir(), [][]byte{stored, stored}), SourceConfig{Ahead: ahead}, jsonl.Fields{})
		if err != nil || len(got) != 4 {
			t.Errorf("with %d decoders: %d records, %v, want 4", ahead, len(got), err)
		}
	}
	if !IsOther([]byte("\x5d\x00\x00\x80\x00\xff\xff\xff\xff\xff\xff\xff\xff\x00")) {
		t.Error("lzma is not named")
	}
}

// aheadFiles returns inputs of many gzip members or zstd frames.
func aheadFiles(tb testing.TB) []input.Input {
	tb.Helper()
	var stored [][]byte
	for i := range 6 {
		var data []byte
		for j := range 20 {
			lines := filetest.Lines(fmt.Sprintf("file %d, part %d, ", i, j), 20_000)
			data = append(data, []func([]byte) []byte{Gzipped, Zstded}[i%2](lines)...)
		}
		stored = append(stored, data)
	}
	return writeInputs(tb, tb.TempDir(), stored)
}

// TestAheadClosed closes a source after each of its blocks, with its context cancelled. No file may
// stay open, and no goroutine may stay (TestMain checks).
func TestAheadClosed(t *testing.T) {
	inputs := aheadFiles(t)
	for after := 0; ; after++ {
		cfg := SourceConfig{BlockSize: 200_000}
		cfg.DecodeAhead(3, 5000, 40, 1<<20, 1, 1<<20)
		src := NewSource(inputs, jsonl.Format{}, cfg)
		ctx, cancel := context.WithCancel(context.Background())
		var b Block
		var err error
		for i := 0; i < after && err == nil; i++ {
			err = src.Next(ctx, &b)
		}
		cancel()
		if after%2 == 0 && err == nil {
			_ = src.Next(ctx, &b) // may return a block or the context's error
		}
		if closed := src.Close(); closed != nil {
			t.Fatal(closed)
		}
		if err == io.EOF {
			return
		}
		if err := src.Next(context.Background(), &b); err == nil {
			t.Fatal("it goes on")
		}
	}
}

// TestAheadProgress checks that the count of stored bytes ends at the size of all files.
func TestAheadProgress(t *testing.T) {
	inputs := aheadFiles(t)
	total, _ := input.TotalSize(inputs)
	cfg := SourceConfig{BlockSize: 3000, Ahead: 4}
	src := NewSource(inputs, jsonl.Format{}, cfg)
	defer src.Close()
	var b Block
	last := int64(0)
	for src.Next(context.Background(), &b) == nil {
		if b.Read < last {
			t.Fatalf("read %d after %d", b.Read, last)
		}
		last = b.Read
	}
	if last != total {
		t.Errorf("read %d of %d", last, total)
	}
}

// TestAheadChanged truncates or removes a file between listing and reading.
func TestAheadChanged(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"it became shorter": func(path string) error { return os.Truncate(path, 0) },
		"opening input":     os.Remove,
	} {
		inputs := aheadFiles(t)
		last := inputs[len(inputs)-1].Path
		if err := change(last); err != nil {
			t.Fatal(err)
		}
		cfg := SourceConfig{Ahead: 4}
		want, wantErr := readAll(t, inputs, SourceConfig{}, jsonl.Fields{})
		got, err := readAll(t, inputs, cfg, jsonl.Fields{})
		if err == nil || !strings.Contains(err.Error(), name) || err.Error() != wantErr.Error() {
			t.Errorf("%v, want %v", err, wantErr)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d records, want %d", len(got), len(want))
		}
	}
}

// TestAheadWindows checks that one large window at a time is live while several files are read.
func TestAheadWindows(t *testing.T) {
	const window = 64 << 20
	line := []byte(`{"text":"` + strings.Repeat("x", 1000) + "\"}\n")
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
	if err != nil {
		t.Fatal(err)
	}
	n := (window + 1<<20) / len(line)
	for range n {
		_, _ = w.Write(line)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	inputs := writeInputs(t, t.TempDir(), [][]byte{b.Bytes(), b.Bytes(), b.Bytes(), b.Bytes()})
	src := NewSource(inputs, jsonl.Format{}, SourceConfig{Ahead: 4, Bounds: compress.Bounds{MaxWindow: window}})
	defer src.Close()
	var most uint64
	records := 0
	var block Block
	for i := 0; err == nil; i++ {
		if err = src.Next(context.Background(), &block); err == nil {
			records += block.Records
		}
		if i%16 == 0 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
	if err != io.EOF || records != 4*n {
		t.Errorf("%d records, %v; want %d", records, err, 4*n)
	}
	if limit := uint64(window + 40<<20); most > limit {
		t.Errorf("%d MiB are live, want at most %d", most>>20, limit>>20)
	}
}

// TestAheadRatio checks that decoding ahead refuses a file that expands without end.
func TestAheadRatio(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	inputs := writeInputs(t, t.TempDir(), [][]byte{Gzipped([]byte("{\"text\":\"a\"}\n")), bomb(1<<30 + 1<<20)})
	got, err := readAll(t, inputs, SourceConfig{Ahead: 3}, jsonl.Fields{})
	if !errors.Is(err, compress.ErrRatio) || len(got) != 1 {
		t.Errorf("%d records, %v", len(got), err)
	}
}

// BenchmarkAhead reads generated files with several numbers of decoders, or the files listed in the
// environment variable BENCH_STORED as in PATH.
func BenchmarkAhead(b *testing.B) {
	inputs, _, err := input.Expand(filepath.SplitList(os.Getenv("BENCH_STORED")), endings)
	if err != nil {
		b.Fatal(err)
	}
	if len(inputs) == 0 {
		inputs = aheadFiles(b)
	}
	read := func(b *testing.B, inputs []input.Input, n int) (size int64) {
		src := NewSource(inputs, jsonl.Format{}, SourceConfig{Ahead: n})
		defer src.Close()
		var c Block
		for {
			switch err := src.Next(context.Background(), &c); err {
			case nil:
				size += int64(len(c.Data))
			case io.EOF:
				return size
			default:
				b.Error(err)
				return size
			}
		}
	}
	for _, n := range []int{1, 2, 3, 4, 8} {
		b.Run(fmt.Sprint("ahead=", n), func(b *testing.B) {
			for b.Loop() {
				b.SetBytes(read(b, inputs, n))
			}
		})
		// The upper bound on speed: each goroutine reads other files.
		b.Run(fmt.Sprint("apart=", n), func(b *testing.B) {
			for b.Loop() {
				var size atomic.Int64
				var g errgroup.Group
				g.SetLimit(n)
				for i := range inputs {
					g.Go(func() error {
						size.Add(read(b, inputs[i:i+1], 0))
						return nil
					})
				}
				_ = g.Wait()
				b.SetBytes(size.Load())
			}
		})
	}
}

// TestCancelAmongEmptyMembers checks that skipping empty members stops once the run is cancelled.
func TestCancelAmongEmptyMembers(t *testing.T) {
	record := "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://a/\r\nContent-Length: 5\r\n\r\nhello\r\n\r\n"
	data := append(Gzipped([]byte(record)), bytes.Repeat(Gzipped(nil), 100_000)...)
	name := filepath.Join(t.TempDir(), "a.warc.gz")
	filetest.Write(t, map[string]string{name: string(data)})
	source := NewSource([]input.Input{{Path: name, Name: name, Size: int64(len(data))}}, warc.Format{}, SourceConfig{})
	defer source.Close()
	ctx := &endsLater{Context: t.Context(), left: 50}
	var b Block
	defer b.Release()
	var err error
	for err == nil {
		err = source.Next(ctx, &b)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, it ends with %v", err)
	}
}

// endsLater is a context that is cancelled after left calls of Err.
type endsLater struct {
	context.Context
	left int
}

func (c *endsLater) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestSizesForAnyNumber checks that the memory is divided for at least one decoder.
func TestSizesForAnyNumber(t *testing.T) {
	for n, want := range map[int]int{-1: 1, 0: 1, 1: 1, 8: 8, 9: 8} {
		if got := compress.SizesFor(n); got.Decoders != want || got.Buffers < 2 {
			t.Errorf("%d: %+v", n, got)
		}
	}
}
