//go:build unix

package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestListOfLinesInNames checks that lists refuse a name of two lines: the second may name a file.
func TestListOfLinesInNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.txt", "b\na.txt"} {
		writeFile(t, filepath.Join(dir, name), "The ferry leaves the harbour at seven in the morning.")
	}
	runProgram(t, dir, 0, "dedup", "-q", "--docs", "1k", "--format", "text", "--report", "r.jsonl", ".")
	runProgram(t, dir, 0, "report", "kept", "--format", "text", "r.jsonl", ".", "--out", "kept.txt")
	_, stderr := runProgram(t, dir, 1, "report", "kept", "--format", "text", "--keep", "duplicates", "r.jsonl", ".", "--out", "others.txt")
	if !strings.Contains(stderr, `"b\na.txt" contains a line break`) {
		t.Error(stderr)
	}
}
