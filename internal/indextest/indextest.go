// Package indextest has helpers for tests that work on an index.
package indextest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
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

// Copy copies the index in dir and returns the folder of the copy.
func Copy(t testing.TB, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	Must(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}
