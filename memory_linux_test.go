package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

var longMemory = flag.Bool("long", false, "test memory with as much input as a user may have: minutes instead of seconds")

// memoryCase is an input and how it is read.
type memoryCase struct {
	name  string
	args  []string
	short int // how much of it there is
	long  int
	write func(w io.Writer, n int)
}

// words is text that does not repeat itself, as a line break in JSON is written.
func words(w *bufio.Writer, seed, size int) {
	var b []byte
	x := uint64(seed)*0x9e3779b97f4a7c15 + 1
	for n := 0; n < size; n += len(b) {
		b = b[:0]
		for range 12 {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			b = append(strconv.AppendUint(b, x>>44, 36), ' ')
		}
		b = append(b, `.\n`...)
		if n+len(b) > size {
			b = bytes.ReplaceAll(b[:size-n], []byte(`\`), []byte(" "))
		}
		_, _ = w.Write(b)
	}
}

// textLines writes lines of a given length, each third the first again.
func textLines(size int) func(w io.Writer, n int) {
	return func(to io.Writer, n int) {
		w := bufio.NewWriterSize(to, 1<<16)
		for i := range n {
			head, tail := fmt.Sprintf(`{"id":"%09d","text":"`, i), `"}`
			_, _ = w.WriteString(head)
			words(w, i-i%3*(i%3-1)/2*i, size-len(head)-len(tail))
			_, _ = w.WriteString(tail + "\n")
		}
		_ = w.Flush()
	}
}

// escapedLines are lines of 60 MiB in which every character is an escape.
func escapedLines(to io.Writer, n int) {
	w := bufio.NewWriterSize(to, 1<<16)
	for i := range n {
		fmt.Fprintf(w, `{"id":%d,"text":"`, i)
		for j := range 10 << 20 {
			fmt.Fprintf(w, `\u%04x`, 0x4e00+(i+j*7919+j>>7)%20000)
		}
		_, _ = w.WriteString("\"}\n")
	}
	_ = w.Flush()
}

// repeated writes n lines that are formatted from their number.
func repeated(format string) func(w io.Writer, n int) {
	return func(to io.Writer, n int) {
		w := bufio.NewWriterSize(to, 1<<16)
		var line []byte
		for i := range n {
			line = fmt.Appendf(line[:0], format, i)
			_, _ = w.Write(append(line, '\n'))
		}
		_ = w.Flush()
	}
}

// zeros writes n MiB of one byte.
func zeros(w io.Writer, n int) {
	block := bytes.Repeat([]byte("0"), 1<<20)
	for range n {
		_, _ = w.Write(block)
	}
}

func gzipOf(write func(io.Writer, int)) func(io.Writer, int) {
	return func(to io.Writer, n int) {
		z, _ := gzip.NewWriterLevel(to, gzip.BestSpeed)
		write(z, n)
		_ = z.Close()
	}
}

func zstdOf(write func(io.Writer, int), window int) func(io.Writer, int) {
	return func(to io.Writer, n int) {
		z, err := zstd.NewWriter(to, zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err)
		}
		write(z, n)
		_ = z.Close()
	}
}

func memoryCases() []memoryCase {
	all := []string{"--annotate", "--out", "out", "--report", "report", "--rejects", "rejects"}
	packed := []string{"--annotate", "--out", "out.zst", "--report", "report.zst", "--rejects", "rejects.gz"}
	return []memoryCase{
		{"longest lines", all, 3, 40, textLines(64 << 20)},
		{"longest lines, packed", packed, 3, 10, textLines(64 << 20)},
		{"escaped lines", all, 1, 40, escapedLines},
		{"lines of 20 MiB", all, 6, 40, textLines(20 << 20)},
		{"lines of 7 MiB, packed", packed, 10, 100, textLines(7 << 20)},
		{"lines of 1 MiB", all, 150, 5000, textLines(1 << 20)},
		{"ordinary lines", packed, 20_000, 1_000_000, textLines(3600)},
		{"tiny lines", all, 1_500_000, 20_000_000, repeated(`{"text":"%d"}`)},
		{"bad lines", all, 2_000_000, 50_000_000, repeated("x")},
		{"a gzip bomb", all, 800, 1000, gzipOf(zeros)},
		{"a gzip bomb of lines", all, 1_000_000, 50_000_000, gzipOf(repeated(`{"text":"a"}`))},
		{"a zstd bomb", all, 800, 20_000, zstdOf(zeros, 8<<20)},
		{"a large window", all, 200, 1000, zstdOf(textLines(1<<20), 128<<20)},
		{"filter only", append([]string{"--filter-only"}, all...), 3, 40, textLines(64 << 20)},
	}
}

// peak is the most anonymous memory a process has while it runs, in bytes.
func peak(pid int, done <-chan struct{}) (most int64) {
	for {
		select {
		case <-done:
			return most
		case <-time.After(time.Millisecond):
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return most
		}
		for line := range strings.Lines(string(status)) {
			if text, ok := strings.CutPrefix(line, "RssAnon:"); ok {
				kib, _ := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
				most = max(most, kib<<10)
			}
		}
	}
}

// TestMemory runs the program on inputs that might take much memory, and holds it
// to what the manual and firstseen plan promise.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("many seconds")
	}
	for _, c := range memoryCases() {
		n, jobs := c.short, []string{"4", "64"}
		if *longMemory {
			n, jobs = c.long, []string{"1", "4", "64"}
		}
		for _, j := range jobs {
			t.Run(c.name+" -j "+j, func(t *testing.T) { memoryOf(t, &c, j, n) })
		}
	}
}

func memoryOf(t *testing.T, c *memoryCase, jobs string, n int) {
	dir := t.TempDir()
	cmd := program(t, dir, append([]string{"dedup", "-q", "--docs", "10k", "-j", jobs, "-"}, c.args...)...)
	cmd.Env = append(cmd.Env, processorsVariable+"=64")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	done := make(chan struct{})
	most := make(chan int64)
	go func() { most <- peak(cmd.Process.Pid, done) }()
	begun := time.Now()
	c.write(in, n)
	in.Close()
	err = cmd.Wait()
	close(done)
	if code := cmd.ProcessState.ExitCode(); code != exitDone && code != exitBadRecords {
		t.Fatalf("%v: %s", err, cmd.Stderr)
	}
	got := <-most
	t.Logf("%s -j %s: %.1f MiB, %.1f s", c.name, jobs, float64(got)/(1<<20), time.Since(begun).Seconds())
	_ = filepath.Join
}
