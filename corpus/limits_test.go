package corpus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	. "github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"

	"github.com/firstseen/firstseen/internal/testing/filetest"
)

// TestLineAtLimit reads lines of MaxRecord bytes and of one more, with every possible end, in
// chunks of sizes around the limit.
func TestLineAtLimit(t *testing.T) {
	const limit = 100
	line := func(n int) string {
		return `{"text":"` + strings.Repeat("x", n-len(`{"text":""}`)) + `"}`
	}
	for _, end := range []string{"", "\n", "\n\n", "\n" + line(20), "\r\n", "\n{\"text\":\"y\"}\n"} {
		length := limit
		if strings.HasPrefix(end, "\r") {
			length-- // a '\r' belongs to the line
		}
		for _, chunk := range []int{1, 50, limit - 1, limit, limit + 1, limit + 2, 1 << 20} {
			for more := range 2 {
				data := line(20) + "\n" + line(length+more) + end
				got, err := readAll(t, oneStdin, SourceConfig{BlockSize: chunk, MaxRecord: limit, Stdin: strings.NewReader(data)}, jsonl.Fields{})
				if err != nil {
					t.Fatal(err)
				}
				sameRecords(t, got, linesOf(t, "id", []byte(data), limit))
				if bad := got[1].Reason != ""; bad != (more == 1) {
					t.Errorf("%d bytes before %q, chunks of %d: bad is %v", length+more, end, chunk, bad)
				}
			}
		}
	}
}

// TestDefaultLimit reads a line of exactly 64 MiB and one of a byte more.
func TestDefaultLimit(t *testing.T) {
	fill := func(n int) io.Reader { return io.LimitReader(zeros{}, int64(n)) }
	long := func(n int) io.Reader {
		return io.MultiReader(strings.NewReader(`{"text":"`), fill(n-len(`{"text":""}`)), strings.NewReader("\"}\n"))
	}
	in := io.MultiReader(long(64<<20), long(64<<20+1), long(100))
	src, p, c := NewSource(oneStdin, jsonl.Format{}, SourceConfig{Stdin: in}), newParser(t, jsonl.Fields{}), new(Block)
	var texts []int
	for src.Next(context.Background(), c) == nil {
		for rec := range p.Parse(c) {
			texts = append(texts, len(rec.Text))
		}
	}
	if want := fmt.Sprint([]int{64<<20 - 11, 0, 89}); fmt.Sprint(texts) != want {
		t.Errorf("texts of %v bytes, want %s", texts, want)
	}
}

// TestRoom checks that a line longer than a chunk is announced before it is read, and that an error
// of the callback ends the reading.
func TestRoom(t *testing.T) {
	in := strings.NewReader(strings.Repeat("a", 999) + "\n" + strings.Repeat("b", 5000) + "\nc\n")
	src, c := NewSource(oneStdin, jsonl.Format{}, SourceConfig{Stdin: in}), new(Block)
	full := errors.New("no room")
	var asked []int
	src.Bound(1000, func(_ context.Context, n int) error {
		if asked = append(asked, n); n > 4000 {
			return full
		}
		return nil
	})
	if err := src.Next(context.Background(), c); err != nil || len(c.Data) != 1000 || asked != nil || c.Long() {
		t.Errorf("%v, %d bytes, asked for %d", err, len(c.Data), asked)
	}
	if err := src.Next(context.Background(), c); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
	if len(asked) < 2 || asked[0] < 2000 {
		t.Errorf("asked for %d", asked)
	}
}

// TestTinyLines checks that the lines of a chunk, and so their records, are bounded.
func TestTinyLines(t *testing.T) {
	in := strings.NewReader(strings.Repeat("x\n", 300_000) + strings.Repeat(strings.Repeat("y", 999)+"\n", 2000))
	src, c := NewSource(oneStdin, jsonl.Format{}, SourceConfig{BlockSize: 1 << 18, Stdin: in}), new(Block)
	lines, most, bytes := 0, 0, 0
	for src.Next(context.Background(), c) == nil {
		lines, most, bytes = lines+c.Records, max(most, c.Records), bytes+len(c.Data)
	}
	if lines != 302_000 || bytes != 2_600_000 {
		t.Errorf("%d lines of %d bytes", lines, bytes)
	}
	if most > 1<<18/RecordCost {
		t.Errorf("%d lines in a chunk", most)
	}
}

// TestLongLineOutsideHeap checks that parsing a long line takes at most 4 MiB of heap.
func TestLongLineOutsideHeap(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("blocks are of the heap")
	}
	text := strings.Repeat("abc\\n\\u4e2d", 4<<20)
	in := strings.NewReader(`{"id":"\u0061` + strings.Repeat("i", 99) + `","text":"` + text + `"}`)
	src, p, c := NewSource(oneStdin, jsonl.Format{}, SourceConfig{Stdin: in}), newParser(t, jsonl.Fields{}), new(Block)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := src.Next(context.Background(), c); err != nil || !c.Long() {
		t.Fatal(err)
	}
	for rec := range p.Parse(c) {
		if rec.Bad != nil || len(rec.Text) != 4<<20*len("abc\n中") || !bytes.HasSuffix(rec.Text, []byte("abc\n中")) {
			t.Errorf("%v, text of %d bytes", rec.Bad, len(rec.Text))
		}
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
		t.Errorf("%d bytes of the heap were taken", took)
	}
	c.Release()
	if c.Long() || c.Data != nil {
		t.Error("the line is still there")
	}
}

