package output

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/base/durable"
	"github.com/firstseen/firstseen/internal/base/step"
)

// CreateTree begins the outputs of a plan. Partial files of an earlier run are put aside, see
// Aside, or removed if the lock of that run is among the worthless. If such a run was naming its
// outputs, they are replaced. Any other existing output is an error. CreateTree returns ErrBusy if
// another run is writing the folder.
func CreateTree(p *TreePlan, worthless ...FileID) (*Tree, error) {
	t, err := newTree(p)
	if err != nil {
		return nil, fmt.Errorf("creating output: %w", err)
	}
	if t.lock, err = readLock(makeOrTake(filepath.Join(p.Dir, treeName))); err != nil {
		err = fmt.Errorf("creating output: %w", err)
	} else {
		err = t.takeOver(worthless)
	}
	if err != nil {
		return nil, errors.Join(err, t.release())
	}
	return t, nil
}

func newTree(p *TreePlan) (t *Tree, err error) {
	if err := errors.Join(inTree(p.Dir), makeDir(p.Dir)); err != nil {
		return nil, err
	}
	t = &Tree{TreePlan: p, folders: map[string]bool{".": true}}
	t.root, err = os.OpenRoot(p.Dir)
	return t, err
}

// makeDir creates a folder and its parents, durably.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if up := filepath.Dir(dir); up != dir {
		if err := makeDir(up); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return durable.SyncName(dir)
}

// takeOver clears the way for the outputs, and makes the lock this run's.
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
		aside, err := clearPartial(filepath.Join(t.Dir, name), again)
		if err != nil {
			return err
		}
		if aside != "" {
			t.aside = append(t.aside, aside)
		}
	}
	if !made && !again { // an index may list the old lock as worthless
		if err := errors.Join(t.lock.remove(), t.lock.claim.Release()); err != nil {
			return err
		}
		if t.lock, err = readLock(makeOrTake(filepath.Join(t.Dir, treeName))); err != nil {
			return err
		}
	}
	t.lock.token, t.lock.naming, t.lock.begun = fmt.Sprintf("%016x", rand.Uint64()), t.over, nil
	t.at.Stage, t.fresh = t.lock.token, true
	return t.lock.note()
}

