package bloomstore

import (
	"bytes"
	"errors"
	"testing"

	"github.com/bits-and-blooms/bloom/v3"
)

func exported(t testing.TB, f *Filter) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.Export(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestLibraryReadsExport checks that the library reads Export's bytes, and writes the same.
func TestLibraryReadsExport(t *testing.T) {
	for _, shape := range shapes {
		f := mustNew(t, shape, "s")
		f.Add(randomKeys(1, 100))
		lib := bloom.New(uint(shape.Bits), uint(shape.Hashes))
		for _, key := range randomKeys(1, 100) {
			lib.Add(keyBytes(key))
		}
		data := exported(t, f)
		var back bloom.BloomFilter
		if _, err := back.ReadFrom(bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		if !back.Equal(lib) {
			t.Fatalf("%+v: the library reads another filter", shape)
		}
		var theirs bytes.Buffer
		if _, err := lib.WriteTo(&theirs); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(theirs.Bytes(), data) {
			t.Fatalf("%+v: the library writes other bytes", shape)
		}
	}
}

func TestExportFails(t *testing.T) {
	f := sample(t)
	for n := range 2 {
		w := &limitedWriter{left: n}
		if err := f.Export(w); !errors.Is(err, errDiskFull) {
			t.Errorf("write %d: error %v, want %v", n, err, errDiskFull)
		}
	}
}

// limitedWriter fails after left writes.
type limitedWriter struct{ left int }

func (w *limitedWriter) Write(b []byte) (int, error) {
	if w.left == 0 {
		return 0, errDiskFull
	}
	w.left--
	return len(b), nil
}
