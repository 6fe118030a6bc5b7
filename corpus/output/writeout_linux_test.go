package output

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWriteOutHarmsNothing writes out any range of a file, of a closed file and of a pipe. The size
// of the file must not change.
func TestWriteOutHarmsNothing(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(make([]byte, 3*os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	for _, r := range [][2]int64{{0, 0}, {0, 5}, {100, 1 << 13}, {5, 1 << 40}} {
		writeOut(f, r[0], r[1])
	}
	if info, err := f.Stat(); err != nil || info.Size() != 3*int64(os.Getpagesize()) {
		t.Errorf("%v, %v", info, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	writeOut(f, 0, 1<<13) // f is closed
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	writeOut(w, 0, 1<<13)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
