package output

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
)

// TreePlan describes the files that a run writes into a folder: one for each input, with the same
// name and subfolder, or shards of one stream.
type TreePlan struct {
	Dir       string
	Files     []TreeOutput // one for each input; none with shards
	SkipEmpty bool         // omit empty outputs

	// ShardSize is the number of uncompressed bytes after which a new shard begins; 0: no shards.
	ShardSize int64
	Ending    string
	Kind      string // of compression, for shards

	// Enclose returns the enclosure of the nth output; nil: none has one.
	Enclose func(n int) (Enclosure, error)

	// Head returns the bytes before the first record of the nth output; nil: none.
	Head func(n int) ([]byte, error)

	// Early names an output once it is complete and a checkpoint includes it, not at the end of the
	// run. It is for runs that can be continued.
	Early bool
}

// TreeOutput is the output for an input.
type TreeOutput struct {
	Name string // relative to the folder
	Kind string // of compression: "gzip", "zstd", or "" for none
}

// PlanTree plans one output for each of the inputs, which Expand returned for args. Its path is
// that of the input, relative to the deepest folder that contains all inputs. Its compression is
// that of the input, by its first bytes. A compression that cannot be written gets another ending:
// .zst for .bz2, .xz and .lz4, and .warc.gz for the archives in a .wacz.
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
	// No output may collide with a partial file or the lock, nor its partial file with the lock.
	partial := map[string]bool{foldName(treeName + input.PartialSuffix): true, treeName: true}
	for _, name := range names {
		partial[foldName(name+input.PartialSuffix)] = true
	}
	for i, name := range names {
		if partial[foldName(name)] {
			return nil, fmt.Errorf("input %s: the name %s is reserved for unfinished outputs; give the input another name", inputs[i].Name, name)
		}
	}
	return p, nil
}

// PlanShards plans shards of one stream, with the ending and compression of the first input.
func PlanShards(dir string, inputs []input.Input, size int64) (*TreePlan, error) {
	out, err := planned("", inputs[0])
	if err != nil {
		return nil, err
	}
	base := filepath.Base(out.Name)
	short := input.UncompressedName(base)
	ending := filepath.Ext(short) + base[len(short):]
	return &TreePlan{Dir: dir, ShardSize: size, Ending: ending, Kind: out.Kind}, nil
}

func (p *TreePlan) output(n int) TreeOutput {
	if p.ShardSize > 0 {
		return TreeOutput{Name: fmt.Sprintf("shard-%05d%s", n, p.Ending), Kind: p.Kind}
	}
	return p.Files[n]
}

// Digest identifies a plan by its folder, names, compressions and options.
func (p *TreePlan) Digest() (string, error) {
	dir, err := filepath.Abs(p.Dir)
	if err != nil {
		return "", err
	}
	h := xxh3.New()
	_, _ = fmt.Fprintln(h, p.Files) // never fails
	return fmt.Sprintf("%s %016x %v %d%s %s", dir, h.Sum64(), p.SkipEmpty, p.ShardSize, p.Ending, p.Kind), nil
}

// TreeIsAs reports whether the outputs of a plan are in place as recorded by a mark of all of them.
func (p *TreePlan) TreeIsAs(at TreeMark) (bool, error) {
	var found TreeMark
	for n := range at.Begun {
		if p.ShardSize == 0 && n >= len(p.Files) {
			return false, nil
		}
		name := p.output(n).Name
		mark, err := markOf(filepath.Join(p.Dir, name))
		if err != nil {
			return false, err
		}
		found.add(TreeFile{input.StoredName(name), mark})
	}
	return found.Sum == at.Sum, nil
}

