package claim

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func made(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func take(t *testing.T, path string) *Claim {
	t.Helper()
	c, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOneHolder(t *testing.T) {
	path := made(t, "a", "text")
	c := take(t, path)
	if _, err := Take(path); !errors.Is(err, ErrTaken) {
		t.Errorf("a second claim: %v", err)
	}
	// Opening and closing a handle meanwhile must not drop the lock.
	f, err := c.Open()
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Take(path); !errors.Is(err, ErrTaken) {
		t.Errorf("a second claim after a handle was closed: %v", err)
	}
	if err := c.Release(); err != nil {
		t.Fatal(err)
	}
	if err := take(t, path).Release(); err != nil {
		t.Fatal(err)
	}
}

// TestClaimLeavesAnotherFileAlone checks that a claim does nothing to a file that replaced its own.
func TestClaimLeavesAnotherFileAlone(t *testing.T) {
	path := made(t, "a", "mine")
	c := take(t, path)
	defer c.Release()
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"", "another's"} {
		if other != "" {
			if err := os.WriteFile(path, []byte(other), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		_, openErr := c.Open()
		for what, err := range map[string]error{"Check": c.Check(), "Rename": c.Rename(path+".new", os.Rename), "Remove": c.Remove()} {
			if !errors.Is(err, ErrMoved) {
				t.Errorf("%s with %q in its place: %v", what, other, err)
			}
		}
		if openErr == nil {
			t.Errorf("%q was opened for the claimed file", other)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "another's" {
		t.Errorf("the other file: %q, %v", got, err)
	}
}

func TestRename(t *testing.T) {
	path := made(t, "a", "mine")
	c := take(t, path)
	if err := c.Rename(path+".new", os.Rename); err != nil {
		t.Fatal(err)
	}
	if err := c.Check(); err != nil {
		t.Errorf("under its new name: %v", err)
	}
	if _, err := Take(path + ".new"); !errors.Is(err, ErrTaken) {
		t.Errorf("the lock is lost with the name: %v", err)
	}
	if err := errors.Join(c.Remove(), c.Release()); err != nil {
		t.Fatal(err)
	}
	if _, err := Take(path + ".new"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Remove: %v", err)
	}
}
