package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/page"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/report/clusters"
	"github.com/firstseen/firstseen/internal/report/derive"
	"github.com/firstseen/firstseen/internal/report/lines"
)

// derived holds the flags for files made from a finished report. Any process that finds the run
// finished makes them whole. So none is ever continued, and they are the same at any time.
type derived struct {
	clusters, pairs string
	links           clusters.Links
	attributes      string
	keptFiles       string
}

// register registers flags of earlier versions: firstseen report makes these files now.
func (d *derived) register(fs *pflag.FlagSet) {
	fs.StringVar(&d.clusters, "clusters", "", "write the clusters of documents here")
	fs.StringVar(&d.pairs, "pairs", "", "write pairs here: each document with the one that it repeats")
	registerLinks(fs, &d.links)
	fs.StringVar(&d.attributes, "attributes", "", "write a tree of attributes here")
	fs.StringVar(&d.keptFiles, "kept-files", "", "write the names of the kept files here")
	hide(fs, "clusters", "pairs", "links", "attributes", "kept-files")
}

// reads reports whether anything is made from the report, and again whether that reads the inputs.
func (d *derived) reads() (report, again bool) {
	again = d.attributes != "" || d.keptFiles != ""
	return again || d.clusters != "" || d.pairs != "", again
}

// isKept reports whether the output of that name is a file, which can be read again.
func isKept(name string) bool {
	if name == "" || name == input.Stdin {
		return false
	}
	info, err := os.Stat(name)
	return err != nil || info.Mode().IsRegular()
}

// names returns the files to make, and for each tree one file in it; "" for unrequested ones.
func (d *derived) names() []string {
	names := []string{d.clusters, d.pairs, d.keptFiles}
	if d.attributes != "" {
		names = append(names, filepath.Join(d.attributes, "x"))
	}
	return names
}

// checkDerived refuses files that would overwrite something, or cannot be made from these inputs.
func (f *options) checkDerived() error {
	d := &f.derived
	reads, again := d.reads()
	if !reads {
		return nil
	}
	for _, name := range []string{d.clusters, d.pairs, d.keptFiles} { // now, and not when the run is over
		if name == "" || name == input.Stdin {
			continue
		}
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			return fmt.Errorf("output %s is a directory: give the name of a file", name)
		}
		if err := output.NoFolder(name); err != nil {
			return fmt.Errorf("output %w", err)
		}
	}
	if !again {
		return nil
	}
	if f.ReadsPipe() {
		return errors.New("--attributes and --kept-files read the inputs a second time, and one of them is a pipe: give files")
	}
	if !isPage(f.found) && d.keptFiles != "" {
		return fmt.Errorf("--kept-files: %w", errNotPages)
	}
	if err := derive.CheckNames(f.Inputs); err != nil {
		return err
	}
	var err error
	f.names, err = attributeNames(d.attributes, f.Args, f.Inputs)
	return err
}

var errNotPages = errors.New("a list of kept files needs inputs that are a document each, such as pages or texts (--format): from these inputs, dedup --out writes the kept records")

func isPage(format corpus.Format) bool {
	_, one := format.(page.Format)
	return one
}

// treeNames returns the names of inputs in a tree of outputs: their path in a given folder, else
// their name. Equal names are an error.
func treeNames(args []string, inputs []input.Input) ([]string, error) {
	args, _, err := readLists(args)
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

// attributeNames returns the names of inputs in a tree of attributes. It refuses a tree that would
// overwrite an input, or cannot be made.
func attributeNames(dir string, args []string, inputs []input.Input) ([]string, error) {
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
		attributes[i] = derive.AttributesName(name)
		if to := filepath.Join(dir, attributes[i]); read[path(to)] {
			return nil, fmt.Errorf("%s is an input, and the tree in %s would overwrite it: choose another folder", to, dir)
		}
	}
	if err := output.CheckTreeNames(dir, attributes, inputs); err != nil {
		return nil, err
	}
	return names, output.CheckTreeFolders(dir, attributes)
}

// derive makes the files derived from the whole report. ended is the error of the run.
func (f *options) derive(cmd *cobra.Command, ended error) error {
	reads, again := f.derived.reads()
	if !reads || !f.whole {
		return ended
	}
	part := errors.Is(ended, index.ErrFull) // only part of the inputs is in the report
	if again && part {
		ended = fmt.Errorf("%w; --attributes and --kept-files need all inputs judged, and were not made", ended)
	}
	if os.Getenv("GOMEMLIMIT") == "" { // the index is closed, and its memory is free
		debug.SetMemoryLimit(math.MaxInt64)
	}
	d := &f.derived
	report, err := lines.Open([]string{f.Report}, nil)
	if err != nil {
		return errors.Join(err, ended)
	}
	if d.clusters != "" {
		err = writeClusters(cmd, report, d.clusters, d.links, 2)
	}
	if err == nil && d.pairs != "" {
		err = writePairs(cmd, report, d.pairs)
	}
	if err == nil && d.attributes != "" && !part {
		err = writeAttributes(cmd, f, f.names, report, d.attributes)
	}
	if err == nil && d.keptFiles != "" && !part {
		_, err = writeKept(cmd, f, report, d.keptFiles)
	}
	if errors.Is(err, context.Canceled) {
		err = errInterrupted
	}
	if err != nil {
		return errors.Join(ended, fmt.Errorf("the run is over, but the files from its report are incomplete; run the same command again to make them: %w", err))
	}
	return ended
}
