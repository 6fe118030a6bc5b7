package main_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/firstseen/firstseen"

// goPackage holds the fields that go list prints about a package.
type goPackage struct {
	ImportPath, Name                   string
	Imports, TestImports, XTestImports []string
}

func modulePackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Imports,TestImports,XTestImports", module+"/...")
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("no go command to list packages with")
	}
	if err != nil {
		t.Fatal(err)
	}
	var packages []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for i, imported := range p.Imports { // a program with a profile has "PACKAGE [PROGRAM]"
			p.Imports[i], _, _ = strings.Cut(imported, " ")
		}
		packages = append(packages, p)
	}
	if len(packages) < 6 {
		t.Fatalf("go list found only %d packages", len(packages))
	}
	return packages
}

// mayImport reads the table "Packages" of docs/design.md, which lists the imports allowed to each
// package of this module. Packages of internal/base that the table omits are
// allowed to all.
func mayImport(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| package | purpose | may import |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	quoted := regexp.MustCompile("`([^`]+)`")
	may := map[string][]string{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if len(cells) != 3 || !strings.HasPrefix(line, "| `") {
			continue
		}
		name := strings.TrimPrefix(strings.Trim(cells[0], "| `"), "main")
		may[name] = nil
		for _, m := range quoted.FindAllStringSubmatch(cells[2], -1) {
			may[name] = append(may[name], m[1])
		}
	}
	if len(may) < 40 {
		t.Fatalf("docs/design.md has a table of %d packages", len(may))
	}
	return may
}

// TestLayers checks that data flows one way. Packages to be tested, replaced and imported alone do
// not depend on one another.
func TestLayers(t *testing.T) {
	may := mayImport(t)
	there := map[string]bool{}
	for _, p := range modulePackages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		there[name] = true
		allowed, listed := may[name]
		if !listed {
			if parent, _, nested := strings.Cut(name, "/"); nested && parent != "bench" && parent != "internal" {
				allowed = append([]string{parent}, may[parent]...)
			} else if parent == "bench" || name == "bench" || strings.HasPrefix(name, "internal/testing/") {
				continue
			}
		}
		for _, imported := range p.Imports {
			inside, ours := strings.CutPrefix(imported, module+"/")
			_, known := may[inside]
			helper := strings.HasPrefix(inside, "internal/base/") && !known
			if ours && !helper && !slices.Contains(allowed, inside) {
				t.Errorf("%s imports %s", name, inside)
			}
		}
	}
	for name := range may {
		if !there[name] {
			t.Errorf("docs/design.md has a package %s, and there is none", name)
		}
	}
}

// floors are those of the module, the highest first. A package imports from its own floor and from
// lower ones. Packages outside internal are the library; internal/testing is for tests alone.
var floors = []string{"internal/cli", "internal/engine", "", "internal/base"}

func floorOf(name string) int {
	if name == "" { // main
		return 0
	}
	for i, floor := range floors {
		if floor != "" && (name == floor || strings.HasPrefix(name, floor+"/")) {
			return i
		}
	}
	return 2
}

// TestFloors checks that imports run down, and that tools of tests stay out of the program.
func TestFloors(t *testing.T) {
	for _, p := range modulePackages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if name == "bench" || strings.HasPrefix(name, "bench/") || strings.HasPrefix(name, "internal/testing/") {
			continue
		}
		if strings.HasPrefix(name, "internal/") && floorOf(name) == 2 {
			t.Errorf("%s is on no floor: put it into internal/engine, internal/base or internal/testing", name)
		}
		for _, imported := range p.Imports {
			inside, ours := strings.CutPrefix(imported, module+"/")
			if ours && (floorOf(inside) < floorOf(name) || strings.HasPrefix(inside, "internal/testing/")) {
				t.Errorf("%s imports up: %s", name, inside)
			}
		}
	}
}

// TestNoGoroutines checks that pure packages start no goroutine and lock nothing, so that .ci/run
// need not run them under the race detector. Package passages shares texts, and runs there.
func TestNoGoroutines(t *testing.T) {
	starts := regexp.MustCompile(`(?m)^\s*(go [a-z].*|.*\.Go\(.*|.*sync\.(Mutex|RWMutex|WaitGroup|Pool|Map)\b.*)$`)
	for _, root := range []string{"feature", "internal/base/html", "internal/base/charset", "internal/engine/report"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || filepath.Dir(path) == filepath.Join("feature", "passages") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, line := range starts.FindAllString(string(text), -1) {
				if !strings.HasPrefix(strings.TrimSpace(line), "//") {
					t.Errorf("%s: %s", path, strings.TrimSpace(line))
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestNothingImportsBench checks that measurements depend on the program, never the reverse.
func TestNothingImportsBench(t *testing.T) {
	bench := module + "/bench"
	for _, p := range modulePackages(t) {
		if p.ImportPath == bench || strings.HasPrefix(p.ImportPath, bench+"/") {
			continue
		}
		for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if imported == bench || strings.HasPrefix(imported, bench+"/") {
				t.Errorf("%s imports %s", p.ImportPath, imported)
			}
		}
	}
}

func TestOnlyTheCommandLineImportsFlags(t *testing.T) {
	for _, p := range modulePackages(t) {
		for _, imported := range p.Imports {
			cobra := strings.HasPrefix(imported, "github.com/spf13/")
			values := imported == "github.com/spf13/pflag" && p.ImportPath == module+"/internal/cli/flags" // parsers, for internal/cli alone
			if cobra && !values && p.ImportPath != module+"/internal/cli" || strings.HasSuffix(imported, "internal/cli/flags") && p.ImportPath != module+"/internal/cli" || imported == "flag" && p.Name != "main" {
				t.Errorf("%s imports %s", p.ImportPath, imported)
			}
		}
	}
}
