package index

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// written returns the bytes that this process has passed to write calls. bbolt writes with them.
func written(t *testing.T) (n int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	indextest.Must(t, err)
	_, after, _ := strings.Cut(string(text), "wchar: ")
	_, err = fmt.Sscan(after, &n)
	indextest.Must(t, err)
	return n
}

// onDisk returns the disk space that a file takes, without its holes.
func onDisk(t *testing.T, path string) int64 {
	t.Helper()
	var st unix.Stat_t
	indextest.Must(t, unix.Stat(path, &st))
	return st.Blocks * 512
}
