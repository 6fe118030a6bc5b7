package mutants

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestListFitsCode checks that every old text in the list occurs once.
func TestListFitsCode(t *testing.T) {
	list, err := Read("list.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 100 {
		t.Errorf("%d mutants, want 100 at least", len(list))
	}
	for _, err := range Check("../..", list) {
		t.Error(err)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"in x": "1: want a line",
		"= a\nin f\ntest .\n-x\n+y\n\n= a\nin f\ntest .\n-x\n+y\n": `the name "a" occurs twice`,
		"= a\nin f\ntest .\n-x\n+x\n":                              "another new one",
		"= a\nin f\n-x\n+y\n":                                      "want a package, tests",
		"= a\ninn f\n":                                             `what is "inn"?`,
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	list, err := parse("# x\n= a\nin f\ntest -short ./x\nsurvives so\n-one\n-\ttwo\n+\n")
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if m := list[0]; m.Old != "one\n\ttwo" || m.New != "" || m.Survives != "so" || len(m.Test) != 2 {
		t.Errorf("%+v", m)
	}
}

// TestRun checks mutants that are caught, survive, do not compile or do not fit.
func TestRun(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module m\n\ngo 1.26\n",
		"m.go":      "package m\n\nfunc f() int { return 1 + 1 }\n\nfunc g() int { return 3 }\n",
		"m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif f() != 2 {\n\t\tt.Fatal()\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	list, err := parse(`
= sum
in .
test .
-1 + 1
+1 + 2
= unseen
in .
test .
-3
+4
= equal
in .
test .
survives it is the same
-1 + 1
+2
= nonsense
in .
test .
-3
+x
= hangs
in .
test -timeout 100ms .
-1 + 1
+func() int { select {} }()
= moved
in .
test .
-gone
+x
`)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = Run(context.Background(), Config{Root: root, Dir: t.TempDir(), List: list, Jobs: 2}, &out)
	if !errors.Is(err, ErrSurvived) {
		t.Errorf("error %v, want %v", err, ErrSurvived)
	}
	for _, want := range []string{
		"caught: sum (.) by TestF", "SURVIVED: unseen (.)", "survived, as known: equal (.): it is the same",
		"BROKEN: nonsense", `BROKEN: mutant "moved": its old text occurs 0 times`, "caught: hangs", "| all | 5 | 2 (40.0%) |",
	} {
		if !strings.Contains(strings.ReplaceAll(out.String(), "BROKEN: moved: mutant", "BROKEN: mutant"), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
