package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEveryCommandProves checks that README.md lists each command with a page that names it.
func TestEveryCommandProves(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	link := regexp.MustCompile(`\]\(([^)#]+)`)
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)[^`]*` \\|.*$").FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, row[1])
		named := false
		for _, page := range link.FindAllStringSubmatch(row[0], -1) {
			text, err := os.ReadFile(filepath.FromSlash(page[1]))
			if err != nil {
				t.Error(err)
			}
			named = named || strings.Contains(string(text), "./bench "+row[1])
		}
		if !named {
			t.Errorf("%s: no page that README.md names for it names it", row[1])
		}
	}
	for name := range commands {
		if name != flipsWorker && !slices.Contains(listed, name) {
			t.Errorf("README.md does not list %s", name)
		}
	}
	if len(listed) != len(commands)-1 {
		t.Errorf("README.md lists %d commands, and there are %d", len(listed), len(commands)-1)
	}
}
