package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/corpus/input"
)

// CreateTree begins the outputs of a plan. It puts aside the partial files that an earlier
// run has left, see Aside, or removes them if that run's lock is one of the worthless. If
// such a run was naming its outputs, these are replaced. Else an output that exists is an
// error. ErrBusy is the error while another run is writing the folder.
func CreateTree(p *TreePlan, worthless ...FileID) (*Tree, error) {
	t, err := newTree(p)
	if err != nil {
		return nil, fmt.Errorf("creating output: %w", err)
	}
	if t.lock, err = makeLock(p.Dir); err != nil {
		return nil, errors.Join(fmt.Errorf("creating output: %w", err), t.release())
	}
	if err := t.takeOver(worthless); err != nil {
		return nil, errors.Join(err, t.release())
	}
	return t, nil
}

func newTree(p *TreePlan) (t *Tree, err error) {
	t = &Tree{plan: p, total: len(p.Files)}
	if p.ShardSize > 0 {
		t.total = -1
	}
	if err := errors.Join(inTree(p.Dir), makeDir(p.Dir)); err != nil {
		return nil, err
	}
	t.root, err = os.OpenRoot(p.Dir)
	return t, err
}

// takeOver clears the way for the outputs, and makes the lock that of this run.
func (t *Tree) takeOver(worthless []FileID) error {
	id, made := t.lock.claim.ID(), t.lock.token == ""
	again := id != FileID{} && slices.Contains(worthless, id)
	t.over = again && t.lock.naming
	left, err := t.left()
	if err != nil {
		if made {
			err = errors.Join(err, t.lock.remove())
		}
		return err
	}
	for _, name := range left {
		aside, err := clearPartial(filepath.Join(t.plan.Dir, name), again)
		if err != nil {
			return err
		}
		if aside != "" {
			t.aside = append(t.aside, aside)
		}
	}
	if !made && !again { // an index may hold the old lock for worthless
		if err := errors.Join(t.lock.remove(), t.lock.release()); err != nil {
			return err
		}
		if t.lock, err = makeLock(t.plan.Dir); err != nil {
			return err
		}
	}
	t.lock.token, t.lock.naming, t.lock.begun, t.fresh = newToken(), t.over, nil, true
	t.at.Stage = t.lock.token
	return t.lock.note()
}

// left returns the outputs with partial files. A complete output is an error, unless over.
func (t *Tree) left() (left []string, err error) {
	names, err := t.plan.names(t.root)
	for _, name := range names {
		if err := refuseFile(t.root, t.plan.Dir, name); err != nil && !t.over {
			return nil, err
		}
		_, err := t.root.Lstat(name + input.PartialSuffix)
		if err == nil {
			left = append(left, name)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return left, err
}

// names are the names of all outputs. Of shards they are the first, and those with partial
// files.
func (p *TreePlan) names(root *os.Root) (names []string, err error) {
	if p.ShardSize == 0 {
		for _, f := range p.Files {
			names = append(names, f.Name)
		}
		return names, nil
	}
	names = []string{p.output(0).Name}
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		name, partial := strings.CutSuffix(e.Name(), input.PartialSuffix)
		var n int
		if _, err := fmt.Sscanf(name, "shard-%d", &n); err == nil && partial && n > 0 && name == p.output(n).Name {
			names = append(names, name)
		}
	}
	return names, err
}

// refuseFile returns an error if a file of a tree is there, or if a link on the way to it leads out of
// the tree.
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

// OpenTree goes on at a mark that Sync has returned. It is an error if the lock or an
// output is not as it was left.
func OpenTree(p *TreePlan, at TreeMark) (*Tree, error) {
	t, err := newTree(p)
	if err != nil {
		return nil, fmt.Errorf("continuing output: %w", err)
	}
	t.lock, err = takeLock(p.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	t.at = at
	t.at.Done = append([]TreeFile(nil), at.Done...)
	t.sure = len(t.at.Done)
	if err == nil {
		err = t.reopen()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("continuing output: %w", err), t.Abort())
	}
	return t, nil
}

// reopen finds the complete outputs, and opens the incomplete one.
func (t *Tree) reopen() error {
	if t.lock != nil && t.lock.token != t.at.Stage {
		return fmt.Errorf("%s: %w", t.path(treeName), errOtherFile)
	}
	for _, f := range t.at.Done {
		name := filepath.Join(t.plan.Dir, f.Name)
		there, err := Published(t.path(f.Name), f.Mark)
		if err == nil && !there {
			there, err = Published(name, f.Mark)
		}
		if err == nil && !there {
			err = fmt.Errorf("%s: %w", name, errOtherFile)
		}
		if err != nil {
			return err
		}
	}
	if t.at.Open == nil {
		return nil
	}
	return t.open(t.at.Begun-1, t.at.Open.Mark)
}

// openFile opens the partial file of an output, which is made at size 0.
func (t *Tree) openFile(name string, at Mark) (*os.File, error) {
	if err := refuseFile(t.root, t.plan.Dir, name); err != nil && !t.over {
		return nil, err
	}
	partial := name + input.PartialSuffix
	if at.Size > 0 {
		return t.root.OpenFile(partial, os.O_RDWR, 0)
	}
	if err := t.root.MkdirAll(filepath.Dir(partial), 0o777); err != nil {
		return nil, err
	}
	if _, err := t.root.Lstat(partial); err == nil { // of this run, behind its last checkpoint
		if _, err := clearPartial(filepath.Join(t.plan.Dir, name), true); err != nil {
			return nil, err
		}
	}
	return t.root.OpenFile(partial, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
}

// open opens the nth output at a mark.
func (t *Tree) open(n int, at Mark) error {
	if t.lock == nil {
		return fmt.Errorf("%s: %w", t.path(treeName), errOtherFile)
	}
	out := t.plan.output(n)
	if at.Size == 0 {
		if err := t.lock.begin(out.Name); err != nil {
			return err
		}
	}
	f, err := t.openFile(out.Name, at)
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
	w := newWriter(name, &partial{path: name}, f, false, packings[out.Kind])
	w.written, w.tail = at.Size, tail
	if err := t.plan.prepare(w, n); err != nil {
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

// prepare gives the nth output its planned enclosure and head.
func (p *TreePlan) prepare(w *Writer, n int) error {
	if p.Enclose != nil {
		e, err := p.Enclose(n)
		if err == nil {
			err = w.Enclose(e)
		}
		if err != nil {
			return err
		}
	}
	if p.Head == nil {
		return nil
	}
	head, err := p.Head(n)
	if err != nil {
		return err
	}
	return w.Lead(head)
}
