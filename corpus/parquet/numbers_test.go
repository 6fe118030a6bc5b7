package parquet

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus/output"
)

func openNumbers(t *testing.T, path, name string) (*Numbers, error) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return OpenNumbers(f, info.Size(), name)
}

// TestNumbers reads the unsigned numbers of files of all writers, codecs and encodings.
func TestNumbers(t *testing.T) {
	files, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		n, err := openNumbers(t, path, "u")
		var got []int64
		for err == nil {
			var v int64
			if v, err = n.Next(); err == nil {
				got = append(got, v)
			}
		}
		if slices.Sort(got); err != io.EOF || n.Rows() != 20 || len(got) != 20 || got[0] != math.MinInt64 || got[19] != math.MinInt64+19 {
			t.Errorf("%s: %d, error %v", path, got, err)
		}
		for _, column := range []string{"n", "text", "emb.list.element", "none"} { // 32 bits, bytes, a list
			if _, err := openNumbers(t, path, column); err == nil || !strings.Contains(err.Error(), "it has no column "+column+" of 64-bit numbers: it has n, ") {
				t.Errorf("%s, column %s: %v", path, column, err)
			}
		}
	}
	empty, err := openNumbers(t, "testdata/empty/pandas-nothing.parquet", "v")
	if err == nil {
		_, err = empty.Next()
	}
	if err != io.EOF {
		t.Errorf("no rows and no columns: %v", err)
	}
}

// TestNumbersInGroups reads numbers of an optional column in row groups of two rows, skips groups, and
// stops at a null.
func TestNumbersInGroups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "numbers")
	e := enclosureOf(leaf{typ: typeInt64, maxDef: 1})
	var values [][]byte
	for v := range uint64(9) {
		values = append(values, binary.LittleEndian.AppendUint64(nil, v))
	}
	values = append(values, nil)
	w, err := output.Create(path)
	if err == nil {
		err = w.Enclose(e)
	}
	for rows := range slices.Chunk(values, 2) {
		err = errors.Join(err, w.WriteRecord(rowsOf(e, rows)))
		_, ended := w.EndFrame()
		err = errors.Join(err, ended)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	n, err := openNumbers(t, path, "c")
	if err != nil || n.Groups() != 5 || n.Rows() != 10 {
		t.Fatal(n, err)
	}
	for _, c := range []struct {
		want int64
		skip int // groups, after the number
	}{{0, -1}, {1, -1}, {2, 0}, {4, 1}, {8, -1}} {
		if v, err := n.Next(); err != nil || v != c.want {
			t.Errorf("%d, error %v, want %d", v, err, c.want)
		}
		if c.skip >= 0 {
			n.Skip(c.skip)
		}
	}
	if _, err := n.Next(); err == nil || !strings.Contains(err.Error(), "row group 4: column c, page 0: it has a null") {
		t.Error(err)
	}
	n.Skip(7)
	if _, err := n.Next(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}