// TestGzipPadding reads members with zeros around them. Other bytes are an error with their place.
func TestGzipPadding(t *testing.T) {
	a, b := Gzipped([]byte("{\"text\":\"a\"}\n")), Gzipped([]byte("{\"text\":\"b\"}\n"))
	for _, zeros := range []int{0, 1, 7, 512, 1 << 20} {
		pad := make([]byte, zeros)
		for _, stored := range [][]byte{join(a, b), join(a, pad, b), join(a, pad, b, pad), join(a, b, pad)} {
			got, err := readAll(t, oneStdin, SourceConfig{Stdin: bytes.NewReader(stored)}, jsonl.Fields{})
			if err != nil || len(got) != 2 || got[1].Text != "b" {
				t.Errorf("%d zeros: %v, %v", zeros, got, err)
			}
		}
		for _, other := range []string{"x", "\x1e\x8b", "\x1f\x00", "{\"text\":\"c\"}\n"} {
			got, err := readAll(t, oneStdin, SourceConfig{Stdin: bytes.NewReader(join(a, pad, []byte(other)))}, jsonl.Fields{})
			want := fmt.Sprintf("reading f: the data after byte %d of the file is not gzip", len(a)+zeros)
			if len(got) != 1 || err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q after %d zeros: %v, %v", other, zeros, got, err)
			}
		}
	}
	if _, err := readAll(t, oneStdin, SourceConfig{Stdin: bytes.NewReader(join(a, a[:1]))}, jsonl.Fields{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut in the second member: %v", err)
	}
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// zstdWindow compresses data into a frame with the given window.
func zstdWindow(t *testing.T, window int, single bool, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	enc, err := zstd.NewWriter(&b, zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1), zstd.WithSingleSegment(single))
	if err != nil {
		t.Fatal(err)
	}
	if single {
		return enc.EncodeAll(data, nil)
	}
	if _, err := enc.Write(data[:len(data)/2]); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(enc.Flush(), func() error { _, err := enc.Write(data[len(data)/2:]); return err }(), enc.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestZstdWindow refuses a frame with too large a window, even after others, and names window and
// limit. A higher limit admits the frame.
func TestZstdWindow(t *testing.T) {
	line := []byte("{\"text\":\"" + strings.Repeat("a ", 300_000) + "\"}\n")
	small, large := zstdWindow(t, 1<<16, false, line), zstdWindow(t, 1<<18, false, line)
	single := zstdWindow(t, 1<<20, true, line)
	skipped := []byte("\x50\x2a\x4d\x18\x03\x00\x00\x00abc")
	for _, c := range []struct {
		stored []byte
		before int
		window int
	}{
		{large, 0, 1 << 18},
		{join(small, large), 1, 1 << 18},
		{join(small, skipped, large), 1, 1 << 18},
		{join(skipped, single), 0, len(line)},
		{join(small, small, single, small), 2, len(line)},
	} {
		cfg := SourceConfig{Stdin: bytes.NewReader(c.stored), Bounds: compress.Bounds{MaxWindow: 1 << 17}}
		got, err := readAll(t, oneStdin, cfg, jsonl.Fields{})
		if want := fmt.Sprintf("a window of %d bytes, and the limit is %d:", c.window, 1<<17); err == nil || !strings.Contains(err.Error(), want) || len(got) != c.before {
			t.Errorf("%d records, %v; want %d and a window of %d", len(got), err, c.before, c.window)
		}
		cfg = SourceConfig{Stdin: bytes.NewReader(c.stored), Bounds: compress.Bounds{MaxWindow: int64(c.window)}}
		if got, err := readAll(t, oneStdin, cfg, jsonl.Fields{}); err != nil || len(got) <= c.before {
			t.Errorf("allowed: %d records, %v", len(got), err)
		}
	}
}

func TestZstdGarbage(t *testing.T) {
	stored := Zstded([]byte("{\"text\":\"a\"}\n"))
	_, err := readAll(t, oneStdin, SourceConfig{Stdin: bytes.NewReader(join(stored, []byte("{\"text\":\"b\"}\n")))}, jsonl.Fields{})
	if want := fmt.Sprintf("the data after byte %d of the file is not zstd", len(stored)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// bomb returns a zstd frame that expands to n zeros, a multiple of 128 KiB. Its blocks hold a byte
// and a repeat count (RFC 8878, 3.1.1.2).
func bomb(n int) []byte {
	const block = 128 << 10
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x50} // a window of 1 MiB
	for ; n > 0; n -= block {
		header := uint32(block<<3 | 1<<1)
		if n <= block {
			header |= 1 // the last block
		}
		frame = append(frame, byte(header), byte(header>>8), byte(header>>16), 0)
	}
	return frame
}

// TestRatio refuses an input that expands without end, but only above 1 GiB.
func TestRatio(t *testing.T) {
	for _, c := range []struct {
		size, ratio int
		refused     bool
	}{{1 << 30, 0, false}, {1<<30 + 1<<20, 0, true}, {1<<30 + 1<<20, -1, false}} {
		if testing.Short() && !c.refused {
			continue // decoding a GiB is slow
		}
		got, err := readAll(t, oneStdin, SourceConfig{Stdin: bytes.NewReader(bomb(c.size)), Bounds: compress.Bounds{MaxRatio: c.ratio}}, jsonl.Fields{})
		if errors.Is(err, compress.ErrRatio) != c.refused || !c.refused && (err != nil || len(got) != 1) {
			t.Errorf("%d bytes, ratio %d: %d records, %v", c.size, c.ratio, len(got), err)
		}
	}
}

// TestExpandPassesOver lists a directory with entries that are no regular files.
func TestExpandPassesOver(t *testing.T) {
	filetest.Chdir(t, "dir/a.jsonl", "only/a.txt")
	for link, to := range map[string]string{"dir/gone.jsonl": "nowhere", "dir/loop.jsonl": "loop.jsonl", "dir/null.jsonl": os.DevNull, "only/null.jsonl": os.DevNull} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
	}
	want := map[string]string{"gone": "a link that leads nowhere", "loop": "a link that leads nowhere", "null": "a device"}
	if l, err := net.Listen("unix", filepath.Join("dir", "socket.jsonl")); err == nil {
		defer l.Close()
		want["socket"] = "a socket"
		if _, _, err := input.Expand([]string{"dir/socket.jsonl"}, endings); err == nil || !strings.Contains(err.Error(), "is a socket") {
			t.Errorf("a socket: %v", err)
		}
	}
	inputs, passed, err := input.Expand([]string{"dir"}, endings)
	if err != nil || len(inputs) != 1 {
		t.Errorf("%v, %v", inputs, err)
	}
	got := map[string]string{}
	for _, p := range passed {
		got[strings.TrimSuffix(filepath.Base(p.Path), ".jsonl")] = p.Why
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("passed over %v, want %v", got, want)
	}
	if inputs, passed, err := input.Expand([]string{"dir/null.jsonl"}, endings); err != nil || len(inputs) != 1 || passed != nil {
		t.Errorf("a device that is named: %v, %v, %v", inputs, passed, err)
	}
	for _, arg := range []string{"dir/gone.jsonl", "only"} {
		if _, _, err := input.Expand([]string{arg}, endings); err == nil {
			t.Errorf("%s is no error", arg)
		}
	}
}

// TestInputChanges lets a file grow, or shrink, while it is read.
func TestInputChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.jsonl")
	line := []byte("{\"text\":\"" + strings.Repeat("a", 991) + "\"}\n")
	read := func(size int) (n int, err error) {
		if err := os.WriteFile(path, bytes.Repeat(line, 1000), 0o600); err != nil {
			t.Fatal(err)
		}
		inputs, _, err := input.Expand([]string{path}, endings)
		if err != nil {
			t.Fatal(err)
		}
		src, c := NewSource(inputs, jsonl.Format{}, SourceConfig{BlockSize: 4096}), new(Block)
		defer src.Close()
		for first := true; ; first = false {
			if err := src.Next(context.Background(), c); err != nil {
				return n, err
			}
			if n += c.Records; !first {
				continue
			}
			data := bytes.Repeat(line, max(size, 1000))[:size*len(line)]
			if err := os.WriteFile(path, data, 0o600); err != nil { // in place
				t.Fatal(err)
			}
		}
	}
	if n, err := read(2000); n != 2000 || err != io.EOF {
		t.Errorf("grown: %d lines, %v", n, err)
	}
	if n, err := read(600); n != 600 || err == nil || !strings.Contains(err.Error(), "it became shorter during the run, 601") {
		t.Errorf("shorter: %d lines, %v", n, err)
	}
}

// TestManyInputs reads 10,000 files with at most 100 open at a time.
func TestManyInputs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	dir := t.TempDir()
	for i := range 10_000 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d.jsonl", i)), []byte("{\"text\":\"a\"}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	inputs, _, err := input.Expand([]string{dir}, endings)
	if err != nil {
		t.Fatal(err)
	}
	src, c, most := NewSource(inputs, jsonl.Format{}, SourceConfig{}), new(Block), 0
	n := 0
	for src.Next(context.Background(), c) == nil {
		if n += c.Records; n%1000 == 0 {
			if open, err := os.ReadDir("/proc/self/fd"); err == nil {
				most = max(most, len(open))
			}
		}
	}
	if n != 10_000 || most > 100 {
		t.Errorf("%d lines, %d files open", n, most)
	}
}
