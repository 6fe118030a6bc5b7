package derive

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// Kept writes the names of the kept files of inputs, or of the removed ones. Each file has one
// document or none. It calls check with each record, which reports whether it is good.
func Kept(ctx context.Context, source *corpus.Source, inputs []input.Input, all *lines.Reports, removed bool, names io.Writer, check func(corpus.Record, error) (bool, error)) error {
	// A file given twice, also by its folder, is its own copy: it is removed if removed each time.
	given := map[string]int{}
	for _, in := range inputs {
		given[filepath.Clean(in.Path)]++
	}
	for r, err := range Records(ctx, source, all) {
		good, err := check(r.Record, err)
		if err != nil {
			return err
		}
		if !good || removed != (r.Line != nil && !r.Line.Kept) {
			continue
		}
		path := inputs[r.Block.Input].Path
		file := filepath.Clean(path)
		if given[file]--; removed && given[file] > 0 {
			continue
		}
		if strings.Contains(path, "\n") {
			return fmt.Errorf("the list has one name a line, and %q contains a line break: rename that file and run firstseen dedup again", path)
		}
		if _, err := fmt.Fprintln(names, path); err != nil {
			return err
		}
	}
	return nil
}

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
