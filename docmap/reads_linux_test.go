package docmap

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// readCalls returns the number of system calls of this process that read.
func readCalls(t *testing.T) (n int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "syscr: ")
	if _, err := fmt.Sscan(after, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
