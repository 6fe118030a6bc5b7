package parquet_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/parquet"
)

// fuzzed is how many bytes of work may be spent on a file here, and on its rows.
const fuzzed = 256 << 10

// TestCutAndFlipped: of a file that is cut anywhere nothing is read, and one with a byte
// changed gives its rows or an error, and never a panic.
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

// TestDamageIsTold: damage ends the reading behind the rows before it, with the file, the
// row group, the column and the page.
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
			began := time.Now()
			_, _ = parquet.ReadAll(parquet.Format{Rows: rows}, bytes.NewReader(data), int64(len(data)), fuzzed)
			if d := time.Since(began); d > 5*time.Second {
				t.Errorf("it takes %v, with %d bytes to be spent", d, fuzzed)
			}
		}
	})
}
