package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// CutTree takes away what the stage of a tree holds behind a mark, if it is the one that
// was marked. It returns the folder where it is the only copy of anything.
func CutTree(dir string, at TreeMark) (left string, err error) {
	s, err := takeStage(dir)
	if errors.Is(err, fs.ErrNotExist) || at.Stage == "" {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("cutting output: %w", err)
	}
	defer func() { err = errors.Join(err, s.release()) }()
	if s.token != at.Stage {
		return "", nil
	}
	known := map[string]Mark{}
	for _, f := range at.Done {
		known[f.Name] = f.Mark
	}
	if at.Open != nil && at.Open.Mark.Size > 0 {
		known[at.Open.Name] = at.Open.Mark
	}
	err = s.each(func(name string, _ fs.DirEntry) error {
		mark, ok := known[name]
		if !ok {
			return os.Remove(s.path(name))
		}
		if mark.Size > 0 {
			left = s.path("")
		}
		return s.cutFile(name, mark)
	})
	return left, err
}

func (s *stage) cutFile(name string, at Mark) error {
	f, err := s.create(name, false)
	if err != nil {
		return err
	}
	_, err = cut(f, at)
	return errors.Join(err, f.Close())
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

// markOf is the mark of a whole file; its size is -1 where there is none.
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
	return mark(info.Size(), tail), nil
}
