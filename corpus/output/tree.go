package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/base/step"
)

// Tree writes the outputs of a [TreePlan] one at a time, in order. Use it from one goroutine only.
//
// An output is written as NAME.partial and gets its name when it is complete, see Sync. The file
// firstseen.partial in the folder is locked until all outputs have their names. Partial files of
// another run are put aside. No complete file is replaced.
type Tree struct {
	*TreePlan
	root    *os.Root // the folder; no link leads an output out of it
	lock    treeLock // without a claim: all outputs have their names
	fresh   bool     // no mark includes this run
	over    bool     // complete outputs are worthless
	aside   []string
	at      TreeMark
	folders map[string]bool // with names that may not be durable, relative to the root
	sure    int             // the first of at.Done: they are on disk, and the last Sync returned them
	done    bool
	result  error // of Close

	current *Writer
}

// TreeMark records how far a tree was written.
type TreeMark struct {
	Stage string     `json:"stage"` // the token of this run
	Begun int        `json:"begun"` // number of outputs begun
	Open  *TreeFile  `json:"open,omitempty"`
	Fill  int64      `json:"fill,omitempty"` // bytes of records in the open shard
	Done  []TreeFile `json:"done,omitempty"` // complete, perhaps without their names
	Sum   uint64     `json:"sum"`            // of all complete outputs, in order
}

// TreeFile is an output of a tree, with its mark.
type TreeFile struct {
	Name input.StoredName `json:"name"` // relative to the folder
	Mark Mark             `json:"mark"`
}

// add adds a complete output to the sum. An omitted one has a negative size.
func (m *TreeMark) add(f TreeFile) {
	m.Sum = AddRecord(m.Sum, xxh3.HashString(fmt.Sprintf("%s %d %x", filepath.ToSlash(string(f.Name)), f.Mark.Size, f.Mark.Tail)))
}

// Turn completes earlier outputs and returns the nth or, with shards, the open or the first shard.
func (t *Tree) Turn(n int) (*Writer, error) {
	if t.ShardSize > 0 {
		n = max(t.at.Begun-1, 0)
	}
	for t.at.Begun <= n {
		if err := t.begin(); err != nil {
			return nil, err
		}
	}
	if t.current == nil || t.at.Begun != n+1 {
		return nil, fmt.Errorf("writing %s: its turn is over", filepath.Join(t.Dir, t.output(n).Name))
	}
	return t.current, nil
}

func (t *Tree) begin() error {
	if err := t.end(); err != nil {
		return err
	}
	if err := t.open(t.at.Begun, Mark{}); err != nil {
		return fmt.Errorf("creating output: %w", err)
	}
	t.at.Begun++
	t.at.Fill = 0
	return nil
}

// end completes the open output.
func (t *Tree) end() error {
	w := t.current
	if w == nil {
		return nil
	}
	f := TreeFile{Name: t.at.Open.Name}
	mark, err := w.EndFrame()
	skip := err == nil && mark.Size == 0 && t.SkipEmpty
	if err == nil && !skip {
		mark, err = w.Seal()
	}
	err = errors.Join(err, w.stop())
	t.current, t.at.Open = nil, nil
	if err != nil {
		return err
	}
	if skip {
		f.Mark.Size = -1
		t.at.add(f)
		return t.drop(string(f.Name))
	}
	f.Mark = mark
	t.at.add(f)
	t.at.Done = append(t.at.Done, f)
	return nil
}

// Shard returns the output for a record of this size, and counts the record if there are shards. Turn
// comes first.
func (t *Tree) Shard(record int) (*Writer, error) {
	if t.ShardSize > 0 {
		if t.at.Fill >= t.ShardSize {
			if err := t.begin(); err != nil {
				return nil, err
			}
		}
		t.at.Fill += int64(record)
	}
	return t.current, nil
}

// Waiting returns the number of complete outputs without names.
func (t *Tree) Waiting() int { return len(t.at.Done) }

// End creates the remaining outputs, which are empty, since all inputs are read.
func (t *Tree) End() error {
	if t == nil {
		return nil
	}
	for t.at.Begun < len(t.Files) {
		if err := t.begin(); err != nil {
			return err
		}
	}
	return t.end()
}

// Sync syncs the outputs to disk and returns how far they are written. With Early, it first names
// the outputs returned by the previous Sync, since a checkpoint has stored them.
func (t *Tree) Sync() (at TreeMark, err error) {
	if t.Early {
		if err := t.publish(t.sure); err != nil {
			return at, err
		}
	}
	if t.current != nil {
		mark, err := t.current.EndFrame()
		if err == nil {
			err = t.current.file.Sync()
		}
		if err != nil {
			return at, err
		}
		t.at.Open = &TreeFile{t.at.Open.Name, mark} // returned marks must not change
	}
	if err := errors.Join(t.syncDone(), t.syncFolders()); err != nil {
		return at, err
	}
	t.sure, t.fresh = len(t.at.Done), false
	return t.at, nil
}

// Close gives all outputs their names. Further calls return the same result.
func (t *Tree) Close() error {
	if t == nil {
		return nil
	}
	if !t.done {
		t.done = true
		if t.result = errors.Join(t.finish(), t.release()); t.result != nil {
			t.result = fmt.Errorf("finishing output: %w", t.result)
		}
	}
	return t.result
}

func (t *Tree) finish() error {
	if err := t.end(); err != nil {
		return err
	}
	if err := t.syncDone(); err != nil {
		return err
	}
	if err := step.Done("closed tree"); err != nil {
		return err
	}
	if !t.Early {
		t.lock.naming = true
		if err := t.lock.note(); err != nil {
			return err
		}
	}
	if err := t.publish(len(t.at.Done)); err != nil {
		return err
	}
	if err := t.syncFolders(); err != nil {
		return err
	}
	return t.lock.remove()
}

// Abort abandons the outputs without names. Their partial files stay, unless all are empty and no
// mark includes them.
func (t *Tree) Abort() (err error) {
	if t == nil || t.done {
		return nil
	}
	t.done, t.result = true, fmt.Errorf("writing %s: given up", t.Dir)
	if t.current != nil {
		err = t.current.stop()
	}
	if t.fresh {
		err = errors.Join(err, t.discard())
	}
	return errors.Join(err, t.release())
}

// discard removes the partial files and the lock if nothing was written.
func (t *Tree) discard() error {
	for _, name := range t.lock.begun {
		if info, err := t.root.Lstat(name + input.PartialSuffix); err == nil && info.Size() > 0 {
			return nil
		}
	}
	for _, name := range t.lock.begun {
		if err := t.drop(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return t.lock.remove()
}

func (t *Tree) release() error { return errors.Join(t.lock.claim.Release(), t.root.Close()) }

// Aside returns the names under which CreateTree put aside partial files of an earlier run.
func (t *Tree) Aside() []string { return t.aside }

// ID identifies this run's lock. It is zero on file systems without identities.
func (t *Tree) ID() FileID {
	if t.lock.claim == nil {
		return FileID{}
	}
	return t.lock.claim.ID()
}
