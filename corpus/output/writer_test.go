package output

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/testing/filetest"
)

var newline = []byte{'\n'}

// unpack decodes an output, with the standard library if it can.
func unpack(tb testing.TB, name string, stored []byte) []byte {
	tb.Helper()
	var r io.Reader = bytes.NewReader(stored)
	var err error
	switch filepath.Ext(name) {
	case ".gz":
		r, err = gzip.NewReader(r)
	case ".zst":
		var zr *zstd.Decoder
		if zr, err = zstd.NewReader(r); err == nil {
			defer zr.Close()
			r = zr
		}
	}
	if err != nil {
		tb.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func readFile(tb testing.TB, path string) []byte {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func absent(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, os.ErrNotExist)
}

func mustCreate(tb testing.TB, name string) *Writer {
	tb.Helper()
	w, err := Create(name)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// writeLines writes lines and calls Sync before those numbered in syncs.
func writeLines(tb testing.TB, w *Writer, lines [][]byte, syncs ...int) (marks []Mark) {
	tb.Helper()
	for i, line := range lines {
		for _, at := range syncs {
			if at == i {
				at, err := w.Sync()
				if err != nil {
					tb.Fatal(err)
				}
				marks = append(marks, at)
			}
		}
		if err := w.WriteRecord(line, newline); err != nil {
			tb.Fatal(err)
		}
	}
	return marks
}

var outputNames = []string{"out.jsonl", "out.jsonl.gz", "out.jsonl.zst"}

// someLines returns 6 MB of lines, enough for several frames of each kind.
func someLines() [][]byte {
	data := filetest.Lines(benchTexts["english"], 3<<20)
	data = append(data, filetest.Lines(benchTexts["chinese"], 3<<20)...)
	return bytes.Split(bytes.TrimSuffix(data, newline), newline)
}

func TestWriterRoundTrip(t *testing.T) {
	some := someLines()
	long := append(some[:10:10], bytes.Repeat([]byte("x"), 20<<20), []byte("after"))
	for _, name := range outputNames {
		for kind, lines := range map[string][][]byte{"none": nil, "one": {[]byte("{}")}, "empty line": {nil}, "some": some, "long": long} {
			path := filepath.Join(t.TempDir(), name)
			w := mustCreate(t, path)
			writeLines(t, w, lines)
			if !absent(path) {
				t.Errorf("%s: there before Close", name)
			}
			if err := errors.Join(w.Close(), w.Close(), w.Abort()); err != nil {
				t.Fatal(err)
			}
			var want []byte
			for _, line := range lines {
				want = append(append(want, line...), '\n')
			}
			if got := unpack(t, name, readFile(t, path)); !bytes.Equal(got, want) {
				t.Errorf("%s, %s: %d bytes came back of %d", name, kind, len(got), len(want))
			}
			if !absent(path + input.PartialSuffix) {
				t.Errorf("%s: a partial file is left", name)
			}
		}
	}
}

// TestWriterIsDeterministic writes the same bytes with any number of processors, although frames
// meet encoders with different histories.
func TestWriterIsDeterministic(t *testing.T) {
	lines := someLines()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, name := range outputNames {
		var first []byte
		for _, procs := range []int{1, 2, 8} {
			runtime.GOMAXPROCS(procs)
			path := filepath.Join(t.TempDir(), name)
			w := mustCreate(t, path)
			writeLines(t, w, lines, 100, 101, 1000)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			got := readFile(t, path)
			if first == nil {
				first = got
			}
			if !bytes.Equal(got, first) {
				t.Errorf("%s: other bytes with %d processors", name, procs)
			}
		}
	}
}

// TestWriterContinues cuts outputs back to every mark from Sync and writes the rest again: the
// bytes must equal those of an unbroken run.
func TestWriterContinues(t *testing.T) {
	t.Parallel()
	lines := someLines()
	syncs := []int{0, 1, 350, 750}
	for _, name := range outputNames {
		path := filepath.Join(t.TempDir(), name)
		w := mustCreate(t, path)
		marks := writeLines(t, w, lines, syncs...)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		want := readFile(t, path)
		for i, at := range marks {
			w := mustCreate(t, path)
			writeLines(t, w, lines[:1000], syncs...)
			if err := w.Abort(); err != nil {
				t.Fatal(err)
			}
			w, err := OpenAt(path, at)
			if err != nil {
				t.Fatal(err)
			}
			rest := make([]int, 0, len(syncs))
			for _, at := range syncs[i+1:] {
				rest = append(rest, at-syncs[i])
			}
			writeLines(t, w, lines[syncs[i]:], rest...)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(readFile(t, path), want) {
				t.Errorf("%s: other bytes when continued at %d", name, at.Size)
			}
		}
	}
}

func TestOpenAtRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	if _, err := OpenAt(path, Mark{Size: 1}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no partial file: %v", err)
	}
	if err := os.WriteFile(path+input.PartialSuffix, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	tail := xxh3.HashString("12345")
	for _, at := range []Mark{{-1, tail}, {6, tail}, {4, tail}, {5, tail + 1}} {
		if _, err := OpenAt(path, at); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%+v: %v", at, err)
		}
	}
	if _, err := OpenAt(input.Stdin, Mark{}); err == nil {
		t.Error("standard output can be cut")
	}
	if got := readFile(t, path+input.PartialSuffix); string(got) != "12345" {
		t.Errorf("a refused file became %q", got)
	}
}

func TestAbortKeepsTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := mustCreate(t, path)
	writeLines(t, w, [][]byte{[]byte("new")})
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, path); string(got) != "old" {
		t.Errorf("the file became %q", got)
	}
	if w.Close() == nil {
		t.Error("Close after Abort says all is well")
	}
	if err := w.WriteRecord(nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("write after Abort: %v", err)
	}
	if _, err := w.Sync(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("sync after Abort: %v", err)
	}
}

