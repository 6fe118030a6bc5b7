package bulk

import (
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
			var b strings.Builder
			for _, p := range places {
				b.Write(p.AppendLine(nil))
			}
			writePart(t, filepath.Join(dir, "run", "part-"+string(rune('0'+i))), b.String(), i%2 == 1)
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
