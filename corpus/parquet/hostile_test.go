package parquet_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/parquet"
	"github.com/firstseen/firstseen/internal/testing/effort"
)

// fuzzed limits the bytes of work on a file and on its rows.
const fuzzed = 256 << 10

// TestCutAndFlipped refuses a file cut anywhere. A file with a changed byte must not cause a panic.
func TestCutAndFlipped(t *testing.T) {
	for _, path := range fixtures(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(data); n += 1 + n/40 {
			if _, err := parquet.ReadAll(parquet.Format{Rows: true}, bytes.NewReader(data[:n]), int64(n), fuzzed); err == nil {
				t.Errorf("%s: cut to %d bytes it is read", path, n)
			}
		}
		failed := 0
		for i := range data {
			if testing.Short() && i%17 != 0 {
				continue
			}
			damaged := bytes.Clone(data)
			damaged[i] ^= byte(1 + i%255)
			if _, err := parquet.ReadAll(parquet.Format{Rows: true}, bytes.NewReader(damaged), int64(len(damaged)), fuzzed); err != nil {
				failed++
			}
		}
		if failed == 0 {
			t.Errorf("%s: no changed byte was noticed", path)
		}
	}
}

// TestCutHeaderIsTold checks that a truncated structure counts as damage, not as the end of input.
func TestCutHeaderIsTold(t *testing.T) {
	data, err := os.ReadFile("testdata/pyarrow-zstd-crc.parquet")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "damaged.parquet")
	for want, damaged := range map[string][]byte{
		"reading f: row group 0: column text, page 0: its header: it ends too early": slices.Concat(data[:389], []byte("\x98\x90\x03"), data[392:]), // a text of 400 bytes
		"reading f: its footer: it ends too early":                                   []byte("PAR1\x00\x00\x00\x00PAR1"),
	} {
		if err := os.WriteFile(path, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := read(parquet.Format{}, path, corpus.SourceConfig{}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestDamageIsTold checks that damage ends the reading after the rows before it. The error names
// file, row group, column and page.
func TestDamageIsTold(t *testing.T) {
	data, err := os.ReadFile("testdata/pyarrow-zstd-crc.parquet")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "damaged.parquet")
	told := map[string]int{}
	pages := len(data) - 8 - int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	for i := 4; i < pages; i += 7 {
		damaged := bytes.Clone(data)
		damaged[i] ^= 0x10
		if err := os.WriteFile(path, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		lines, err := read(parquet.Format{}, path, corpus.SourceConfig{BlockSize: 50})
		switch {
		case err == nil && len(lines) != 20:
			t.Fatalf("byte %d: %d rows", i, len(lines))
		case err == nil:
		case strings.Count(err.Error(), "reading f: row group ") != 1 || !strings.Contains(err.Error(), ": column "):
			t.Errorf("byte %d: %v", i, err)
		case strings.Contains(err.Error(), "its checksum is wrong: it is damaged"):
			told[fmt.Sprintf("%d rows", len(lines))]++
		}
	}
	if len(told) < 3 {
		t.Errorf("damage was told behind %v", told)
	}
}

func FuzzParquet(f *testing.F) {
	for _, path := range fixtures(f) {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, c := range bombs {
		if data := c.file.Bytes(); len(data) < 10<<10 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, rows := range []bool{false, true} {
			took := effort.Of(func() {
				_, _ = parquet.ReadAll(parquet.Format{Rows: rows}, bytes.NewReader(data), int64(len(data)), fuzzed)
			})
			if took > 5*time.Second {
				t.Errorf("it takes %v of processors, with %d bytes to be spent", took, fuzzed)
			}
		}
	})
}

// ended is a Parquet file of size bytes, all zeros except its end: a footer of footer bytes.
type ended struct{ size, footer int64 }

func (e ended) ReadAt(b []byte, at int64) (int, error) {
	clear(b)
	tail := append(binary.LittleEndian.AppendUint32(nil, uint32(e.footer)), "PAR1"...)
	for i, c := range tail {
		if n := e.size - int64(len(tail)) + int64(i) - at; n >= 0 && n < int64(len(b)) {
			b[n] = c
		}
	}
	return len(b), nil
}

// TestLimits checks that the limit error comes one above each limit, but not at it.
func TestLimits(t *testing.T) {
	page := func(size int) error {
		b := parquet.Bomb{Codec: parquet.Brotli, Page: behind([]byte("a text")), Size: size, Entries: 1, Rows: 1, Values: 1}
		data := b.Bytes()
		_, err := parquet.ReadAll(parquet.Format{}, bytes.NewReader(data), int64(len(data)), fuzzed)
		return err
	}
	footer := func(n int64) error {
		f := ended{size: 100 << 20, footer: n}
		_, err := parquet.ReadAll(parquet.Format{}, f, f.size, fuzzed)
		return err
	}
	columns := func(n int) error {
		b := parquet.Bomb{Columns: n, Page: behind([]byte("a text")), Entries: 1, Rows: 1, Values: 1}
		data := b.Bytes()
		_, err := parquet.ReadAll(parquet.Format{}, bytes.NewReader(data), int64(len(data)), fuzzed)
		return err
	}
	for _, c := range []struct {
		what   string
		err    error
		limits bool
	}{
		{"a page", page(256 << 20), false},
		{"a longer page", page(256<<20 + 1), true},
		{"pages", parquet.Hold(512<<20-1, 1), false},
		{"more pages", parquet.Hold(512<<20, 1), true},
		{"a footer", footer(32 << 20), false},
		{"a longer footer", footer(32<<20 + 1), true},
		{"columns", columns(10_000), false},
		{"more columns", columns(10_001), true},
	} {
		told := c.err != nil && (strings.Contains(c.err.Error(), "limit") || strings.Contains(c.err.Error(), "it has more than"))
		if told != c.limits {
			t.Errorf("%s: %v", c.what, c.err)
		}
	}
}
