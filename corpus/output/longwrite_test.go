package output

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/testing/filetest"
)

// TestLongLinesWritten writes lines in parts, of lengths around the one that avoids a copy, with
// Sync in between. Lines stay in order, a long one is one frame, and all runs write the same bytes.
func TestLongLinesWritten(t *testing.T) {
	t.Parallel()
	const m = 1 << 20
	lengths := []int{10, m - 1, 4 * m, 4*m + 1, 30, 8 * m, 8*m + 1, 8*m + 2, 0, 5}
	for _, name := range []string{"out", "out.gz", "out.zst"} {
		if testing.Short() && name == "out.gz" {
			continue // slower than zstd, with the same framing
		}
		var want, first []byte
		for round := range 2 {
			path := filepath.Join(t.TempDir(), name)
			w, err := Create(path)
			if err != nil {
				t.Fatal(err)
			}
			want = want[:0]
			for i, n := range lengths {
				line := benchText(n)
				cut := n / 3 * i % (n + 1)
				want = append(append(want, line...), '\n')
				if err := w.WriteRecord(line[:cut], nil, line[cut:], newline); err != nil {
					t.Fatal(err)
				}
				clear(line) // the caller may reuse it
				if i%4 == 3 {
					if _, err := w.Sync(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			stored := readFile(t, path)
			if got := readPacked(t, path); !bytes.Equal(got, want) {
				t.Errorf("%s: %d bytes, want %d others", name, len(got), len(want))
			}
			if round == 0 {
				first = stored
			} else if !bytes.Equal(first, stored) {
				t.Errorf("%s: other bytes the second time", name)
			}
		}
	}
}

func benchText(n int) []byte {
	return bytes.ReplaceAll(filetest.Lines("some text ", n+100)[:n:n], newline, []byte(" "))
}

func readPacked(t *testing.T, path string) []byte {
	t.Helper()
	inputs, _, err := input.Expand([]string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var d compress.Decoders
	d.MaxWindow, d.MaxRatio = compress.DefaultMaxWindow, -1
	defer d.Close()
	f, err := input.OpenStored(inputs[0], nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.Forget()
	r, err := d.Decode(path, compress.Counter{R: f, N: new(int64)})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	_, err = b.ReadFrom(r)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestLongLineNotCopied checks that writing a line of 64 MiB copies none of it.
func TestLongLineNotCopied(t *testing.T) {
	for _, name := range []string{"out", "out.gz", "out.zst"} {
		w, err := Create(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 64<<20)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err = w.WriteRecord(line[:7], line[7:], newline)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err != nil || took > 20<<20 {
			t.Errorf("%s: %v, %d bytes of the heap were taken", name, err, took)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLongLineContinued resumes after a long line, at the mark from Sync.
func TestLongLineContinued(t *testing.T) {
	for _, name := range []string{"out", "out.gz", "out.zst"} {
		path := filepath.Join(t.TempDir(), name)
		w, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		first, last := benchText(9<<20), benchText(100)
		err = errors.Join(w.WriteRecord(last, newline), w.WriteRecord(first, newline))
		at, syncErr := w.Sync()
		if err := errors.Join(err, syncErr, w.WriteRecord(first, newline), w.Abort()); err != nil && !strings.Contains(err.Error(), "given up") {
			t.Fatal(err)
		}
		if w, err = OpenAt(path, at); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := errors.Join(w.WriteRecord(last, newline), w.Close()); err != nil {
			t.Fatal(err)
		}
		want := bytes.Join([][]byte{last, first, last, nil}, newline)
		if got := readPacked(t, path); !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want %d others", name, len(got), len(want))
		}
	}
}

// without drops all records.
type without struct{}

func (without) Frame(dst, _ []byte) ([]byte, error)    { return append(dst, 0), nil }
func (without) End(io.ReaderAt, int64) ([]byte, error) { return nil, nil }

// TestFramesGrowOnce writes twice as many frames as are in flight. Only the first grows: the others
// get their memory at once.
func TestFramesGrowOnce(t *testing.T) {
	w, err := Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Enclose(without{}); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	record, frames := make([]byte, 64<<10), cap(w.free)
	for range 2 * frames * enclosedFrame / len(record) {
		if err := w.WriteRecord(record); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	got, grows, whole := after.TotalAlloc-before.TotalAlloc, 7*enclosedFrame, 3*enclosedFrame/2
	if most := uint64(grows + frames*whole); got > most {
		t.Errorf("%d frames take %d bytes, want at most %d", frames, got, most)
	}
}
