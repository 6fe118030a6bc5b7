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

// TestSecondMemberCutOff cuts a gzip file anywhere in its second member: each cut is an error. The
// header there has a name, a comment and an extra field, which the decoder reads to their end.
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

// TestCutOffAnywhere checks that a compressed file cut off anywhere is an error, even in its header
// once the first bytes identify the compression.
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
