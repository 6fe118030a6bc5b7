package output

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firstseen/firstseen/corpus/input"
)

// CutTree is [CutPartial] for the outputs of a tree without names yet. It returns the partial files with
// the content known to the mark.
func CutTree(dir string, at TreeMark) (left []string, err error) {
	files := at.Done
	if at.Open != nil {
		files = append(files[:len(files):len(files)], *at.Open)
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		there, err := CutPartial(path, f.Mark)
		if err != nil {
			return left, err
		}
		if there {
			left = append(left, path+input.PartialSuffix)
		}
	}
	return left, nil
}

// TreeIsAs reports whether the outputs of a plan are in their places as a mark has them
// that knows of all.
func (p *TreePlan) TreeIsAs(at TreeMark) (bool, error) {
	var found TreeMark
	for n := range at.Begun {
		if p.ShardSize == 0 && n >= len(p.Files) {
			return false, nil
		}
		f := TreeFile{Name: p.output(n).Name}
		mark, err := markOf(filepath.Join(p.Dir, f.Name))
		if err != nil {
			return false, err
		}
		f.Mark = mark
		found.add(f)
	}
	return found.Sum == at.Sum, nil
}

// markOf returns the mark of a complete file. The size of a missing one is -1.
func markOf(path string) (Mark, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Mark{Size: -1}, nil
	}
	if err != nil {
		return Mark{}, err
	}
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return Mark{}, err
	}
	tail := make([]byte, min(info.Size(), tailSize))
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil && len(tail) > 0 {
		return Mark{}, err
	}
	return newMark(info.Size(), tail), nil
}
