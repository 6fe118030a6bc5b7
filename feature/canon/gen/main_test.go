package main

import (
	"bytes"
	"os"
	"testing"
	"unicode"
)

// TestTablesAreGenerated fails where the committed tables are not those that
// the rules give: somebody changed one and not the other.
func TestTablesAreGenerated(t *testing.T) {
	want, err := generate()
	if unicode.Version != unicodeVersion {
		if err == nil {
			t.Error("tables were generated from another version of Unicode")
		}
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../tables.bin")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("feature/canon/tables.bin has %d bytes that are not the %d generated: run go generate ./feature/canon", len(got), len(want))
	}
}
