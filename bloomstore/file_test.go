package bloomstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/internal/base/durable"
)

func saved(t testing.TB, f *Filter, stamp []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.encode(&b, stamp); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sample returns a filter of a shape that ends inside a word.
func sample(t testing.TB) *Filter {
	f := mustNew(t, Shape{5003, 5}, "scheme-1")
	f.Add(randomKeys(1, 300))
	return f
}

func equal(t *testing.T, got, want *Filter) {
	t.Helper()
	if got.shape != want.shape || got.scheme != want.scheme || got.items != want.items ||
		got.ones != want.ones || !slices.Equal(got.words, want.words) {
		t.Fatal("the filter is not the one that was saved")
	}
}

func TestSaveAndOpen(t *testing.T) {
	stamps := [][]byte{nil, []byte("generation 7"), bytes.Repeat([]byte{0, 255}, maxStamp/2)}
	path := filepath.Join(t.TempDir(), "filter")
	for _, shape := range shapes {
		f := mustNew(t, shape, "scheme-1")
		f.Add(randomKeys(1, 100))
		for _, stamp := range stamps {
			if err := f.Save(context.Background(), path, stamp); err != nil {
				t.Fatal(err)
			}
			got, gotStamp, err := Open(context.Background(), path, "scheme-1")
			if err != nil {
				t.Fatal(err)
			}
			equal(t, got, f)
			if !bytes.Equal(gotStamp, stamp) {
				t.Fatalf("stamp of %d bytes came back as %d", len(stamp), len(gotStamp))
			}
			checkReadHeader(t, path, f, stamp)
			if err := got.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func checkReadHeader(t *testing.T, path string, f *Filter, stamp []byte) {
	t.Helper()
	h, err := ReadHeader(path)
	if err != nil {
		t.Fatal(err)
	}
	if h.Shape != f.Shape() || h.Scheme != f.Scheme() || h.Items != f.Items() ||
		h.Ones != f.Ones() || !bytes.Equal(h.Stamp, stamp) {
		t.Fatalf("header %+v is not that of the filter", h)
	}
}

func TestSaveRefusesLongStamp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter")
	if err := sample(t).Save(context.Background(), path, make([]byte, maxStamp+1)); err == nil {
		t.Fatal("no error")
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a file was made: %v", err)
	}
}

// TestOpenRefuses checks the message for each kind of trouble.
func TestOpenRefuses(t *testing.T) {
	good := saved(t, sample(t), []byte("stamp"))
	path := filepath.Join(t.TempDir(), "filter")
	for _, c := range []struct {
		name   string
		change func(b []byte) []byte
		want   error
		tells  string
	}{
		{"empty", func(b []byte) []byte { return nil }, ErrDamaged, "cut short"},
		{"other file", func(b []byte) []byte { return bytes.Repeat([]byte("{}\n"), 5000) }, ErrDamaged, "rebuilt"},
		{"later version", func(b []byte) []byte { b[16] = 2; return b }, ErrVersion, "newer program"},
		{"wrong length of header", func(b []byte) []byte { b[22] = 0xff; return b }, ErrDamaged, "rebuilt"},
		{"flipped bit of header", func(b []byte) []byte { b[50] ^= 4; return b }, ErrDamaged, "checksum"},
		{"flipped bit of bits", func(b []byte) []byte { b[pageSize+9] ^= 4; return b }, ErrDamaged, "checksum"},
		{"flipped bit of trailer", func(b []byte) []byte { b[len(b)-1] ^= 4; return b }, ErrDamaged, "checksum"},
		{"half", func(b []byte) []byte { return b[:len(b)/2] }, ErrDamaged, "rebuilt"},
		{"one byte less", func(b []byte) []byte { return b[:len(b)-1] }, ErrDamaged, "bytes and should have"},
		{"one byte more", func(b []byte) []byte { return append(b, 0) }, ErrDamaged, "bytes and should have"},
	} {
		if err := os.WriteFile(path, c.change(bytes.Clone(good)), 0o666); err != nil {
			t.Fatal(err)
		}
		f, _, err := Open(context.Background(), path, "scheme-1")
		if f != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), c.tells) {
			t.Errorf("%s: error %v, want %q telling of %q", c.name, err, c.want, c.tells)
		}
	}
}

func TestOpenRefusesOtherScheme(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter")
	if err := sample(t).Save(context.Background(), path, nil); err != nil {
		t.Fatal(err)
	}
	_, _, err := Open(context.Background(), path, "scheme-2")
	if !errors.Is(err, ErrScheme) || !strings.Contains(err.Error(), "scheme-1") || !strings.Contains(err.Error(), "scheme-2") {
		t.Fatalf("error %v, want one naming both schemes", err)
	}
}

func TestOpenMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter")
	if _, _, err := Open(context.Background(), path, "s"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error %v, want %v", err, fs.ErrNotExist)
	}
	if _, err := ReadHeader(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error %v, want %v", err, fs.ErrNotExist)
	}
	if _, _, err := Open(context.Background(), t.TempDir(), "s"); err == nil {
		t.Fatal("a folder was opened")
	}
}

