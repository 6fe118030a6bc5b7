package docmap

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPagesAreChecked checks that a finding of boltcheck is reported as damage, in the same words.
func TestPagesAreChecked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	sampleTable(t, path)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const head = 16 // of a page
	for i := range 2 {
		h := b[i*pageSize+head:]
		binary.LittleEndian.PutUint64(h[16:], 1) // the root page
		sum := fnv.New64a()
		sum.Write(h[:56])
		binary.LittleEndian.PutUint64(h[56:], sum.Sum64())
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, opt := range []Options{smallOptions, {ReadOnly: true}} {
		_, err := Open(path, opt)
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path+": table is damaged: page 1 of ") {
			t.Errorf("opened: %v", err)
		}
	}
}
