package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestSnippetsCompile builds the Go code of the manual, each piece as the body of a
// function that is given texts with their ids.
func TestSnippetsCompile(t *testing.T) {
	modulePackages(t) // not without the go command
	manual, err := os.ReadFile("docs/manual.md")
	if err != nil {
		t.Fatal(err)
	}
	pieces := regexp.MustCompile("(?s)\n```go\n(.*?)```\n").FindAllSubmatch(manual, -1)
	if len(pieces) < 2 {
		t.Fatalf("only %d pieces of Go found", len(pieces))
	}
	dir := t.TempDir()
	replace := map[string]string{}
	for i, piece := range pieces {
		end := "return nil"
		if regexp.MustCompile(`(?m)^return `).Match(piece[1]) {
			end = ""
		}
		file := filepath.Join(dir, fmt.Sprintf("piece%d.go", i))
		source := fmt.Sprintf(`package pieces

import (
	"errors"
	"fmt"

	"%[1]s/dedup"
	"%[1]s/index"
)

var _, _, _, _ = errors.Join, fmt.Sprint, dedup.New, index.Open

func piece%d(documents map[string]string, id, text string) error {
%s
%s
}
`, module, i, piece[1], end)
		if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
			t.Fatal(err)
		}
		at, err := filepath.Abs(filepath.Join("pieces", filepath.Base(file)))
		if err != nil {
			t.Fatal(err)
		}
		replace[at] = file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(name, overlay, 0o666); err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command("go", "build", "-overlay", name, "./pieces").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}
