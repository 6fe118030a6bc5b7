package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
)

// FuzzTar checks that no name leads outside, and that a file and a stream yield the same members.
func FuzzTar(f *testing.F) {
	f.Add(tarFiles(f, tar.FormatGNU, file{"a.txt", "one"}, file{"../b.txt", "two"}))
	f.Add(tarFiles(f, tar.FormatPAX, file{"文/a.txt", "one"}, file{"/b.txt", ""}))
	for _, name := range []string{"gnu", "posix", "posix01"} {
		f.Add(unpacked(f, "testdata/sparse-"+name+".tar.gz"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := read(data, false, false, all)
		streamed, streamedErr := read(data, false, true, all)
		if errors.Is(err, errTooLong) || errors.Is(streamedErr, errTooLong) {
			return
		}
		if (err == nil) != (streamedErr == nil) {
			t.Fatalf("from a file %v, and streamed %v", err, streamedErr)
		}
		if err != nil {
			return
		}
		check(t, got)
		for i, f := range got.files {
			if streamed.files[i] != f {
				t.Fatalf("%q is %q streamed", f, streamed.files[i])
			}
		}
	})
}

// FuzzZip checks the names in zip archives. Package archive/zip must read these archives too, and
// find at least as many files.
func FuzzZip(f *testing.F) {
	f.Add(zipFiles(f, file{"a.txt", "one"}, file{"../b.txt", "two"}))
	f.Add(zipFiles(f, file{"文\\a.txt", "one"}, file{"", ""}))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := read(data, true, false, all)
		if err != nil {
			return
		}
		check(t, got)
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
			t.Fatalf("archive/zip: %v", err)
		}
		if len(got.files) > len(z.File) {
			t.Fatalf("%d files of %d", len(got.files), len(z.File))
		}
	})
}

func check(t *testing.T, got listed) {
	for _, f := range got.files {
		if !filepath.IsLocal(f.name) || !utf8.ValidString(f.name) || f.name == "" {
			t.Fatalf("the name %q", f.name)
		}
	}
}

func unpacked(f testing.TB, name string) []byte {
	packed, err := os.ReadFile(name)
	if err != nil {
		f.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		f.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		f.Fatal(err)
	}
	return data
}
