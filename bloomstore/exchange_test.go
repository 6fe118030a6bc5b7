package bloomstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
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

// TestLibraryReadsExport: the library reads an export, and Import reads the library's file.
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
		checkImport(t, theirs.Bytes(), f)
	}
}

func checkImport(t *testing.T, data []byte, want *Filter) {
	t.Helper()
	r := bytes.NewReader(append(data, "next"...))
	got, err := Import(r, want.scheme, want.shape.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	got.items = want.items // estimated, tested elsewhere
	equal(t, got, want)
	got.Close()
	if rest, _ := io.ReadAll(r); string(rest) != "next" {
		t.Fatalf("Import left %q, want %q", rest, "next")
	}
}

// TestImportOddLengths: the library's bit set may be longer or shorter than m.
func TestImportOddLengths(t *testing.T) {
	keys := randomKeys(1, 5)
	f := mustNew(t, Shape{1000, 4}, "s")
	f.Add(keys)
	for name, lib := range map[string]*bloom.BloomFilter{
		"whole words":     bloom.FromWithM(make([]uint64, 16), 1000, 4),
		"grown on demand": bloom.FromWithM(nil, 1000, 4),
	} {
		for _, key := range keys {
			lib.Add(keyBytes(key))
		}
		var b bytes.Buffer
		if _, err := lib.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		if length := binary.BigEndian.Uint64(b.Bytes()[16:]); length == 1000 {
			t.Fatalf("%s: the length is m, which tests nothing", name)
		}
		checkImport(t, b.Bytes(), f)
	}
}

func TestImportEstimatesItems(t *testing.T) {
	f := mustNew(t, ForItems(10000), "s")
	f.Add(randomKeys(1, 10000))
	got, err := Import(bytes.NewReader(exported(t, f)), "s", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	if n := got.Items(); n < 9900 || n > 10100 {
		t.Fatalf("%d keys estimated, there are 10000", n)
	}
}

func TestImportRefuses(t *testing.T) {
	form := func(m, k, length uint64, words ...uint64) []byte {
		var b []byte
		for _, x := range append([]uint64{m, k, length}, words...) {
			b = binary.BigEndian.AppendUint64(b, x)
		}
		return b
	}
	for _, c := range []struct {
		name  string
		data  []byte
		tells string
	}{
		{"empty", nil, "cut short"},
		{"part of a header", form(1, 1, 1)[:20], "cut short"},
		{"no bits", form(0, 1, 0), "0 bits"},
		{"no probes", form(64, 0, 64, 0), "0 probes"},
		{"many probes", form(64, 1<<63, 64, 0), "probes"},
		{"huge m", form(1<<63, 8, 64, 0), "bits"},
		{"huge length", form(64, 8, 1<<63, 0), "bits for a filter of 64"},
		{"a word too long", form(64, 8, 65, 0, 0), "bits for a filter of 64"},
		{"over the limit", form(1<<20, 8, 1<<20), "limit"},
		{"few words", form(128, 8, 128, 1), "cut short"},
		{"part of a word", form(128, 8, 128, 1, 1)[:35], "cut short"},
		{"bit beyond m", form(70, 8, 128, 0, 1<<6), "beyond"},
		{"bit beyond length", form(70, 8, 66, 0, 1<<2), "beyond"},
	} {
		f, err := Import(bytes.NewReader(c.data), "s", 1<<10)
		if f != nil || err == nil || !strings.Contains(err.Error(), c.tells) {
			t.Errorf("%s: error %v, want one telling of %q", c.name, err, c.tells)
		}
		if c.name != "over the limit" && !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: error %v, want %v", c.name, err, ErrDamaged)
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
