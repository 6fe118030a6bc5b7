package docmap

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func init() { children["limited"] = childUnderLimit }

// childUnderLimit fills a table with little address space left, and reports its mapping's size.
func childUnderLimit(path string) error {
	var left uint64
	if _, err := fmt.Sscan(os.Getenv("DOCMAP_TEST_LEFT"), &left); err != nil {
		return err
	}
	var pages uint64
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	if _, err := fmt.Sscan(string(b), &pages); err != nil {
		return err
	}
	limit := pages*uint64(os.Getpagesize()) + left
	if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		return err
	}
	fmt.Println("mapping", initialMapping())
	return childFills(path)
}

// TestAddressSpaceLimit runs under `ulimit -v`. A table must work and leave most address space.
func TestAddressSpaceLimit(t *testing.T) {
	t.Parallel()
	for _, left := range []int{300 << 20, 3 << 30} {
		path := filepath.Join(t.TempDir(), "table")
		cmd := exec.Command(os.Args[0], path)
		cmd.Env = append(childEnviron("limited"), fmt.Sprint("DOCMAP_TEST_LEFT=", left))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("with %d bytes: %v\n%s", left, err, out)
		}
		var size int
		if _, err := fmt.Sscanf(string(out), "mapping %d\n", &size); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if unmapped && size != 0 || !unmapped && (size < left/16 || size > left/4) {
			t.Errorf("with %d bytes the mapping has %d", left, size)
		}
		if !strings.Contains(string(out), fmt.Sprint("made ", childDocs)) {
			t.Errorf("with %d bytes:\n%s", left, out)
		}
		oracleOfChild(childDocs).equal(t, mustOpen(t, path, childOptions))
	}
}
