package output

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
)

// TreePlan says which files a run writes into a folder: one for each input, of the same
// name and in the same subfolder, or shards of one stream.
type TreePlan struct {
	Dir       string
	Files     []TreeOutput // of each input; none with shards
	SkipEmpty bool         // an output in which nothing would be is not written

	ShardSize int64 // bytes of records, before they are compressed, from which on another shard is begun; 0: no shards
	Ending    string
	Kind      string // of compression, of shards

	// Enclose encloses the nth output; nil: none is.
	Enclose func(n int) (Enclosure, error)

	// Head is what stands in front of the nth output; nil: nothing.
	Head func(n int) ([]byte, error)

	// Early: an output gets its name as soon as it is whole and a checkpoint knows of
	// it, and not at the end of the run. For runs that can be continued.
	Early bool
}

// TreeOutput is the output of an input.
type TreeOutput struct {
	Name string // relative to the folder
	Kind string // of compression: "gzip", "zstd", or "" for none
}

// PlanTree plans one output for each input of args, as Expand has made them. An output has the subfolder
// and the name of its input below the deepest folder that holds all of them. It is compressed like its
// input, by the first bytes of that. An unwritten compression gets another ending: .zst for .bz2, .xz
// and .lz4, and .warc.gz for the archives in a .wacz.
func PlanTree(dir string, args []string, inputs []input.Input) (*TreePlan, error) {
	root, err := rootOf(args, inputs)
	if err != nil {
		return nil, err
	}
	p := &TreePlan{Dir: dir}
	var names []string
	for _, in := range inputs {
		out, err := planned(root, in)
		if err != nil {
			return nil, err
		}
		names = append(names, out.Name)
		p.Files = append(p.Files, out)
	}
	if err := CheckTreeNames(dir, names, inputs); err != nil {
		return nil, err
	}
	return p, p.checkPartials(inputs)
}

// checkPartials refuses outputs with the name of another's partial file, or of the lock.
func (p *TreePlan) checkPartials(inputs []input.Input) error {
	partial := map[string]bool{foldName(treeName + input.PartialSuffix): true}
	for _, f := range p.Files {
		partial[foldName(f.Name+input.PartialSuffix)] = true
	}
	for i, f := range p.Files {
		if partial[foldName(f.Name)] {
			return fmt.Errorf("input %s: a file of the name %s holds an output until it is whole; give the input another name", inputs[i].Name, f.Name)
		}
	}
	return nil
}

// PlanShards plans shards of one stream, of the kind and the compression of the first
// input.
func PlanShards(dir string, inputs []input.Input, size int64) (*TreePlan, error) {
	out, err := planned("", inputs[0])
	if err != nil {
		return nil, err
	}
	base := filepath.Base(out.Name)
	ending := filepath.Ext(input.UncompressedName(base))
	if short := input.UncompressedName(base); short != base {
		ending += base[len(short):]
	}
	return &TreePlan{Dir: dir, ShardSize: size, Ending: ending, Kind: out.Kind}, nil
}

// output is the nth output.
func (p *TreePlan) output(n int) TreeOutput {
	if p.ShardSize > 0 {
		return TreeOutput{Name: fmt.Sprintf("shard-%05d%s", n, p.Ending), Kind: p.Kind}
	}
	return p.Files[n]
}

// Digest identifies a plan by its folder, all names and their encodings.
func (p *TreePlan) Digest() (string, error) {
	dir, err := filepath.Abs(p.Dir)
	if err != nil {
		return "", err
	}
	h := xxh3.New()
	_, _ = fmt.Fprintln(h, p.Files) // never fails
	return fmt.Sprintf("%s %016x %v %d%s %s", dir, h.Sum64(), p.SkipEmpty, p.ShardSize, p.Ending, p.Kind), nil
}

