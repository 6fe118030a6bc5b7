package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTutorial runs the commands of the tutorial in order and looks for the shown lines in their
// output. Numbers may differ.
func TestTutorial(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	page, err := os.ReadFile("docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	blocks := regexp.MustCompile("(?s)\n```(sh)?\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 12 {
		t.Fatalf("only %d blocks", len(blocks))
	}
	numbers := regexp.MustCompile(`[0-9.]+`)
	out := ""
	for _, b := range blocks {
		if b[1] == "" {
			for line := range strings.Lines(b[2]) {
				if want := numbers.ReplaceAllString(strings.TrimSpace(line), "#"); !strings.Contains(numbers.ReplaceAllString(out, "#"), want) {
					t.Errorf("no line %q in\n%s", want, out)
				}
			}
			continue
		}
		script := strings.Replace(b[2], "go build -o bin/firstseen . && PATH=$PWD/bin:$PATH", "go build -C "+here+" -buildvcs=false -o "+filepath.Join(dir, "bin", "firstseen")+" .", 1)
		script = strings.ReplaceAll(script, "testdata/", filepath.Join(here, "testdata")+"/")
		cmd := exec.Command("sh", "-e", "-c", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
		combined, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, combined)
		}
		out = string(combined)
	}
}