// rootOf returns the deepest folder that contains all arguments, or is one of them.
func rootOf(args []string, inputs []input.Input) (string, error) {
	var folders []string
	for _, arg := range args {
		if info, err := os.Stat(arg); err == nil && info.IsDir() {
			folders = append(folders, arg)
		}
	}
	for _, in := range inputs {
		if in.Path == input.Stdin || in.Size < 0 {
			return "", fmt.Errorf("%s is not a file, so its output would have no name: write it with --out", in.Name)
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

// unwritten maps compressions that can only be read to their endings.
var unwritten = map[string]string{"bzip2": ".bz2", "xz": ".xz", "lz4": ".lz4"}

// planned returns the output for an input below root.
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
	head, err := in.Head()
	if err != nil {
		return out, err
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

// Check returns an error if the folder is, contains or lies in an input, as named by args. It also
// rejects other outputs in the folder, and an index and a folder that lie in each other.
func (p *TreePlan) Check(args []string, inputs []input.Input, index string, outputs ...string) error {
	folder := locate(p.Dir)
	if folder.info != nil && !folder.info.IsDir() {
		return fmt.Errorf("%s is a file: --out-dir wants a folder", p.Dir)
	}
	for _, arg := range args {
		if at := locate(arg); at.info != nil && at.info.IsDir() && folder.inside(at) {
			return fmt.Errorf("output folder %s lies in the input %s, so the next run would read its files: choose another place", p.Dir, arg)
		}
	}
	seen := map[string]bool{}
	for _, in := range inputs {
		at := filepath.Dir(in.File())
		if folder.info == nil || seen[at] {
			continue // a missing folder holds nothing
		}
		seen[at] = true
		if locate(in.File()).inside(folder) {
			return fmt.Errorf("input %s lies in the output folder %s: choose another place", in.Name, p.Dir)
		}
	}
	if index != "" {
		if at := locate(index); folder.inside(at) || at.inside(folder) {
			return fmt.Errorf("output folder %s and index directory %s are nested: choose another place", p.Dir, index)
		}
	}
	for _, out := range outputs {
		if out != "" && out != input.Stdin && locate(out).inside(folder) {
			return fmt.Errorf("output %s lies in the output folder %s: choose another place", out, p.Dir)
		}
	}
	return nil
}

// maxPart is the maximum length of a file name in bytes on common file systems.
const maxPart = 255

// CheckTreeNames returns an error if files of a tree, one for each input, cannot coexist: two have
// the same name. Members of archives can also have too long a name, or one name for a file and a
// folder. The names are relative to dir.
func CheckTreeNames(dir string, names []string, inputs []input.Input) error {
	from := make(map[string]string, len(names))
	for i, name := range names {
		key := foldName(filepath.Clean(name))
		if other, twice := from[key]; twice {
			return fmt.Errorf("the inputs %s and %s would have the same output %s: read each in a run of its own, with the same --index, or write one file with --out", other, inputs[i].Name, filepath.Join(dir, name))
		}
		from[key] = inputs[i].Name
	}
	for i, whole := range names {
		if inputs[i].Member == nil {
			continue
		}
		whole = filepath.Clean(whole)
		for name := whole; name != "."; name = filepath.Dir(name) {
			if len(filepath.Base(name)) > maxPart {
				return fmt.Errorf("the input %s has a name too long for a file: write it with --out, or let firstseen report kept list it", inputs[i].Name)
			}
			if other, is := from[foldName(name)]; is && name != whole {
				return fmt.Errorf("the output of %s would be a file, but that of %s needs a folder of this name: write them with --out, or let firstseen report kept list them", other, inputs[i].Name)
			}
		}
	}
	return nil
}

// CheckTreeFolders returns an error if a file of a tree cannot be created below dir: it is in the
// place of a folder, or its folder in the place of a file.
func CheckTreeFolders(dir string, names []string) error {
	seen := map[string]bool{}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a folder, and the tree in %s needs a file of this name: choose another folder", path, dir)
		}
		for up := filepath.Dir(path); !seen[up]; up = filepath.Dir(up) {
			seen[up] = true
			if info, err := os.Stat(up); err == nil && !info.IsDir() {
				return fmt.Errorf("%s is a file, and the tree in %s needs a folder of this name: choose another folder", up, dir)
			}
		}
	}
	return nil
}

// foldName folds names that common file systems of the platform treat as equal.
func foldName(name string) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.ToLower(name)
	}
	return name
}
