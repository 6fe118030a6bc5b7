package warc_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/warc"
)

// archive holds the records of a file as warcio, an independent reader, finds them.
type archive struct {
	File   string
	IDs    []string
	Bodies []string // first digits of the SHA-256 sums, without the final line ends
	Times  []string // noted by hand, for some files
	Bad    int      // bad records, confirmed by inspection
}

// TestArchives reads test files of other projects: those in testdata/archives, or all in the
// directory that the environment variable FIRSTSEEN_WARCS names.
func TestArchives(t *testing.T) {
	data, err := os.ReadFile("testdata/archives.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	const few = "testdata/archives"
	dir := cmp.Or(os.Getenv("FIRSTSEEN_WARCS"), few)
	found := 0
	for line := range bytes.Lines(data) {
		var a archive
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, a.File)
		if _, err := os.Stat(path); err != nil && dir == few {
			continue
		}
		found++
		t.Run(a.File, func(t *testing.T) { a.check(t, path) })
	}
	if found < 8 {
		t.Errorf("%d files were found in %s, want 8 at least", found, dir)
	}
}

// asItIs returns bodies unchanged.
func asItIs() corpus.Text {
	return func(_ func(int) []byte, body []byte, _ string) ([]byte, bool, error) { return body, false, nil }
}

// check compares a file's documents with the expected ones, in blocks of two sizes.
func (a archive) check(t *testing.T, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 300} {
		all, err := readFrom(t, stdin, warc.Format{Text: asItIs}, corpus.SourceConfig{Stdin: bytes.NewReader(data), BlockSize: size})
		if err != nil {
			t.Fatal(err)
		}
		var ids, bodies, times []string
		bad := 0
		for _, g := range all {
			if g.bad != "" {
				bad++
				continue
			}
			sum := sha256.Sum256(bytes.TrimRight([]byte(g.text), "\r\n"))
			ids, bodies, times = append(ids, g.id), append(bodies, hex.EncodeToString(sum[:8])), append(times, g.time.Format(time.RFC3339))
		}
		if a.Times != nil && !slices.Equal(times, a.Times) {
			t.Errorf("blocks of %d: times %q, want %q", size, times, a.Times)
		}
		if !slices.Equal(ids, a.IDs) || !slices.Equal(bodies, a.Bodies) || bad != a.Bad {
			t.Errorf("blocks of %d: ids %q, bodies %q, %d bad; want %q, %q, %d", size, ids, bodies, bad, a.IDs, a.Bodies, a.Bad)
		}
	}
}