// TestEveryByteCounts flips a bit of each byte, and truncates to each length.
func TestEveryByteCounts(t *testing.T) {
	good := saved(t, sample(t), []byte("stamp"))
	for i := range good {
		good[i] ^= 1 << (i % 8)
		f, _, err := decode(bytes.NewReader(good), uint64(len(good)), "scheme-1")
		if f != nil || !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrVersion) {
			t.Fatalf("byte %d flipped: error %v", i, err)
		}
		good[i] ^= 1 << (i % 8)
		mustRefuse(t, fmt.Sprintf("cut to %d bytes", i), good[:i])
	}
}

func mustRefuse(t *testing.T, name string, b []byte) {
	t.Helper()
	f, _, err := decode(bytes.NewReader(b), uint64(len(b)), "scheme-1")
	if f != nil || !errors.Is(err, ErrDamaged) {
		t.Errorf("%s: error %v, want %v", name, err, ErrDamaged)
	}
}

// seal updates the checksums of a changed file.
func seal(b []byte, header int) []byte {
	copy(b[header-sumSize:], keyBytes(xxh3.Hash(b[:header-sumSize])))
	end := len(b) - sumSize
	copy(b[end:], keyBytes(xxh3.Hash(b[:end])))
	return b
}

// TestChecksumIsNotTrust opens files with correct checksums and impossible, maybe hostile contents.
func TestChecksumIsNotTrust(t *testing.T) {
	good := saved(t, sample(t), []byte("stamp"))
	for name, change := range map[string]func(b []byte){
		"no bits":           func(b []byte) { copy(b[24:], keyBytes(0)) },
		"all the memory":    func(b []byte) { copy(b[24:], keyBytes(1<<43)) },
		"more than that":    func(b []byte) { copy(b[24:], keyBytes(1<<63)) },
		"no probes":         func(b []byte) { b[32] = 0 },
		"2^32−1 probes":     func(b []byte) { copy(b[32:36], "\xff\xff\xff\xff") },
		"no scheme":         func(b []byte) { b[36] = 0 },
		"2^32−1 of scheme":  func(b []byte) { copy(b[36:40], "\xff\xff\xff\xff") },
		"2^32−1 of stamp":   func(b []byte) { copy(b[40:44], "\xff\xff\xff\xff") },
		"stamp of a page":   func(b []byte) { b[41] = 16 },
		"reserved":          func(b []byte) { b[44] = 1 },
		"padding":           func(b []byte) { b[1000] = 1 },
		"scheme not UTF-8":  func(b []byte) { b[fixedSize] = 0xff },
		"ones":              func(b []byte) { b[56]++ },
		"more ones than m":  func(b []byte) { copy(b[56:], keyBytes(5004)) },
		"bit beyond m":      func(b []byte) { b[len(b)-sumSize-1] = 0x80; b[56]++ },
		"bit in, ones same": func(b []byte) { b[pageSize] ^= 1 },
	} {
		b := bytes.Clone(good)
		change(b)
		mustRefuse(t, name, seal(b, pageSize))
	}
}

// TestFailingWrite fails each write of a Save in turn. The old filter must still open.
func TestFailingWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter")
	old := sample(t)
	if err := old.Save(context.Background(), path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	f := mustNew(t, Shape{3 * 64 * chunkWords, 5}, "scheme-1") // several writes
	failures := 0
	for n := 0; ; n++ {
		err := durable.Replace(path, func(file *os.File) error {
			return f.encode(&failingWriter{file: file, left: n}, nil)
		})
		if err == nil {
			break
		}
		failures++
		if !errors.Is(err, errDiskFull) {
			t.Fatalf("write %d: error %v, want %v", n, err, errDiskFull)
		}
		got, stamp, err := Open(context.Background(), path, "scheme-1")
		if err != nil || string(stamp) != "old" {
			t.Fatalf("write %d failed and the old filter is gone: %v", n, err)
		}
		equal(t, got, old)
		got.Close()
	}
	if failures != 5 { // header, three chunks, trailer
		t.Fatalf("%d writes, want 5", failures)
	}
}

var errDiskFull = errors.New("disk full")

// failingWriter fails after left writes, having written half of its input.
type failingWriter struct {
	file *os.File
	left int
}

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left == 0 {
		n, _ := w.file.Write(b[:len(b)/2])
		return n, errDiskFull
	}
	w.left--
	return w.file.Write(b)
}