// left returns the outputs with partial files. A complete output is an error, unless t.over is set.
func (t *Tree) left() (left []string, err error) {
	names, err := t.names(t.root)
	for _, name := range names {
		if err := t.refuse(name); err != nil {
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

// names returns the names of all outputs or, of shards, the first and those with partial files.
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

// refuse returns an error if an output exists, unless t.over is set, or if a link in its path leads
// out of the tree.
func (t *Tree) refuse(name string) error {
	path := filepath.Join(t.Dir, name)
	_, err := t.root.Lstat(name)
	_, outside := os.Lstat(path)
	switch {
	case t.over, errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil:
		return fmt.Errorf("output %s already exists, and may be the only copy of its content: choose another --out-dir, or move it away", path)
	case outside == nil || errors.Is(outside, fs.ErrNotExist): // reachable, but not inside the root
		return fmt.Errorf("output %s: a link in its path leads out of %s, and nothing is written there: choose another --out-dir, or remove the link", path, t.Dir)
	}
	return fmt.Errorf("creating output: %w", err)
}

// OpenTree continues at a mark from Sync. It fails if the lock or an output does not match.
func OpenTree(p *TreePlan, at TreeMark) (*Tree, error) {
	t, err := newTree(p)
	if err != nil {
		return nil, fmt.Errorf("continuing output: %w", err)
	}
	t.at, t.sure = at, len(at.Done)
	t.at.Done = slices.Clip(at.Done)
	t.lock, err = readLock(take(filepath.Join(p.Dir, treeName)))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = t.reopen()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("continuing output: %w", err), t.Abort())
	}
	return t, nil
}

// reopen verifies the complete outputs, and opens the incomplete one.
func (t *Tree) reopen() error {
	if t.lock.claim != nil && t.lock.token != t.at.Stage {
		return fmt.Errorf("%s: %w", t.partial(treeName), errOtherFile)
	}
	for _, f := range t.at.Done {
		name := filepath.Join(t.Dir, string(f.Name))
		there, err := Published(t.partial(string(f.Name)), f.Mark)
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

func (t *Tree) partial(name string) string { return filepath.Join(t.Dir, name+input.PartialSuffix) }

func (t *Tree) open(n int, at Mark) error {
	if t.lock.claim == nil {
		return fmt.Errorf("%s: %w", t.partial(treeName), errOtherFile)
	}
	out := t.output(n)
	f, err := t.openFile(out.Name, at)
	if err != nil {
		return err
	}
	name := filepath.Join(t.Dir, out.Name)
	w := newWriter(name, partial{path: name}, f, false, packings[out.Kind])
	w.written = at.Size
	if err := t.prepare(w, n); err != nil {
		return errors.Join(err, w.stop())
	}
	t.current = w
	t.at.Open = &TreeFile{input.StoredName(out.Name), at}
	return nil
}

// openFile opens the partial file of an output, truncated to a mark. At size 0 it creates the file.
func (t *Tree) openFile(name string, at Mark) (f *os.File, err error) {
	if err := t.refuse(name); err != nil {
		return nil, err
	}
	partial := name + input.PartialSuffix
	if at.Size > 0 {
		if f, err = t.root.OpenFile(partial, os.O_RDWR, 0); err != nil {
			return nil, err
		}
		if err := cut(f, at); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return f, nil
	}
	if err := t.lock.begin(name); err != nil {
		return nil, err
	}
	if err := t.root.MkdirAll(filepath.Dir(partial), 0o777); err != nil {
		return nil, err
	}
	if _, err := t.root.Lstat(partial); err == nil { // of this run, after its last checkpoint
		if _, err := clearPartial(filepath.Join(t.Dir, name), true); err != nil {
			return nil, err
		}
	}
	f, err = t.root.OpenFile(partial, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	t.named(name)
	return f, err
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

// drop removes an output's partial file, and folders that become empty.
func (t *Tree) drop(name string) error {
	if err := t.root.Remove(name + input.PartialSuffix); err != nil {
		return err
	}
	for folder := filepath.Dir(name); folder != "." && t.root.Remove(folder) == nil; {
		folder = filepath.Dir(folder)
	}
	return nil
}

// syncing is the number of files synced at a time.
const syncing = 16

// syncDone syncs the complete outputs. Most are small, so syncing many at a time is far faster.
func (t *Tree) syncDone() error {
	var all errgroup.Group
	all.SetLimit(syncing)
	for _, f := range t.at.Done[t.sure:] {
		all.Go(func() error {
			file, err := os.OpenFile(t.partial(string(f.Name)), os.O_RDWR, 0)
			if err != nil {
				return err
			}
			return errors.Join(file.Sync(), file.Close())
		})
	}
	return all.Wait()
}

// publish gives the first n complete outputs their names, unless they already have them.
func (t *Tree) publish(n int) error {
	for _, f := range t.at.Done[:n] {
		if err := t.publishOne(string(f.Name), f.Mark.Size); err != nil {
			return err
		}
		t.named(string(f.Name))
	}
	t.at.Done = t.at.Done[n:]
	t.sure = max(t.sure-n, 0)
	return nil
}

// named records a file as new under its name, in folders that may be new themselves.
func (t *Tree) named(name string) {
	for ; name != "."; name = filepath.Dir(name) {
		t.folders[filepath.Dir(name)] = true
	}
}

// syncFolders makes all new names durable, with one sync for each folder.
func (t *Tree) syncFolders() error {
	var all errgroup.Group
	all.SetLimit(syncing)
	for folder := range t.folders {
		all.Go(func() error {
			err := durable.SyncName(filepath.Join(t.Dir, folder, treeName))
			if errors.Is(err, fs.ErrNotExist) {
				return nil // only an empty output that is left out was there
			}
			return err
		})
	}
	err := all.Wait()
	if err == nil {
		clear(t.folders)
	}
	return err
}

func (t *Tree) publishOne(name string, size int64) error {
	info, err := t.root.Lstat(name + input.PartialSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // already named: OpenTree verified it
	}
	if err := cmp.Or(t.refuse(name), err); err != nil {
		return err
	}
	if info.Size() != size {
		return fmt.Errorf("%s: %w", t.partial(name), errOtherFile)
	}
	if err := t.root.Rename(name+input.PartialSuffix, name); err != nil {
		return err
	}
	return step.Done("placed output")
}
