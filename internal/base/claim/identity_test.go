package claim

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestIdentityFollowsTheFile checks that a file keeps its identity under another name and with
// other content. A new file under its name has another identity, even with the same inode number.
func TestIdentityFollowsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	make := func() ID {
		t.Helper()
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return Identify(f)
	}
	first := make()
	if first == (ID{}) {
		if runtime.GOOS == "linux" || runtime.GOOS == "darwin" {
			t.Log("this file system does not tell when a file was made")
		}
		return
	}
	if err := os.WriteFile(path, []byte("other content"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+"b"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+"b", path); err != nil {
		t.Fatal(err)
	}
	if again := make(); again != first {
		t.Errorf("it was %+v and is %+v", first, again)
	}
	for range 3 {
		time.Sleep(20 * time.Millisecond) // clocks of file systems are coarse
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		next := make()
		if next == first {
			t.Errorf("two files are %+v", first)
		}
		first = next
	}
}
