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

// mayKnow says which packages of this module each may import, beside those of
// internal that know nothing of us. It is the table of docs/design.md, "Packages".
var mayKnow = map[string][]string{
	"":                   {"internal/cli"},
	"bloomstore":         {},
	"docmap":             {"docmap/sorted", "docmap/memtable", "docmap/boltcheck"},
	"corpus":             {"corpus/archive"},
	"compare/similarity": {},
	"compare/textdiff":   {"compare/similarity"},
	"pipeline/confirm":   {"compare/similarity", "corpus", "dedup", "feature", "feature/method"},
	"bench/eval":         {"compare/similarity", "dedup", "feature", "feature/terms", "feature/words"},
	"compare/explain":    {"compare/similarity", "compare/textdiff", "corpus", "dedup", "feature", "feature/method", "report"},

	"docmap/sorted":    {},
	"docmap/memtable":  {},
	"docmap/boltcheck": {},

	"dedup":              {"feature", "feature/method", "bloomstore"},
	"dedup/oracle/naive": {"feature/canon", "feature/canon/canontest"},
	"index":              {"dedup", "feature", "feature/terms", "bloomstore", "docmap"},
	"report":             {"dedup", "index", "corpus", "feature"},
	"pipeline":           {"report", "index", "dedup", "corpus", "feature"},
	"internal/cli":       {"compare/similarity", "compare/textdiff", "pipeline/confirm", "compare/explain", "pipeline", "report", "index", "dedup", "corpus", "corpus/jsonl", "corpus/warc", "corpus/page", "feature", "feature/terms", "feature/words", "bloomstore", "report/lines", "report/clusters", "report/rows", "report/derive", "report/show", "corpus/parquet", "corpus/plain", "corpus/csv", "corpus/jsonarray"},
	"corpus/archive":     {},
	"corpus/jsonarray":   {"corpus", "corpus/jsonl"},
	"report/lines":       {"corpus", "corpus/jsonl"},
	"report/derive":      {"corpus", "report/lines"},
	"report/show":        {"report/lines"},
	"report/rows":        {"corpus"},
	"report/clusters":    {"report/lines"},

	"feature":              {"feature/method", "feature/segments", "feature/twostage", "feature/exact", "feature/shingles", "feature/imatch", "feature/simhash", "feature/terms"},
	"feature/method":       {},
	"feature/canon":        {"feature/canon/vector"},
	"feature/canon/vector": {},
	"feature/digest":       {},
	"feature/segments":     {"feature/method", "feature/canon", "feature/digest"},
	"feature/words":        {"feature/canon", "feature/digest"},
	"feature/terms":        {"feature/canon"},
	"feature/hamming":      {},
	"feature/shingles":     {"feature/method", "feature/canon", "feature/digest", "feature/words"},
	"feature/imatch":       {"feature/method", "feature/canon", "feature/digest", "feature/words", "feature/terms"},
	"feature/simhash":      {"feature/method", "feature/canon", "feature/digest", "feature/words", "feature/terms", "feature/hamming"},
	"feature/exact":        {"feature/method", "feature/canon", "feature/digest"},
	"feature/runs":         {"feature/canon"},
	"feature/twostage":     {"feature/method", "feature/segments", "feature/runs", "feature/canon"},
}

// TestLayers: data flows one way, and those who are to be tested, replaced and
// imported alone know nothing of each other.
func TestLayers(t *testing.T) {
	for _, p := range modulePackages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		allowed, listed := mayKnow[name]
		if !listed {
			if parent, _, nested := strings.Cut(name, "/"); nested && parent != "bench" && parent != "internal" {
				allowed = append([]string{parent}, mayKnow[parent]...)
			} else if parent == "bench" || name == "bench" {
				continue
			}
		}
		for _, imported := range p.Imports {
			inside, ours := strings.CutPrefix(imported, module+"/")
			helper := strings.HasPrefix(inside, "internal/") && inside != "internal/cli"
			if ours && !helper && !slices.Contains(allowed, inside) {
				t.Errorf("%s imports %s", name, inside)
			}
		}
	}
}

// TestNoGoroutines: what is pure starts none and locks nothing, so .ci/run need not try
// it under the race detector.
func TestNoGoroutines(t *testing.T) {
	starts := regexp.MustCompile(`(?m)^\s*(go [a-z].*|.*\.Go\(.*|.*sync\.(Mutex|RWMutex|WaitGroup|Pool|Map)\b.*)$`)
	for _, root := range []string{"feature", "internal/html", "internal/charset", "report"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
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

// TestOnlyTheCommandLineImportsFlags: below the command line nothing sees a flag.
func TestOnlyTheCommandLineImportsFlags(t *testing.T) {
	for _, p := range modulePackages(t) {
		for _, imported := range p.Imports {
			cobra := strings.HasPrefix(imported, "github.com/spf13/")
			if cobra && p.ImportPath != module+"/internal/cli" || imported == "flag" && p.Name != "main" {
				t.Errorf("%s imports %s", p.ImportPath, imported)
			}
		}
	}
}
