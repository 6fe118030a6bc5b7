// Package mutants applies small wrong changes to a copy of the module, one by one,
// and runs the tests that should see them. What no test sees is a promise that
// nothing holds the program to.
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
//	file dedup/index.go
//	test ./dedup .
//	survives why no test can see it, where that is so
//	-	case ok:
//	+	case true:
//
// The lines after "-" are the old text, which must occur once in the file, those
// after "+" the new, either of any number of lines. The first begins and the last
// ends wherever it likes in its line. Tests are packages, and flags of go test. Lines
// beginning with # and empty ones are passed over.
type Mutant struct {
	Name     string
	File     string   // in the module, with slashes
	Test     []string // arguments of go test
	Survives string   // the reason, where it is known to
	Old, New string
	line     int // in the list, for messages
}

// Read reads a list. Names are unique.
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
		if m := &list[i]; m.File == "" || len(m.Test) == 0 || m.Old == "" || m.Old == m.New {
			return nil, fmt.Errorf("%d: %s: want a file, tests, an old text and another new one", m.line, m.Name)
		}
	}
	return list, nil
}

// add enters one line of an entry.
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
	case "file":
		m.File = rest
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

// apply returns the file with the change, which must fit in exactly one place.
func (m *Mutant) apply(root string) (whole, changed []byte, err error) {
	whole, err = os.ReadFile(filepath.Join(root, filepath.FromSlash(m.File)))
	if err != nil {
		return nil, nil, fmt.Errorf("mutant %q: %w", m.Name, err)
	}
	if n := strings.Count(string(whole), m.Old); n != 1 {
		return nil, nil, fmt.Errorf("mutant %q: its old text occurs %d times in %s, want once: adapt it to the code", m.Name, n, m.File)
	}
	return whole, []byte(strings.Replace(string(whole), m.Old, m.New, 1)), nil
}

// Check reports the entries of a list that do not fit the code below root.
func Check(root string, list []Mutant) (errs []error) {
	for i := range list {
		if _, _, err := list[i].apply(root); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}
