package derive

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
)

// treeNames returns the names of inputs in a tree of outputs: their path in a given folder, else
// their name. Equal names are an error.
func treeNames(args []string, inputs []input.Input) ([]string, error) {
	args, _, err := input.ReadLists(args)
	if err != nil {
		return nil, err
	}
	var roots []string
	for _, arg := range args {
		matches := []string{arg}
		if _, err := os.Stat(arg); err != nil {
			matches, _ = filepath.Glob(arg) // it was a pattern
		}
		for _, m := range matches {
			if info, err := os.Stat(m); err == nil && info.IsDir() {
				roots = append(roots, m)
			}
		}
	}
	names := make([]string, len(inputs))
	whose := map[string]string{}
	for i, in := range inputs {
		file := in.File() // the archive, for its members
		names[i] = filepath.Base(file) + in.Path[len(file):]
		for _, root := range roots {
			if inside, err := filepath.Rel(root, in.Path); err == nil && filepath.IsLocal(inside) {
				names[i] = inside
				break
			}
		}
		if other, twice := whose[names[i]]; twice {
			return nil, fmt.Errorf("%s and %s would have the same name in the tree, %s: give the folder that holds both", other, in.Path, names[i])
		}
		whose[names[i]] = in.Path
	}
	return names, nil
}

// AttributeNames returns the names of inputs in a tree of attributes. It refuses a tree that would
// overwrite an input, or cannot be made.
func AttributeNames(dir string, args []string, inputs []input.Input) ([]string, error) {
	names, err := treeNames(args, inputs)
	if err != nil || dir == "" {
		return names, err
	}
	real := map[string]string{} // real paths of folders
	path := func(name string) string {
		folder, base := filepath.Split(name)
		if _, known := real[folder]; !known {
			real[folder], _ = filepath.EvalSymlinks(cmp.Or(folder, "."))
			if abs, err := filepath.Abs(real[folder]); err == nil && real[folder] != "" {
				real[folder] = abs
			}
		}
		return filepath.Join(real[folder], base)
	}
	read := map[string]bool{}
	for _, in := range inputs {
		read[path(in.File())] = true
	}
	attributes := make([]string, len(names))
	for i, name := range names {
		attributes[i] = AttributesName(name)
		if to := filepath.Join(dir, attributes[i]); read[path(to)] {
			return nil, fmt.Errorf("%s is an input, and the tree in %s would overwrite it: choose another folder", to, dir)
		}
	}
	if err := output.CheckTreeNames(dir, attributes, inputs); err != nil {
		return nil, err
	}
	return names, output.CheckTreeFolders(dir, attributes)
}
