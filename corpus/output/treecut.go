package output

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firstseen/firstseen/corpus/input"
)

// CutTree is [CutPartial] for the outputs of a tree without names yet. It returns the partial files with
// the content known to the mark. Outputs begun later are removed, if all others are as the mark has
// them: another run over the same inputs writes them again.
func CutTree(dir string, at TreeMark) (left []string, err error) {
	files := at.Done
	if at.Open != nil {
		files = append(files[:len(files):len(files)], *at.Open)
	}
	known := map[string]bool{}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		there, err := CutPartial(path, f.Mark)
		if err == nil && !there {
			known[f.Name], err = Published(path, f.Mark)
		}
		if err != nil {
			return left, err
		}
		if there {
			known[f.Name] = true
			left = append(left, path+input.PartialSuffix)
		}
	}
	for _, as := range known {
		if !as {
			return left, nil
		}
	}
	return left, dropLater(dir, at.Stage, known)
}

// dropLater removes the partial files of outputs that the run of a token has begun, except the known.
func dropLater(dir, token string, known map[string]bool) error {
	lock, err := takeLock(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || lock.token != token {
		return errors.Join(err, lock.release())
	}
	for _, name := range lock.begun {
		path := filepath.Join(dir, name)
		if _, statErr := os.Lstat(path + input.PartialSuffix); statErr != nil || known[name] {
			continue
		}
		if _, err = clearPartial(path, true); err != nil {
			break
		}
	}
	return errors.Join(err, lock.release())
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
	tail, err := tailOf(f, info.Size())
	return newMark(info.Size(), tail), err
}
