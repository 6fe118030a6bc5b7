package dedup_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/firstseen/firstseen"

// goPackage is what go list tells of a package.
type goPackage struct {
	ImportPath, Name                   string
	Imports, TestImports, XTestImports []string
}

// modulePackages returns the packages of this module.
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
		packages = append(packages, p)
	}
	if len(packages) < 6 {
		t.Fatalf("go list found only %d packages", len(packages))
	}
	return packages
}

// layers are the packages that know nothing of each other, so that each can be
// tested, replaced and imported alone. Only dedup puts them together.
var layers = []string{"feature", "bloomstore", "docmap", "corpus"}

// TestLayersDoNotImportEachOther holds for their tests too.
func TestLayersDoNotImportEachOther(t *testing.T) {
	for _, p := range modulePackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if !slices.Contains(layers, name) {
			continue
		}
		for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			inside, ok := strings.CutPrefix(imported, module+"/")
			if ok && inside != name && !strings.HasPrefix(inside, "internal/") {
				t.Errorf("%s imports %s", name, inside)
			}
		}
	}
}

// TestInternalImportsNothingOfUs: what layers share depends on none of them.
func TestInternalImportsNothingOfUs(t *testing.T) {
	for _, p := range modulePackages(t) {
		if !strings.HasPrefix(p.ImportPath, module+"/internal/") {
			continue
		}
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, module) && !strings.HasPrefix(imported, module+"/internal/") {
				t.Errorf("%s imports %s", p.ImportPath, imported)
			}
		}
	}
}

// TestNothingImportsBench: measurements depend on the program, never the reverse.
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

// TestOnlyMainImportsFlags: below the command line nothing sees a flag.
func TestOnlyMainImportsFlags(t *testing.T) {
	for _, p := range modulePackages(t) {
		for _, imported := range p.Imports {
			cobra := strings.HasPrefix(imported, "github.com/spf13/")
			if cobra && p.ImportPath != module || imported == "flag" && p.Name != "main" {
				t.Errorf("%s imports %s", p.ImportPath, imported)
			}
		}
	}
}