func TestCreateFollowsLinks(t *testing.T) {
	filetest.Chdir(t, "dir/real.jsonl")
	if err := os.Symlink("dir/real.jsonl", "link.jsonl"); err != nil {
		t.Skip(err)
	}
	w := mustCreate(t, "link.jsonl")
	writeLines(t, w, [][]byte{[]byte("new")})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, "dir/real.jsonl"); string(got) != "new\n" {
		t.Errorf("behind the link: %q", got)
	}
	if target, err := os.Readlink("link.jsonl"); err != nil || filepath.ToSlash(target) != "dir/real.jsonl" {
		t.Errorf("the link became %q, %v", target, err)
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{dir, filepath.Join(dir, "none", "out.jsonl")} {
		if _, err := Create(name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFullDevice(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	w := mustCreate(t, "/dev/full")
	writeLines(t, w, [][]byte{[]byte("line")})
	if err := w.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v", err)
	}
}

func TestDevNull(t *testing.T) {
	w := mustCreate(t, os.DevNull)
	writeLines(t, w, someLines())
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s became a file: %v", os.DevNull, err)
	}
}

func TestReaderGone(t *testing.T) {
	r, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	w := newWriter("pipe", partial{}, pipe, false, packings[""])
	writeLines(t, w, [][]byte{[]byte("line")})
	if err := w.Close(); runtime.GOOS != "windows" && !errors.Is(err, ErrReaderGone) {
		t.Errorf("error %v", err)
	}
}

// TestStdout runs itself as another process and checks its output.
func TestStdout(t *testing.T) {
	if os.Getenv("CORPUS_TEST_STDOUT") != "" {
		w := mustCreate(t, input.Stdin)
		writeLines(t, w, [][]byte{[]byte("one"), []byte("two")})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintln(os.Stdout, "still open"); err != nil {
			t.Fatal(err)
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestStdout$")
	cmd.Env = append(os.Environ(), "CORPUS_TEST_STDOUT=1")
	out, err := cmd.Output()
	if err != nil || !strings.HasPrefix(string(out), "one\ntwo\nstill open\n") {
		t.Errorf("%q, %v", out, err)
	}
}
