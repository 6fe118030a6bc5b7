package input

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/firstseen/firstseen/corpus/compress"
)

// TestExpandingMember refuses a member that expands too much, once a GiB was read.
func TestExpandingMember(t *testing.T) {
	t.Chdir(t.TempDir())
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	w, err := z.Create("a.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write(make([]byte, 100_000))
	if err := errors.Join(err, z.Close(), os.WriteFile("in.zip", packed.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
	inputs, _, err := ExpandWithin([]string{"in.zip"}, lineEndings, compress.Bounds{MaxRatio: 100})
	if err != nil {
		t.Fatal(err)
	}
	f, err := inputs[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Reader.(*compress.Expansion).Decoded = compress.RatioFrom
	if _, err := io.Copy(io.Discard, f); !errors.Is(err, compress.ErrRatio) {
		t.Error(err)
	}
}
