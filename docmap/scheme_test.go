package docmap_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/firstseen/firstseen/docmap"
)

// TestSchemeOfAnUnknownTable opens a table without knowing its scheme.
func TestSchemeOfAnUnknownTable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "table.db")
	open := func() (string, error) {
		table, err := docmap.Open(path, docmap.Options{ReadOnly: true})
		if err != nil {
			return "", err
		}
		return table.Scheme(), table.Close()
	}
	if _, err := open(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no table: %v", err)
	}
	// Leftovers of a process that was killed while making the table do no harm.
	if err := os.WriteFile(path+".new", []byte("half a table"), 0o666); err != nil {
		t.Fatal(err)
	}
	table, err := docmap.Open(path, docmap.Options{Scheme: "some scheme"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := docmap.Open(path, docmap.Options{Scheme: "some scheme"}); !errors.Is(err, docmap.ErrLocked) {
		t.Errorf("a table that another writes: %v", err)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := open(); got != "some scheme" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := docmap.Open(path, docmap.Options{}); !errors.Is(err, docmap.ErrScheme) {
		t.Errorf("opened for writing without a scheme: %v", err)
	}
	if err := os.WriteFile(path, []byte("half a table"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := open(); !errors.Is(err, docmap.ErrDamaged) {
		t.Errorf("half a table: %v", err)
	}
}
