package main_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// skipping finds what may skip: the calls in Go, below the function they are in, and
// the commands in scripts.
var skipping = regexp.MustCompile(`(?m)^func (\w+)|\bt\.Skipf?\(|\bb\.Skipf?\(|^\[.*\] skip`)

// skips are the functions and scripts of this module that may skip a test.
func skips(t *testing.T) (names []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if ending := filepath.Ext(path); err != nil || ending != ".go" && ending != ".txtar" {
			return err
		}
		text, err := os.ReadFile(path)
		name := filepath.Base(path)
		for _, found := range skipping.FindAllStringSubmatch(string(text), -1) {
			if found[1] != "" {
				name = found[1]
			} else {
				names = append(names, name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TestSkipsAreListed: docs/robustness.md, "Skipped tests", has what may skip, all of it
// and nothing else, so that who runs it was asked of each.
func TestSkipsAreListed(t *testing.T) {
	text, err := os.ReadFile("docs/robustness.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Skipped tests\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var listed []string
	for _, row := range regexp.MustCompile("(?m)^\\| `.*?\\|").FindAllString(section, -1) {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row, -1) {
			listed = append(listed, name[1])
		}
	}
	slices.Sort(listed)
	if found := skips(t); !slices.Equal(found, listed) {
		t.Errorf("these may skip:\n%q\nand these are listed:\n%q", found, listed)
	}
}
