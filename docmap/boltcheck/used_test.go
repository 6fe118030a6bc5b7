package boltcheck

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUsedPageAmongTheFree finds a used page that replaces a free one in the free list, in order.
// bbolt would overwrite that page.
func TestUsedPageAmongTheFree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	someFile(t, path)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := &pageFile{t: t, b: good}
	le, list := binary.LittleEndian, f.free()
	n, changed := int(le.Uint16(list[10:])), false
	id := func(i int) []byte { return list[pageHead+8*i:] }
	for i := range n {
		next := le.Uint64(id(i)) + 1
		if next < le.Uint64(f.newest()[40:]) && (i+1 == n || next < le.Uint64(id(i+1))) {
			le.PutUint64(id(i), next)
			changed = true
			break
		}
	}
	if !changed {
		t.Fatalf("no page in use lies behind one of %d free ones", n)
	}
	if err := os.WriteFile(path, f.b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := File(path); !isDamage(err) || !strings.Contains(err.Error(), "cannot be free") {
		t.Errorf("the error is %v", err)
	}
}
