package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// CreateTree begins the outputs of a plan. What an earlier run has left in the folder is
// put aside, see Aside, or removed if it is one of those that are worth nothing; files
// that such a run was giving their places are then replaced. Else an output that is there
// already is an error. ErrBusy says that another run is writing the folder.
func CreateTree(p *TreePlan, worthless ...FileID) (*Tree, error) {
	refused := p.refusePresent()
	s, err := newStage(p.Dir, refused, worthless)
	switch {
	case refused != nil && err != nil:
		return nil, refused
	case err != nil:
		return nil, fmt.Errorf("creating output: %w", err)
	}
	t := newTree(p, s)
	t.over = s.again
	t.at.Stage = s.token
	if !t.over {
		err = refused
	}
	if err != nil {
		return nil, errors.Join(err, t.Abort())
	}
	return t, nil
}

func newTree(p *TreePlan, s *stage) *Tree {
	t := &Tree{plan: p, stage: s, total: len(p.Files)}
	if p.ShardSize > 0 {
		t.total = -1
	}
	return t
}

// refusePresent is an error where one of the outputs is there.
func (p *TreePlan) refusePresent() error {
	root, err := os.OpenRoot(p.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("creating output: %w", err)
	}
	defer root.Close() // only read
	names := p.Files
	if p.ShardSize > 0 {
		names = []TreeOutput{p.output(0)}
	}
	for _, f := range names {
		if err := refuseFile(root, p.Dir, f.Name); err != nil {
			return err
		}
	}
	return nil
}

// refuseFile is an error where a file of a tree is there, or a link on the way to it leads
// out of the tree.
func refuseFile(root *os.Root, dir, name string) error {
	path := filepath.Join(dir, name)
	_, err := root.Lstat(name)
	_, outside := os.Lstat(path)
	switch {
	case err == nil:
		return fmt.Errorf("output %s is there already, and may be the only copy of what it holds: choose another --out-dir, or move it away", path)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case outside == nil || errors.Is(outside, fs.ErrNotExist): // it can be reached, but not within
		return fmt.Errorf("output %s: a link in it leads out of %s, where nothing is written: choose another --out-dir, or remove the link", path, dir)
	}
	return fmt.Errorf("creating output: %w", err)
}

// OpenTree goes on at a mark that Sync has returned. It is an error where the folder or
// an output is not as it was left.
func OpenTree(p *TreePlan, at TreeMark) (*Tree, error) {
	s, err := takeStage(p.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		s = &stage{dir: p.Dir} // all had its place
		s.root, err = os.OpenRoot(p.Dir)
	}
	if err != nil {
		return nil, fmt.Errorf("continuing output: %w", err)
	}
	if s.claim != nil && s.token != at.Stage {
		return nil, errors.Join(fmt.Errorf("continuing output: %s: %w", s.path(""), errOtherFile), s.release())
	}
	t := newTree(p, s)
	t.at = at
	t.at.Done = append([]TreeFile(nil), at.Done...)
	t.sure, t.synced = len(t.at.Done), len(t.at.Done)
	if err := t.reopen(); err != nil {
		return nil, errors.Join(fmt.Errorf("continuing output: %w", err), t.Abort())
	}
	return t, nil
}

// reopen finds the outputs that are whole, and opens the one that is not.
func (t *Tree) reopen() error {
	for _, f := range t.at.Done {
		if there, err := t.stage.holds(f); err != nil || there {
			if err != nil {
				return err
			}
			continue
		}
		if there, err := Published(filepath.Join(t.plan.Dir, f.Name), f.Mark); err != nil || !there {
			return errors.Join(err, fmt.Errorf("%s: %w", filepath.Join(t.plan.Dir, f.Name), errOtherFile))
		}
	}
	if t.at.Open == nil {
		return nil
	}
	f := *t.at.Open
	if t.stage.claim == nil {
		return fmt.Errorf("%s: %w", t.stage.path(f.Name), errOtherFile)
	}
	return t.open(t.at.Begun-1, f.Mark)
}

// open opens the nth output in the stage, at a mark.
func (t *Tree) open(n int, at Mark) error {
	out := t.plan.output(n)
	f, err := t.stage.create(out.Name, at.Size == 0)
	if err != nil {
		return err
	}
	var tail []byte
	if at.Size > 0 {
		if tail, err = cut(f, at); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	name := filepath.Join(t.plan.Dir, out.Name)
	w := openKind(out.Kind)(name, &partial{path: name}, f, false)
	w.written, w.tail = at.Size, tail
	if err := errors.Join(t.plan.enclose(w, n), t.plan.lead(w, n)); err != nil {
		return errors.Join(err, w.stop())
	}
	if t.used != nil {
		w.inherit(t.used)
		t.used = nil
	}
	t.current = w
	t.at.Open = &TreeFile{Name: out.Name, Mark: at}
	return nil
}

// enclose has an output that was opened be enclosed, if that is planned.
func (p *TreePlan) enclose(w *Writer, n int) error {
	if p.Enclose == nil {
		return nil
	}
	e, err := p.Enclose(n)
	if err != nil {
		return err
	}
	return w.Enclose(e)
}

// lead has an output that was opened begin with what is planned.
func (p *TreePlan) lead(w *Writer, n int) error {
	if p.Head == nil {
		return nil
	}
	head, err := p.Head(n)
	if err != nil {
		return err
	}
	return w.Lead(head)
}
