package docmap

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// readCalls returns the number of system calls of this process that read.
func readCalls(t *testing.T) (n int64) { return processIO(t, "syscr: ") }

// readBytes returns the bytes that this process has got from read calls.
func readBytes(t *testing.T) (n int64) { return processIO(t, "rchar: ") }

// writtenBytes returns the bytes that this process has passed to write calls.
func writtenBytes(t *testing.T) (n int64) { return processIO(t, "wchar: ") }

func processIO(t *testing.T, of string) (n int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), of)
	if _, err := fmt.Sscan(after, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
