package claim

import (
	"errors"
	"os"
	"runtime"
	"testing"
)

// TestTakeIsOfTheName checks that the locked file must still have the name. A link stands for a
// file renamed in between.
func TestTakeIsOfTheName(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	path := made(t, "a", "text")
	if err := os.Symlink(path, path+".link"); err != nil {
		t.Fatal(err)
	}
	if c, err := Take(path + ".link"); !errors.Is(err, ErrMoved) {
		t.Errorf("%v, %v; want %v", c, err, ErrMoved)
	}
	// The failed claim did not keep the lock.
	if err := take(t, path).Release(); err != nil {
		t.Fatal(err)
	}
}
