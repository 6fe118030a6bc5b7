package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/amount"
	"github.com/firstseen/firstseen/internal/engine/pipeline/forecast"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

var longMemory = flag.Bool("long", false, "test memory with as much input as a user may have: minutes instead of seconds")

// memoryCase is an input and the flags to read it with.
type memoryCase struct {
	name  string
	args  []string
	short int // size of the input without -long; 0 if another case fills the same memory
	long  int
	write func(w io.Writer, n int)

	window int64 // of zstd, if it is large
}

// words writes text that does not repeat itself, with line breaks escaped for JSON.
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

// textLines writes lines of size bytes. Every third line repeats the first.
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

// escapedLines writes lines of 60 MiB in which every character is an escape.
func escapedLines(to io.Writer, n int) {
	w := bufio.NewWriterSize(to, 1<<16)
	escape := []byte(`\u`)
	for i := range n {
		fmt.Fprintf(w, `{"id":%d,"text":"`, i)
		for j := range 10 << 20 {
			escape = strconv.AppendInt(escape[:2], int64(0x4e00+(i+j*7919+j>>7)%20000), 16)
			_, _ = w.Write(escape)
		}
		_, _ = w.WriteString("\"}\n")
	}
	_ = w.Flush()
}

// repeated writes n lines formatted from their numbers.
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

// full fills the table's memory, which holds six million keys, with n documents of 50 short
// segments. It ends with two of the longest lines.
func full(to io.Writer, n int) {
	w := bufio.NewWriterSize(to, 1<<16)
	for i := range n {
		_, _ = w.WriteString(`{"text":"`)
		for j := range 50 {
			fmt.Fprintf(w, "%05d-%06d.", j, i)
		}
		_, _ = w.WriteString("\"}\n")
	}
	_ = w.Flush()
	textLines(64<<20)(to, 2)
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
		z, err := zstd.NewWriter(to, zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
		if err != nil {
			panic(err)
		}
		write(z, n)
		_ = z.Close()
	}
}

// largePages writes a web archive of n pages of 60 MB. Half of them have tags at every word, the
// others an encoding that grows when decoded.
func largePages(to io.Writer, n int) {
	w := bufio.NewWriterSize(to, 1<<16)
	for i := range n {
		piece := []byte("<p>一个句子<b>和</b>另一个，words and words. ")
		if i%2 == 1 {
			piece = []byte("<p>\xd0\xbd\xd0\xb5 \xce\xd2\xc3\xc7\xb5\xc4\xd6\xd0\xb9\xfa\xa3\xac\xb2\xbb\xca\xc7\xd2\xbb\xb8\xf6. ")
		}
		writePage(w, i, "Content-Type: text/html; charset=gbk\r\n", bytes.Repeat(piece, 60_000_000/len(piece)))
	}
	_ = w.Flush()
}

// mediumPages writes a web archive of n pages of 3 MB with as many paragraphs as possible.
func mediumPages(to io.Writer, n int) {
	w := bufio.NewWriterSize(to, 1<<16)
	for i := range n {
		writePage(w, i, "Content-Type: text/html\r\n", bytes.Repeat(fmt.Appendf(nil, "<p>%d words,", i), 3_000_000/14))
	}
	_ = w.Flush()
}

// bombs writes a web archive of n small bodies that expand to 63 MB.
func bombs(to io.Writer, n int) {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	_, _ = z.Write(bytes.Repeat([]byte("<p>a sentence that is said again and again. "), 63_000_000/44))
	_ = z.Close()
	w := bufio.NewWriterSize(to, 1<<16)
	for i := range n {
		writePage(w, i, "Content-Type: text/html\r\nContent-Encoding: gzip\r\n", b.Bytes())
	}
	_ = w.Flush()
}

