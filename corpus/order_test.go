package corpus

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"
)

// watched is a file that notes what is done with it.
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

func (w *watched) Sync() error  { return w.step("sync") }
func (w *watched) Close() error { return w.step("close") }

// TestSyncedBeforeItsMarkAndItsName: a mark tells of bytes that are on the disk, and
// an output has no name before all of it is there.
func TestSyncedBeforeItsMarkAndItsName(t *testing.T) {
	for _, name := range outputNames {
		path := filepath.Join(t.TempDir(), name)
		f := &watched{note: func(step string) {
			if !absent(path) {
				t.Errorf("%s: it has its name before %q", name, step)
			}
		}}
		w := openWriter(path, made(t, path), f, true)
		for range 2 {
			if err := w.WriteLine([]byte("a line")); err != nil {
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
		if err := w.WriteLine([]byte("the last")); err != nil {
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
