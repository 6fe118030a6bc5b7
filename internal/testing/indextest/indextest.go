// Package indextest has helpers for tests that work on an index.
package indextest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/firstseen/firstseen/internal/base/durable"
)

// Sentences returns a text that shares nothing with that of another number.
func Sentences(n int) string {
	text := ""
	for i := range 6 {
		text += fmt.Sprintf("The sentence s%[1]dd%[2]d of document d%[2]d says what only%[2]d it says%[2]d. ", i, n)
	}
	return text
}

// Must ends the test on an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Memory returns a folder in memory for small files that are often synced: on a disk a sync can take
// 10 ms. It returns TMPDIR if that is set or if no such folder has room.
func Memory() string {
	const dir = "/dev/shm"
	if room, err := durable.Room(dir); runtime.GOOS == "linux" && os.Getenv("TMPDIR") == "" && err == nil && room > 1<<30 {
		return dir
	}
	return os.Getenv("TMPDIR")
}

// ShortInMemory is for TestMain. With -short it sets TMPDIR to Memory: syncs, and making and removing
// folders, take more time than most tests. The full run keeps its files on a disk.
func ShortInMemory() {
	if slices.ContainsFunc(os.Args, func(arg string) bool { return arg == "-test.short" || arg == "-test.short=true" }) {
		os.Setenv("TMPDIR", Memory())
	}
}

// TempDir returns a temporary folder in Memory.
func TempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(Memory(), "firstseen-")
	Must(t, err)
	t.Cleanup(func() { Must(t, os.RemoveAll(dir)) })
	return dir
}

// Copy copies the index in dir and returns the folder of the copy.
func Copy(t testing.TB, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	Must(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}
