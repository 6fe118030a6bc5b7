package output

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/firstseen/firstseen/corpus/input"
)

// watched is a file that records the calls of its methods.
type watched struct {
	steps []string
	note  func(step string)
	bytes.Buffer
}

func (w *watched) step(name string) error {
	if n := len(w.steps); n == 0 || w.steps[n-1] != name {
		w.steps = append(w.steps, name)
	}
	w.note(name)
	return nil
}

func (w *watched) Write(p []byte) (int, error) {
	_ = w.step("write")
	return w.Buffer.Write(p)
}

func (w *watched) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(w.Bytes()).ReadAt(p, at)
}

func (w *watched) Sync() error  { return w.step("sync") }
func (w *watched) Close() error { return w.step("close") }

// TestSyncedBeforeItsMarkAndItsName checks that marks cover only synced bytes, and that an output
// is synced in full before it gets its name.
func TestSyncedBeforeItsMarkAndItsName(t *testing.T) {
	for _, name := range outputNames {
		path := filepath.Join(t.TempDir(), name)
		f := &watched{note: func(step string) {
			if !absent(path) {
				t.Errorf("%s: it has its name before %q", name, step)
			}
		}}
		w := newWriter(path, made(t, path), f, true, packingOf(path))
		for range 2 {
			if err := w.WriteRecord([]byte("a line\n")); err != nil {
				t.Fatal(err)
			}
			at, err := w.Sync()
			if err != nil {
				t.Fatal(err)
			}
			if n := len(f.steps); f.steps[n-1] != "sync" || at.Size != int64(f.Len()) {
				t.Errorf("%s: a mark of %d of %d bytes after the steps %v", name, at.Size, f.Len(), f.steps)
			}
		}
		if err := w.WriteRecord([]byte("the last\n")); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		want := []string{"write", "sync", "write", "sync", "write", "sync", "close"}
		if !slices.Equal(f.steps, want) || absent(path) {
			t.Errorf("%s: steps %v, want %v", name, f.steps, want)
		}
	}
}

// TestMarksOfAContinuedOutput compares the marks with those of an uninterrupted run, since the next
// continuation and Published rely on them.
func TestMarksOfAContinuedOutput(t *testing.T) {
	lines := [][]byte{[]byte("first"), bytes.Repeat([]byte("x"), 3*tailSize), []byte("third"), []byte("last")}
	for _, name := range outputNames {
		path := filepath.Join(t.TempDir(), name)
		w := mustCreate(t, path)
		want := writeLines(t, w, lines, 1, 2, 3)
		whole, err := w.Seal()
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		want, stored := append(want, whole), readFile(t, path)
		for from := 1; from <= 3; from++ { // killed after that many lines and a part of the next
			path := filepath.Join(t.TempDir(), name)
			put(t, path+input.PartialSuffix, string(stored[:want[from-1].Size])+"half of a")
			w, err := OpenAt(path, want[from-1])
			if err != nil {
				t.Fatal(err)
			}
			var got []Mark
			for _, line := range lines[from:] {
				at, err := w.Sync()
				if err := errors.Join(err, w.WriteRecord(line, []byte("\n"))); err != nil {
					t.Fatal(err)
				}
				got = append(got, at)
			}
			whole, err := w.Seal()
			if err := errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
			if got = append(got, whole); !slices.Equal(got, want[from-1:]) || !bytes.Equal(readFile(t, path), stored) {
				t.Errorf("%s, continued behind line %d: marks %v, want %v", name, from, got, want[from-1:])
			}
		}
	}
}
