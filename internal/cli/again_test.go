//go:build unix

package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestRemovedAndSentAgain holds what the manual says of a document that was removed
// and comes again: an exact copy is removed for ever, and a near copy until its shared
// segments are common.
func TestRemovedAndSentAgain(t *testing.T) {
	dir := t.TempDir()
	sentences := func(from, n int) (s []string) {
		for i := range n {
			s = append(s, fmt.Sprintf("Sentence number %d says something that no other sentence says", from+i))
		}
		return s
	}
	line := func(id string, parts ...[]string) string {
		text := ""
		for _, p := range parts {
			text += strings.Join(p, ". ") + ". "
		}
		return fmt.Sprintf("{\"id\":%q,\"text\":%q}\n", id, text)
	}
	shared := sentences(0, 6)
	exact, near := line("exact", shared), line("near", shared, sentences(10, 2))
	writeFile(t, filepath.Join(dir, "first"), line("witness", shared)+exact+near)
	longer := ""
	for i := range 12 {
		longer += line(fmt.Sprint("longer ", i), shared, sentences(100*(i+1), 30))
	}
	writeFile(t, filepath.Join(dir, "longer"), longer)
	keeps := func(input, want string) {
		t.Helper()
		if kept, _ := runProgram(t, dir, exitDone, "dedup", "-q", "--docs", "1k", "--index", "index", "--out", "-", input); kept != want {
			t.Errorf("of %s it keeps %.300q, want %.300q", input, kept, want)
		}
	}
	keeps("first", line("witness", shared))
	keeps("first", "")
	keeps("longer", longer)
	keeps("first", near)
}
