package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
)

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestCutTrailer checks that missing or wrong last bytes are an error, also in a second archive.
func TestCutTrailer(t *testing.T) {
	long := strings.Repeat("some text ", 300)
	one := gzipped(t, tarFiles(t, tar.FormatGNU, file{"a", long}))
	two := gzipped(t, tarFiles(t, tar.FormatGNU, file{"b", long}))
	list := func(data []byte) (*Contents, error) {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return Lister{Want: all, Spool: func() (io.Writer, error) { return io.Discard, nil }}.Tar(z)
	}
	for what, data := range map[string][]byte{"one": one, "two": append(bytes.Clone(one), two...)} {
		if _, err := list(data); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		for n := 1; n < min(len(one), len(two)); n++ {
			if _, err := list(data[:len(data)-n]); !errors.Is(err, errCutOff) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s without the last %d bytes: %v", what, n, err)
			}
		}
		wrong := bytes.Clone(data)
		wrong[len(wrong)-8]++
		if _, err := list(wrong); !errors.Is(err, gzip.ErrChecksum) {
			t.Errorf("%s with another checksum: %v", what, err)
		}
	}
}
