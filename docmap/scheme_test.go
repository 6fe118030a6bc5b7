package docmap_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/firstseen/firstseen/docmap"
)

func TestReadScheme(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table.db")
	if _, err := docmap.ReadScheme(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no table: %v", err)
	}
	// What a process killed while it made the table has left is in nobody's way.
	if err := os.WriteFile(path+".new", []byte("half a table"), 0o666); err != nil {
		t.Fatal(err)
	}
	table, err := docmap.Open(path, docmap.Options{Scheme: "some scheme"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := docmap.ReadScheme(path); !errors.Is(err, docmap.ErrLocked) {
		t.Errorf("of a table in use: %v", err)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := docmap.ReadScheme(path); got != "some scheme" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if err := os.WriteFile(path, []byte("half a table"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := docmap.ReadScheme(path); !errors.Is(err, docmap.ErrDamaged) {
		t.Errorf("of half a table: %v", err)
	}
}
