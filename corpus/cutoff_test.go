package corpus_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	. "github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonl"
)

// TestCutOffAnywhere: a compressed file that is not whole is an error wherever it
// ends, in its header too, once its first bytes say what it is.
func TestCutOffAnywhere(t *testing.T) {
	for name, known := range map[string]int{"in.gz": 2, "in.zst": 4} {
		path := filepath.Join(t.TempDir(), name)
		w, err := Create(path)
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