// rootOf returns the deepest folder that holds all arguments. A folder holds its content.
func rootOf(args []string, inputs []input.Input) (string, error) {
	var folders []string
	for _, arg := range args {
		if info, err := os.Stat(arg); err == nil && info.IsDir() {
			folders = append(folders, arg)
		}
	}
	for _, in := range inputs {
		if in.Path == input.Stdin || in.Size < 0 {
			return "", fmt.Errorf("%s is no file, and has no name that its output could have: write it with --out", in.Name)
		}
		folders = append(folders, filepath.Dir(in.File()))
	}
	root := ""
	for i, folder := range folders {
		abs, err := filepath.Abs(folder)
		if err != nil {
			return "", err
		}
		if i == 0 {
			root = abs
		}
		for root != abs && !strings.HasPrefix(abs, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator)) {
			up := filepath.Dir(root)
			if up == root {
				return "", fmt.Errorf("%s and %s have no folder in common: read each in a run of its own, with the same --index", folders[0], folder)
			}
			root = up
		}
	}
	return root, nil
}

// unwritten are the compressions that are read alone, with the endings of their names.
var unwritten = map[string]string{"bzip2": ".bz2", "xz": ".xz", "lz4": ".lz4"}

// planned is the output of an input below a folder.
func planned(root string, in input.Input) (out TreeOutput, err error) {
	name := filepath.Base(in.Path)
	if root != "" {
		abs, err := filepath.Abs(in.Path)
		if err != nil {
			return out, err
		}
		if name, err = filepath.Rel(root, abs); err != nil {
			return out, err
		}
	}
	f, err := in.Open()
	if err != nil {
		return out, err
	}
	defer f.Close() // only read
	head, err := input.HeadOf(f)
	if err != nil {
		return out, fmt.Errorf("reading %s: %w", in.Name, err)
	}
	out = TreeOutput{Name: name, Kind: compress.CompressionOf(head)}
	switch {
	case unwritten[out.Kind] != "":
		out.Name, out.Kind = strings.TrimSuffix(name, unwritten[out.Kind])+".zst", "zstd"
	case strings.HasPrefix(string(head), compress.ZipMagic):
		out.Name, out.Kind = strings.TrimSuffix(strings.TrimSuffix(name, ".wacz"), ".zip")+".warc.gz", "gzip"
	}
	return out, nil
}

// Check refuses a folder that is, holds or lies in one of the inputs, by their given names, and other
// outputs that are a file of it. The checks of [CheckOutputs] hold for the folder, too.
func (p *TreePlan) Check(args []string, inputs []input.Input, index string, outputs ...string) error {
	folder := locate(p.Dir)
	if folder.info != nil && !folder.info.IsDir() {
		return fmt.Errorf("%s is a file: --out-dir wants a folder", p.Dir)
	}
	for _, arg := range args {
		if at := locate(arg); at.info != nil && at.info.IsDir() && folder.inside(at) {
			return fmt.Errorf("output folder %s lies in the input %s, whose files the next run would read: choose another place", p.Dir, arg)
		}
	}
	if err := checkBeside(p.Dir, folder, inputs); err != nil {
		return err
	}
	if index != "" {
		if at := locate(index); folder.inside(at) || at.inside(folder) {
			return fmt.Errorf("output folder %s and index directory %s lie in each other: choose another place", p.Dir, index)
		}
	}
	for _, out := range outputs {
		if out != "" && out != input.Stdin && locate(out).inside(folder) {
			return fmt.Errorf("output %s lies in the output folder %s: choose another place", out, p.Dir)
		}
	}
	return nil
}

// checkBeside refuses an output folder in which an input lies.
func checkBeside(dir string, folder place, inputs []input.Input) error {
	seen := map[string]bool{}
	for _, in := range inputs {
		at := filepath.Dir(in.File())
		if folder.info == nil || seen[at] {
			continue // a missing folder holds nothing
		}
		seen[at] = true
		if locate(in.File()).inside(folder) {
			return fmt.Errorf("input %s lies in the output folder %s: choose another place", in.Name, dir)
		}
	}
	return nil
}
