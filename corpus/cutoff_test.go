package corpus_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"

	. "github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/output"
)

// TestSecondMemberCutOff: a gzip file that ends anywhere in a later member is not
// whole, also where the header of that has names, which the decoder reads to their
// end.
func TestSecondMemberCutOff(t *testing.T) {
	first := Gzipped([]byte("{\"text\":\"a\"}\n"))
	var second bytes.Buffer
	w := gzip.NewWriter(&second)
	w.Name, w.Comment, w.Extra = "b.jsonl", "the second of two", []byte("more")
	_, err := w.Write([]byte("{\"text\":\"b\"}\n"))
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	stored := join(first, second.Bytes())
	for n := len(first) + 1; n < len(stored); n++ {
		_, err := readAll(t, oneStdin, SourceConfig{Stdin: bytes.NewReader(stored[:n])}, jsonl.Fields{})
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut to %d of %d bytes, %d of the second member: %v", n, len(stored), n-len(first), err)
		}
	}
}

// TestCutOffAnywhere: a compressed file that is not whole is an error wherever it
// ends, in its header too, once its first bytes say what it is.
func TestCutOffAnywhere(t *testing.T) {
	for name, known := range map[string]int{"in.gz": 2, "in.zst": 4} {
		path := filepath.Join(t.TempDir(), name)
		w, err := output.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteRecord([]byte(`{"id":"1","text":"a text that is in the file"}`), []byte("\n")); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		stored, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for n := known; n < len(stored); n++ {
			_, err := readAll(t, oneStdin, SourceConfig{Stdin: bytes.NewReader(stored[:n])}, jsonl.Fields{})
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s cut to %d of %d bytes: %v", name, n, len(stored), err)
			}
		}
	}
}
