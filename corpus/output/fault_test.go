package output

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/base/step"
)

// fault is a file whose nth call of one method fails.
type fault struct {
	call   string
	n      int
	err    error
	closed bool
	bytes.Buffer
}

func (f *fault) at(call string) error {
	if call != f.call {
		return nil
	}
	if f.n--; f.n == 0 {
		return f.err
	}
	return nil
}

func (f *fault) Write(p []byte) (int, error) {
	if err := f.at("write"); err != nil {
		n, _ := f.Buffer.Write(p[:len(p)/2])
		return n, err
	}
	return f.Buffer.Write(p)
}

func (f *fault) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(f.Bytes()).ReadAt(p, at)
}

func (f *fault) Sync() error { return f.at("sync") }

func (f *fault) Close() error {
	f.closed = true
	return f.at("close")
}

// made returns the empty partial file of an output.
func made(tb testing.TB, path string) partial {
	tb.Helper()
	part, err := newPartial(path)
	if err != nil {
		tb.Fatal(err)
	}
	return part
}

// TestWriterFaults lets the nth write, sync or close fail. Close at the latest returns the error
// with the output's name. The file is closed and its final name does not appear.
func TestWriterFaults(t *testing.T) {
	lines := someLines()
	for _, name := range outputNames {
		for _, call := range []string{"write", "sync", "close"} {
			for n := 1; n < 20; n++ {
				if testing.Short() && n%3 == 0 {
					continue
				}
				path := filepath.Join(t.TempDir(), name)
				f := &fault{call: call, n: n, err: syscall.ENOSPC}
				w := newWriter(path, made(t, path), f, true, packingOf(path))
				for i, line := range lines {
					err := w.WriteRecord(line, newline)
					if err == nil && i%500 == 499 {
						_, err = w.Sync()
					}
					if err != nil {
						break
					}
				}
				err := w.Close()
				if f.n > 0 && err != nil {
					t.Errorf("%s: fewer calls than %d: %v", name, n, err)
				}
				if f.n <= 0 && (!errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), path)) {
					t.Errorf("%s, %s %d: %v", name, call, n, err)
				}
				if !f.closed || absent(path) != (f.n <= 0) {
					t.Errorf("%s, %s %d: closed %v", name, call, n, f.closed)
				}
				if f.n > 0 {
					break // there are fewer calls
				}
			}
		}
	}
}

// TestNamingFaults lets every step of renaming an output fail. The error names the output, and one
// of the two names holds the content.
func TestNamingFaults(t *testing.T) {
	defer func() { step.Hook = nil }()
	steps := 0
	for n := 1; ; n++ {
		path := filepath.Join(t.TempDir(), "out.jsonl")
		put(t, path, "old")
		w := mustCreate(t, path)
		writeLines(t, w, [][]byte{[]byte("new")})
		left, renamed := n, false
		step.Hook = func(name string) error {
			renamed = renamed || strings.HasPrefix(name, "renamed ")
			if left--; left == 0 {
				return fmt.Errorf("after %s: %w", name, syscall.EIO)
			}
			return nil
		}
		err := w.Close()
		step.Hook = nil
		if left > 0 {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		steps++
		if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), path) {
			t.Errorf("step %d: %v", n, err)
		}
		old, held := "old", path+input.PartialSuffix
		if renamed {
			old, held = "new\n", path
		}
		if got := readFile(t, path); string(got) != old {
			t.Errorf("step %d: under the name %q, want %q", n, got, old)
		}
		if got := readFile(t, held); string(got) != "new\n" {
			t.Errorf("step %d: %s holds %q", n, held, got)
		}
	}
	if steps < 3 { // before the rename, before the folder's sync, after it
		t.Errorf("only %d steps", steps)
	}
}

// TestRenameFails leaves the whole output in its partial file.
func TestRenameFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	w := mustCreate(t, path)
	writeLines(t, w, [][]byte{[]byte("new")})
	if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
	if got := readFile(t, path+input.PartialSuffix); string(got) != "new\n" {
		t.Errorf("the partial file holds %q", got)
	}
}
