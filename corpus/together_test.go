package corpus

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Records written together give the file that they give one by one: also of frames that
// are compressed, with long records among them, and with others written in between.
func TestWriteRecordsIsWriteRecord(t *testing.T) {
	some := someLines()
	lines := append(some[:len(some):len(some)], bytes.Repeat([]byte("x"), 9<<20), nil, []byte("after"))
	together := func(tasks int, f func(task int)) {
		var wg sync.WaitGroup
		for task := range tasks {
			wg.Go(func() { f(task) })
		}
		wg.Wait()
	}
	rng := rand.New(rand.NewPCG(1, 3))
	for _, name := range outputNames {
		path := filepath.Join(t.TempDir(), name)
		w := create(t, path)
		writeLines(t, w, lines)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		w = create(t, path)
		for left := lines; len(left) > 0; {
			n := min(len(left), rng.IntN(2000))
			if err := w.WriteRecords(left[:n], Newline, together); err != nil {
				t.Fatal(err)
			}
			if left = left[n:]; len(left) > 0 {
				writeLines(t, w, left[:1])
				left = left[1:]
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, one by one %d, %v", name, len(got), len(want), err)
		}
		if err := w.WriteRecords(lines[:1], Newline, together); err == nil {
			t.Error("written to what is closed")
		}
	}
}
