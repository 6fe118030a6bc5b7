package parquet_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/parquet"
	"github.com/firstseen/firstseen/internal/testing/effort"
)

// run encodes n repeats of a number of 8*len(value) bits.
func run(n uint64, value ...byte) []byte {
	return append(binary.AppendUvarint(nil, n<<1), value...)
}

// behind puts the four-byte length of data before it.
func behind(data []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data...)
}

// zeroDeltas encodes n deltas of 0 in blocks of the greatest size accepted.
func zeroDeltas(n int) []byte {
	const block = 1 << 16
	data := binary.AppendUvarint(nil, block)
	data = binary.AppendUvarint(data, 1)
	data = binary.AppendUvarint(data, uint64(n))
	return append(data, make([]byte, 1+2*(n/block+1))...)
}

const many = 1 << 30

// bombs lists small files that claim thousands of millions of values or bytes.
var bombs = map[string]struct {
	file parquet.Bomb
	want string // of the error
}{
	"nulls in a list": {parquet.Bomb{
		List: true, Page: append(behind(append(run(1, 0), run(many-1, 1)...)), behind(run(many, 0))...), Entries: many, Rows: 1, Values: many,
	}, `row group 0: column list, page 0: `},
	"null texts": {parquet.Bomb{
		Repetition: parquet.Optional,
		Page:       behind(run(many, 0)), Entries: many, Rows: many, Values: many,
	}, `row group 0: column text, page 0: `},
	"one text many times": {parquet.Bomb{
		Codec: parquet.Zstd, Dict: behind(make([]byte, 60_000)), Encoding: parquet.Dict,
		Page: append([]byte{0}, run(many)...), Entries: many, Rows: many, Values: many,
	}, `row group 0: column text, page 1: `},
	"texts of a length in deltas": {parquet.Bomb{
		Codec: parquet.Zstd, Encoding: parquet.DeltaLength, Page: zeroDeltas(many), Entries: many, Rows: many, Values: many,
	}, `row group 0: column text, page 0: `},
	"texts with deltas": {parquet.Bomb{
		Codec: parquet.Zstd, Encoding: parquet.DeltaBytes, Page: append(zeroDeltas(many), zeroDeltas(many)...), Entries: many, Rows: many, Values: many,
	}, `row group 0: column text, page 0: `},
	"a large page": {parquet.Bomb{
		Codec: parquet.Brotli, Page: make([]byte, 4<<20), Entries: 1, Rows: 1, Values: 1,
	}, `row group 0: column text, page 0: `},
	"a page in many row groups": {parquet.Bomb{
		Codec: parquet.Zstd, Page: behind(make([]byte, 500_000)), Entries: 1, Rows: 1, Values: 1, Groups: 100_000,
	}, `column text, page 0: `},
	"columns with a long name in common": {parquet.Bomb{
		Parts: []int{4 << 20}, Columns: 5000, Page: behind(nil), Entries: 1, Rows: 1, Values: 1,
	}, `it has no column "text"`},
}

// TestBombs checks that the reader stops soon at its limit of work. Without limits it would process
// all that the files claim.
func TestBombs(t *testing.T) {
	for name, c := range bombs {
		data := c.file.Bytes()
		var err error
		took := effort.Of(func() {
			_, err = parquet.ReadAll(parquet.Format{Rows: true}, bytes.NewReader(data), int64(len(data)), fuzzed)
		})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.HasPrefix(c.want, "row") && !errors.Is(err, parquet.ErrSpent) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if took > 2*time.Second {
			t.Errorf("%s: it takes %v of processors", name, took)
		}
	}
}

// TestTwoColumns refuses to choose between two columns of one name.
func TestTwoColumns(t *testing.T) {
	b := parquet.Bomb{Columns: 2, Page: behind([]byte("a text")), Entries: 1, Rows: 1, Values: 1}
	data := b.Bytes()
	_, err := parquet.ReadAll(parquet.Format{}, bytes.NewReader(data), int64(len(data)), many)
	if want := `it has several columns "text"; name another with --text-field: `; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// TestClaimedSizes allocates no more for a page than its codec can produce.
func TestClaimedSizes(t *testing.T) {
	for _, codec := range []int32{0, parquet.Snappy, parquet.Gzip, parquet.LZ4, parquet.Zstd} {
		b := parquet.Bomb{Codec: codec, Page: behind([]byte("a text")), Size: 200 << 20, Entries: 1, Rows: 1, Values: 1}
		data := b.Bytes()
		_, err := parquet.ReadAll(parquet.Format{}, bytes.NewReader(data), int64(len(data)), many)
		if err == nil || !strings.Contains(err.Error(), "column text, page 0: it claims 209715200 bytes decompressed, but with its codec") {
			t.Errorf("codec %d: %v", codec, err)
		}
		// The most that a codec can produce is read.
		most := parquet.Bomb{Codec: codec, Page: behind(make([]byte, 3<<20)), Entries: 1, Rows: 1, Values: 1}
		data = most.Bytes()
		if _, err := parquet.ReadAll(parquet.Format{}, bytes.NewReader(data), int64(len(data)), many); err != nil {
			t.Errorf("codec %d: %v", codec, err)
		}
	}
}

// TestUnderstated bounds memory by the sizes in headers, whatever a page holds.
func TestUnderstated(t *testing.T) {
	const size = 1 << 20
	large := behind(make([]byte, 64*size))
	for name, c := range map[string]struct {
		file parquet.Bomb
		want string // part of the error, "" for none
	}{
		"gzip":   {parquet.Bomb{Codec: parquet.Gzip, Page: large, Size: size}, "its decompressed size differs from the size in its header"},
		"brotli": {parquet.Bomb{Codec: parquet.Brotli, Page: large, Size: size}, "its decompressed size differs from the size in its header"},
		"zstd":   {parquet.Bomb{Codec: parquet.Zstd, Page: large, Size: size}, "decompressed size exceeds configured limit"},
		"deltas": {parquet.Bomb{Encoding: parquet.DeltaLength, Page: zeroDeltas(many)}, "its deltas are encoded incorrectly"},
		"dictionary": {parquet.Bomb{
			Dict: behind([]byte("a text")), Encoding: parquet.Dict, Page: append([]byte{0}, run(many)...),
		}, ""},
		"levels": {parquet.Bomb{Repetition: parquet.Optional, Page: behind(run(many, 0))}, ""},
	} {
		c.file.Entries, c.file.Rows, c.file.Values = 1, 1, 1
		data := c.file.Bytes()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := parquet.ReadAll(parquet.Format{Rows: true}, bytes.NewReader(data), int64(len(data)), many)
		runtime.ReadMemStats(&after)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 24*size {
			t.Errorf("%s: it takes %d bytes of memory", name, took)
		}
	}
}

// TestBombIsTold checks that the default ratio ends a run with the file, row group and column.
func TestBombIsTold(t *testing.T) {
	b := bombs["null texts"].file
	b.Entries, b.Rows, b.Values = 1<<31-1, 1<<31-1, 1<<31-1
	path := filepath.Join(t.TempDir(), "bomb.parquet")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := read(parquet.Format{}, path, corpus.SourceConfig{Bounds: compress.Bounds{MaxRatio: compress.DefaultMaxRatio}})
	if !errors.Is(err, compress.ErrRatio) || !strings.HasPrefix(err.Error(), "reading f: row group 0: column text, page 0: ") {
		t.Error(err)
	}
}
