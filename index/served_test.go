package index

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/firstseen/firstseen/internal/base/owners"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestServedIsRefused checks that only a server opens an index with a server's journal.
func TestServedIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	indextest.Must(t, remember20(dir))
	for _, n := range []string{"10", "9"} {
		indextest.Must(t, os.WriteFile(filepath.Join(dir, "served."+n+".log"), nil, 0o666))
	}
	got, err := owners.Journals(dir)
	if err != nil || !slices.Equal(got, []uint64{9, 10}) {
		t.Errorf("journals %d, error %v", got, err)
	}
	o := smallIndex
	o.Key = KeyRequired
	refused(t, dir, o)
	if made, err := ReadMade(dir); err != nil || made == nil {
		t.Errorf("what it takes to serve it again: %v, %v", made, err)
	}
	o.Serve = true
	x, err := Open(context.Background(), dir, o)
	indextest.Must(t, err)
	indextest.Must(t, x.Close())
}

// TestIncompleteIsRefused checks that an index without one of its server's journals, which lacks
// documents, answers nothing until it is abandoned.
func TestIncompleteIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	indextest.Must(t, remember20(dir))
	o := smallIndex
	o.Key = KeyRequired
	x, err := Open(context.Background(), dir, o)
	indextest.Must(t, err)
	indextest.Must(t, errors.Join(x.Finish(map[string][]byte{owners.Served: []byte(`{"next":3}`)}), x.Close()))
	refused(t, dir, o)
	if made, err := ReadMade(dir); err != nil || made == nil {
		t.Errorf("what it takes to abandon it: %v, %v", made, err)
	}
}

// refused checks that everything but a server refuses an index.
func refused(t *testing.T, dir string, o Options) {
	t.Helper()
	for name, open := range map[string]func() error{
		"open":    func() error { x, err := Open(context.Background(), dir, o); return errors.Join(err, closed(x)) },
		"edit":    func() error { _, err := Edit(dir); return err },
		"files":   func() error { _, err := OpenFiles(dir); return err },
		"check":   func() error { _, err := Check(context.Background(), dir, CheckOptions{}); return err },
		"rebuild": func() error { _, err := Check(context.Background(), dir, CheckOptions{Rebuild: true}); return err },
	} {
		if err := open(); !errors.Is(err, ErrServed) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func closed(x *Index) error {
	if x == nil {
		return nil
	}
	return x.Close()
}

// TestForeignServer leaves a user's file of that name alone in a folder without an index.
func TestForeignServer(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, addressFile)
	indextest.Must(t, os.WriteFile(program, []byte("mine"), 0o777))
	if x, err := Open(context.Background(), dir, smallIndex); err == nil {
		t.Error("it was opened", closed(x))
	}
	if b, err := os.ReadFile(program); string(b) != "mine" {
		t.Errorf("the file has %q, %v", b, err)
	}
}

// TestAddressOfKilled checks that the address of a killed server is not used for the next one.
func TestAddressOfKilled(t *testing.T) {
	dir := t.TempDir()
	o := smallIndex
	o.Serve = true
	x, err := Open(context.Background(), dir, o)
	indextest.Must(t, err)
	indextest.Must(t, x.Announce("unix:killed"))
	address, err := ServerAddress(dir)
	if err != nil || address != "unix:killed" {
		t.Errorf("address %q, error %v", address, err)
	}
	indextest.Must(t, x.Close())
	x, err = Open(context.Background(), dir, o)
	indextest.Must(t, err)
	if address, err := ServerAddress(dir); err != nil || address != "" {
		t.Errorf("of the next server: address %q, error %v", address, err)
	}
	indextest.Must(t, x.Close())
}