func memoryCases() []memoryCase {
	kept := []string{"--out", "out", "--report", "report", "--rejects", "rejects"}
	all := []string{"--annotate", "--out", "out", "--report", "report", "--rejects", "rejects"}
	packed := []string{"--annotate", "--out", "out.zst", "--report", "report.zst", "--rejects", "rejects.gz"}
	return []memoryCase{
		{"longest lines", all, 2, 40, textLines(64 << 20), 0},
		{"longest lines, packed", packed, 0, 10, textLines(64 << 20), 0},
		{"escaped lines", all, 1, 40, escapedLines, 0},
		{"lines of 20 MiB", all, 5, 40, textLines(20 << 20), 0},
		{"lines of 7 MiB, packed", packed, 5, 100, textLines(7 << 20), 0},
		{"lines of 1 MiB", all, 60, 5000, textLines(1 << 20), 0},
		{"ordinary lines", packed, 5_000, 1_000_000, textLines(3600), 0},
		{"tiny lines", all, 100_000, 20_000_000, repeated(`{"text":"%d"}`), 0},
		{"bad lines", all, 100_000, 50_000_000, repeated("x"), 0},
		{"a gzip bomb", all, 400, 1000, gzipOf(zeros), 0},
		{"a gzip bomb of lines", all, 100_000, 50_000_000, gzipOf(repeated(`{"text":"a"}`)), 0},
		{"a zstd bomb", all, 400, 20_000, zstdOf(zeros, 8<<20), 0},
		{"a large window", all, 0, 1000, zstdOf(textLines(1<<20), 128<<20), 128 << 20},
		{"all at once", packed, 0, 125_000, full, 0},
		{"all at once, a large window", packed, 10_000, 125_000, zstdOf(full, 128<<20), 128 << 20},
		{"large pages", kept, 0, 40, largePages, 0},
		{"bodies that are bombs", kept, 3, 80, bombs, 0},
		{"large pages, all that is seen", append([]string{"--format", "auto:html=visible"}, kept...), 2, 40, largePages, 0},
		{"large pages, filter only", append([]string{"--filter-only"}, kept...), 2, 40, largePages, 0},
		{"pages of 3 MB", kept, 12, 1000, mediumPages, 0},
		{"headers without an end", kept, 200_000, 20_000_000, repeated("WARC/1.0\r\nWARC-Type: response %d\r"), 0},
		{"filter only", append([]string{"--filter-only"}, all...), 1, 40, textLines(64 << 20), 0},
	}
}

// peak returns the most anonymous memory of a running process, in bytes.
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

// TestMemory runs the program on inputs that might take much memory. It holds the program to the
// promises of the manual and firstseen plan.
func TestMemory(t *testing.T) {
	takesSeconds(t)
	all := []int{1, 4, 64}
	for i, c := range memoryCases() {
		if c.short == 0 && !*longMemory {
			continue
		}
		n, jobs := c.short, all[i%3:i%3+1]
		if *longMemory {
			n, jobs = c.long, all
		}
		for _, j := range jobs {
			t.Run(fmt.Sprintf("%s -j %d", c.name, j), func(t *testing.T) {
				runMemory(t, &c, strconv.Itoa(j), n)
			})
		}
	}
}

func runMemory(t *testing.T, c *memoryCase, jobs string, n int) {
	dir := t.TempDir()
	window := cmp.Or(c.window, forecast.OrdinaryWindow)
	args := []string{"dedup", "-q", "--docs", "10k", "--limit", "full=warn,window=" + strconv.FormatInt(window, 10), "-j", jobs, "-"}
	cmd := program(t, dir, append(args, c.args...)...)
	in, err := cmd.StdinPipe()
	indextest.Must(t, err)
	holdToMemory(t, cmd, c, func() {
		c.write(in, n)
		in.Close()
	})
}

// holdToMemory runs and feeds the program, which sees 64 processors, and checks its memory.
func holdToMemory(t *testing.T, cmd *exec.Cmd, c *memoryCase, feed func()) {
	t.Helper()
	cmd.Env = append(cmd.Env, processorsVariable+"=64", "GOGC=100")
	start(t, cmd)
	done := make(chan struct{})
	most := make(chan int64)
	go func() { most <- peak(cmd.Process.Pid, done) }()
	begun := time.Now()
	feed()
	err := cmd.Wait()
	close(done)
	// A bomb may also be refused for its expansion.
	code := cmd.ProcessState.ExitCode()
	if code != exitDone && code != exitBadRecords && !strings.Contains(fmt.Sprint(cmd.Stderr), "--limit ratio=0") {
		t.Fatalf("%v: %s", err, cmd.Stderr)
	}
	limits := corpus.SourceConfig{MaxRecord: corpus.DefaultMaxRecord, Bounds: compress.Bounds{MaxWindow: max(forecast.OrdinaryWindow, c.window)}}
	if slices.ContainsFunc(cmd.Args, func(arg string) bool { return strings.Contains(arg, ",record=") }) {
		limits.MaxRecord = forecast.OrdinaryRecord
	}
	filterOnly := c.args[0] == "--filter-only"
	filter := index.ShapeFor(10_000, feature.Scheme{}, filterOnly).Bytes()
	got, want := <-most, filter+forecast.Memory(limits, filterOnly)
	t.Logf("%.1f of %s, %.1f s", float64(got)/(1<<20), amount.Size(want), time.Since(begun).Seconds())
	if uint64(got) > want {
		t.Errorf("it took %s of memory, and %s are promised", amount.Size(uint64(got)), amount.Size(want))
	}
}

