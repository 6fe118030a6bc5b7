package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
)

// TestQueryReopens: a query that has cost the run beside it 1 GiB goes on with the newest
// checkpoint.
func TestQueryReopens(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	x, err := index.Open(dir, index.Options{Key: index.KeyAsIs, Shape: bloomstore.ForItems(1000)})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	see := func(n int) {
		t.Helper()
		if _, err := x.See("doc", []byte(plainText(n))); err != nil {
			t.Fatal(err)
		}
		if err := x.Checkpoint(); err != nil {
			t.Fatal(err)
		}
	}
	see(1)
	var out bytes.Buffer
	q := newQuery(func() (*index.Reader, error) { return index.OpenReader(dir, nil) }, dedup.Rules{}, &out)
	if err := q.open(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := q.reader.Close(); err != nil {
			t.Error(err)
		}
	}()
	ask := func(n int, verdict string) {
		t.Helper()
		out.Reset()
		if err := q.ask("asked", []byte(plainText(n)), false, "f", corpus.Place{Record: 1}); err != nil || !strings.Contains(out.String(), `"verdict":"`+verdict+`"`) {
			t.Errorf("document %d: %v, want %s: %s", n, err, verdict, &out)
		}
	}
	ask(1, "duplicate")
	see(2)
	ask(2, "unique") // from the checkpoint that was there
	if err := os.Truncate(filepath.Join(dir, index.TableFile), 2<<30); err != nil {
		t.Fatal(err)
	}
	ask(2, "duplicate")
}
