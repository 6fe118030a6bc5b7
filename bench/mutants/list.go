// Package mutants applies small wrong changes to a copy of the module, one at a time, and runs the
// tests that should detect them. An undetected change reveals a promise that nothing enforces.
package mutants

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A Mutant is one wrong change. In the list it looks like this:
//
//	= lock not taken
//	in index
//	test ./index ./internal/cli
//	survives why no test can detect it, if so
//	-	case ok:
//	+	case true:
//
// The lines after "-" are the old text, which must occur once in the package, in any file. Those
// after "+" are the new text. Either has any number of lines; the first may begin and the last may
// end anywhere in its line. Tests are packages, which begin with a dot, and flags of go test. Empty
// lines and those beginning with # are ignored.
type Mutant struct {
	Name     string
	Dir      string   // of the package, in the module, with slashes
	Test     []string // arguments of go test
	Survives string   // the reason, if it is known to survive
	Old, New string
	line     int // in the list, for messages
}

// Read reads a list, whose names are unique.
func Read(path string) ([]Mutant, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	list, err := parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return list, nil
}

func parse(text string) (list []Mutant, err error) {
	names := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		if name, ok := strings.CutPrefix(line, "= "); ok {
			if names[name] {
				return nil, fmt.Errorf("%d: the name %q occurs twice", i+1, name)
			}
			names[name] = true
			list = append(list, Mutant{Name: name, line: i + 1})
			continue
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("%d: want a line beginning with \"= \"", i+1)
		}
		if err := list[len(list)-1].add(line); err != nil {
			return nil, fmt.Errorf("%d: %w", i+1, err)
		}
	}
	for i := range list {
		if m := &list[i]; m.Dir == "" || len(m.packages()) == 0 || m.Old == "" || m.Old == m.New {
			return nil, fmt.Errorf("%d: %s: want a package, tests, an old text and another new one", m.line, m.Name)
		}
	}
	return list, nil
}

// add parses one line of an entry.
func (m *Mutant) add(line string) error {
	switch line[0] {
	case '-':
		m.Old = join(m.Old, line[1:])
		return nil
	case '+':
		m.New = join(m.New, line[1:])
		return nil
	}
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "in":
		m.Dir = rest
	case "test":
		m.Test = strings.Fields(rest)
	case "survives":
		m.Survives = rest
	default:
		return fmt.Errorf("what is %q?", word)
	}
	return nil
}

func join(text, line string) string {
	if text == "" {
		return line
	}
	return text + "\n" + line
}

// packages returns the packages to test, one after the other until one detects the change.
func (m *Mutant) packages() (list []string) {
	for _, arg := range m.Test {
		if strings.HasPrefix(arg, ".") {
			list = append(list, arg)
		}
	}
	return list
}

// flags returns the flags for go test.
func (m *Mutant) flags() (list []string) {
	for _, arg := range m.Test {
		if !strings.HasPrefix(arg, ".") {
			list = append(list, arg)
		}
	}
	return list
}

// apply returns the file with the old text, before and after the change.
func (m *Mutant) apply(root string) (path string, whole, changed []byte, err error) {
	dir := filepath.Join(root, filepath.FromSlash(m.Dir))
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", nil, nil, fmt.Errorf("mutant %q: %w", m.Name, err)
	}
	found := 0
	for _, p := range paths {
		if strings.HasSuffix(p, "_test.go") {
			continue
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return "", nil, nil, fmt.Errorf("mutant %q: %w", m.Name, err)
		}
		if n := strings.Count(string(text), m.Old); n > 0 {
			found, path, whole = found+n, p, text
		}
	}
	if found != 1 {
		return "", nil, nil, fmt.Errorf("mutant %q: its old text occurs %d times in %s, want once: adapt it to the code", m.Name, found, m.Dir)
	}
	return path, whole, []byte(strings.Replace(string(whole), m.Old, m.New, 1)), nil
}

// Check reports the entries of a list that do not fit the code below root.
func Check(root string, list []Mutant) (errs []error) {
	for i := range list {
		if _, _, _, err := list[i].apply(root); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}