// TestMemoryAhead checks the memory of runs over several compressed files, which are decoded ahead.
func TestMemoryAhead(t *testing.T) {
	takesSeconds(t)
	packed := []string{"--annotate", "--out", "out.zst", "--report", "report.zst", "--rejects", "rejects.gz"}
	filterOnly := []string{"--filter-only", "--annotate", "--out", "out.zst", "--report", "report.zst"}
	short := func(args []string) []string { return append(slices.Clip(args), ",record=16MiB") } // of --limit
	for _, c := range []memoryCase{
		{"gzip", short(packed), 4000, 200_000, gzipOf(textLines(3600)), 0},
		{"windows of 4 MiB", short(packed), 0, 200_000, zstdOf(textLines(3600), 4<<20), 0},
		{"windows of 8 MiB", short(packed), 4000, 200_000, zstdOf(textLines(3600), 8<<20), 0},
		{"windows of 128 MiB", append(slices.Clip(packed), ",record=16MiB,ratio=0"), 160, 2000, zstdOf(zeros, 128<<20), 128 << 20},
		{"a full table", packed, 3000, 125_000, zstdOf(full, 4<<20), 0},
		{"filter only, gzip", short(filterOnly), 0, 200_000, gzipOf(textLines(3600)), 0},
		{"filter only, windows of 8 MiB", short(filterOnly), 4000, 200_000, zstdOf(textLines(3600), 8<<20), 0},
		{"bombs", short(packed), 10_000, 5_000_000, gzipOf(repeated(`{"text":"a"}`)), 0},
	} {
		if c.short == 0 && !*longMemory {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			n := c.short
			if *longMemory {
				n = c.long
			}
			dir := t.TempDir()
			var data bytes.Buffer
			c.write(&data, n)
			var names []string
			files := 4
			if data.Len() > 32<<20 && !*longMemory {
				files = 2 // one is decoded ahead of the other
			}
			for i := range files {
				names = append(names, fmt.Sprintf("in%d.jsonl.packed", i))
				writeFile(t, filepath.Join(dir, names[i]), data.String())
			}
			data = bytes.Buffer{}
			window := max(forecast.OrdinaryWindow, c.window)
			limit := "full=warn,window=" + strconv.FormatInt(window, 10)
			if last := c.args[len(c.args)-1]; last[0] == ',' {
				c.args, limit = c.args[:len(c.args)-1], limit+last
			}
			args := append([]string{"dedup", "-q", "--docs", "10k", "--limit", limit, "-j", "64"}, c.args...)
			cmd := program(t, dir, args...)
			cmd.Args = append(cmd.Args, names...)
			holdToMemory(t, cmd, &c, func() {})
		})
	}
}

// TestLongLinesAnyJobs checks that lines of any length give the same bytes for any number of jobs.
func TestLongLinesAnyJobs(t *testing.T) {
	takesSeconds(t)
	t.Parallel()
	dir := t.TempDir()
	var in strings.Builder
	for _, size := range []int{1 << 20, 300, 1<<20 + 1, 5 << 20, 100, 17 << 20, 5000} {
		textLines(size)(&in, 2)
		repeated(`{"text":"%d"}`)(&in, 2000)
	}
	writeFile(t, filepath.Join(dir, "in.jsonl"), in.String())
	want := map[string]string{}
	for _, jobs := range []string{"1", "64"} {
		for _, end := range []string{"", ".zst"} {
			names := []string{"out" + end, "report" + end, "rejects" + end, "content"}
			cmd := program(t, dir, "dedup", "-q", "--docs", "10k", "-j", jobs, "--index", "index", "--checkpoint-bytes", "5M", "--annotate",
				"--limit", "record=16MiB", "--out", names[0], "--report", names[1], "--rejects", names[2], "in.jsonl")
			cmd.Env = append(cmd.Env, processorsVariable+"=64")
			start(t, cmd)
			exits(t, cmd, exitBadRecords)
			content, err := indexContent(filepath.Join(dir, "index"))
			indextest.Must(t, err)
			writeFile(t, filepath.Join(dir, "content"), content)
			for _, name := range names {
				data := readFile(t, filepath.Join(dir, name))
				if sum := fmt.Sprintf("%d bytes, %x", len(data), sha256.Sum256([]byte(data))); want[name] == "" {
					want[name] = sum
				} else if want[name] != sum {
					t.Errorf("-j %s: %s has %s, want %s", jobs, name, sum, want[name])
				}
			}
			indextest.Must(t, os.RemoveAll(filepath.Join(dir, "index")))
		}
	}
}
