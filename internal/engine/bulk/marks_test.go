package bulk

import (
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/parquet"
	"github.com/firstseen/firstseen/feature"
)

// TestMarksOfAFolder checks that sorted parts, as engines write them, are read as one sorted file.
func TestMarksOfAFolder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		parts := make([][]Place, rapid.IntRange(1, 5).Draw(rt, "parts"))
		var want []Place
		for range rapid.IntRange(0, 40).Draw(rt, "marks") {
			p := Place(rand.IntN(60))
			at := rand.IntN(len(parts))
			parts[at] = append(parts[at], p)
			want = append(want, p)
		}
		for i, places := range parts {
			slices.Sort(places)
			name := filepath.Join(dir, "run", "part-"+string(rune('0'+i)))
			if i%3 == 2 {
				writeTable(t, name, "v", places...)
				continue
			}
			writePart(t, name, linesOf(places), i%3 == 1)
		}
		writePart(t, filepath.Join(dir, "_SUCCESS"), "", false)
		writePart(t, filepath.Join(dir, "_temporary", "0"), "no mark", false)
		writePart(t, filepath.Join(dir, "run", ".part-0.crc"), "crc", false)
		slices.Sort(want)
		want = slices.Compact(want)
		m, err := openMarks(dir, nil)
		if err != nil {
			rt.Fatal(err)
		}
		defer m.close()
		var got []Place
		for m.some {
			got = append(got, m.next)
			if err := m.advance(); err != nil {
				rt.Fatal(err)
			}
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("%v, want %v", got, want)
		}
	})
}

// TestFolderWithoutMarks checks the errors of a folder without files, and of a part that is not sorted.
func TestFolderWithoutMarks(t *testing.T) {
	dir := t.TempDir()
	if _, err := openMarks(dir, nil); !errors.Is(err, ErrMarks) || !strings.Contains(err.Error(), dir) {
		t.Error(err)
	}
	writePart(t, filepath.Join(dir, "b"), "1\n7\n", false)
	writePart(t, filepath.Join(dir, "a"), "5\n3\n", false)
	m, err := openMarks(dir, nil)
	for err == nil && m.some {
		err = m.advance()
	}
	if !errors.Is(err, ErrMarks) || !strings.Contains(err.Error(), filepath.Join(dir, "a")+":2 is less") {
		t.Error(err)
	}
}

func linesOf(places []Place) string {
	var b strings.Builder
	for _, p := range places {
		b.Write(p.AppendLine(nil))
	}
	return b.String()
}

// writeTable writes a Parquet file, with places in a column and other numbers before it.
func writeTable(t *testing.T, name, column string, places ...Place) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	around, err := parquet.Integers("k", column)
	if err != nil {
		t.Fatal(err)
	}
	w, err := output.Create(name)
	if err == nil {
		err = w.Enclose(around)
	}
	for i, p := range places {
		row := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(i)), uint64(p))
		err = errors.Join(err, w.WriteRecord(row))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestMarksOfParquet checks the errors of a Parquet file, which name its row, and the forecast of one
// that is read in parts.
func TestMarksOfParquet(t *testing.T) {
	dir := t.TempDir()
	cut := filepath.Join(dir, "cut")
	writeTable(t, filepath.Join(dir, "good"), "v", 1, 2)
	whole, err := os.ReadFile(filepath.Join(dir, "good"))
	if err == nil {
		err = errors.Join(os.WriteFile(cut, whole[:len(whole)-3], 0o666),
			os.WriteFile(filepath.Join(dir, "empty.parquet"), nil, 0o666), os.WriteFile(filepath.Join(dir, "lines.parq"), []byte("1\n2\n"), 0o666))
	}
	if err != nil {
		t.Fatal(err)
	}
	writeTable(t, filepath.Join(dir, "order"), "v", 3, 3, 2)
	writeTable(t, filepath.Join(dir, "negative"), "v", 3, 1<<63)
	writeTable(t, filepath.Join(dir, "column"), "w", 3)
	for name, want := range map[string]string{
		"order": "order:3 is less than the row before", "negative": "negative:2 is -9223372036854775808, not a place",
		"column": "column: it has no column v of 64-bit numbers: it has k, w", "cut": "cut: it does not end like a Parquet file",
		"empty.parquet": "empty.parquet: ", "lines.parq": "lines.parq: ",
	} {
		m, err := openMarks(filepath.Join(dir, name), nil)
		for err == nil && m.some {
			err = m.advance()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	texts := newWorld(2).texts(400)
	shards := t.TempDir()
	write(t, shards, feature.Scheme{}, texts, len(texts))
	d := Decision{Set: readSet(t, shards), Marks: filepath.Join(dir, "large")}
	var places []Place
	for i := range uint64(100_000) {
		places = append(places, placeOf(0, i/500, int(i%500)))
	}
	writeTable(t, d.Marks, "v", places...)
	one, err := d.Expect()
	if err != nil || one.Marks != 100_000 || one.Documents < 190 || one.Documents > 240 {
		t.Errorf("%+v, error %v", one, err)
	}
	d.Marks = filepath.Join(dir, "parts") // of the same documents
	for i := range 4 {
		var part []Place
		for at := i; at < len(places); at += 4 {
			part = append(part, places[at])
		}
		writeTable(t, filepath.Join(d.Marks, string(rune('0'+i))), "v", part...)
	}
	many, err := d.Expect()
	if err != nil || many.Marks != 100_000 || many.Documents != 400 || many.Bytes < one.Bytes+3*partBytes {
		t.Errorf("%+v, and of one file %+v, error %v", many, one, err)
	}
}

func writePart(t *testing.T, name, text string, packed bool) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !packed {
		_, err = io.WriteString(f, text)
	} else {
		z := gzip.NewWriter(f)
		_, err = io.WriteString(z, text)
		err = errors.Join(err, z.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}
