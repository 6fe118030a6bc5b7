package output

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/internal/step"
)

// Tree writes the outputs of a [TreePlan], one after the other. One output is open at a
// time. A Tree is for one goroutine.
//
// An output is written as NAME.partial, like any other, and gets its name when it is whole,
// see Sync. The file firstseen.partial of the tree is locked until all have their names.
// The partial files that another run has left are put aside. No whole file is replaced.
type Tree struct {
	plan   *TreePlan
	root   *os.Root  // the folder: no link leads an output out of it
	lock   *treeLock // nil: all outputs have their names
	fresh  bool      // no mark knows of this run
	over   bool      // outputs that have their names are worth nothing
	aside  []string
	at     TreeMark
	sure   int // the first of at.Done: they are on the disk, and the last Sync returned them
	total  int // outputs in all; -1 for shards
	done   bool
	result error // of Close

	current *Writer
	used    *Writer // is closed; its memory is used again
}

// TreeMark is how far a tree was written.
type TreeMark struct {
	Stage string     `json:"stage"` // the token of this run
	Begun int        `json:"begun"` // outputs so far
	Open  *TreeFile  `json:"open,omitempty"`
	Fill  int64      `json:"fill,omitempty"` // bytes of records in the open shard
	Done  []TreeFile `json:"done,omitempty"` // whole, perhaps without their names
	Sum   uint64     `json:"sum"`            // of all whole outputs, in their order
}

// TreeFile is an output of a tree, and how far it was written.
type TreeFile struct {
	Name string `json:"name"` // relative to the folder
	Mark Mark   `json:"mark"`
}

// add counts a complete output. An unwritten one has a size below 0.
func (m *TreeMark) add(f TreeFile) {
	m.Sum = AddRecord(m.Sum, xxh3.HashString(fmt.Sprintf("%s %d %x", filepath.ToSlash(f.Name), f.Mark.Size, f.Mark.Tail)))
}

// Turn returns the output of an input, by its number; those before it are complete then. With shards it
// is the open one, or the first.
func (t *Tree) Turn(input int) (*Writer, error) {
	if t.plan.ShardSize > 0 {
		input = max(t.at.Begun-1, 0)
	}
	for t.at.Begun <= input {
		if err := t.begin(); err != nil {
			return nil, err
		}
	}
	if t.current == nil || t.at.Begun != input+1 {
		return nil, fmt.Errorf("writing %s: its turn is over", filepath.Join(t.plan.Dir, t.plan.output(input).Name))
	}
	return t.current, nil
}

// begin ends the open output and begins the next.
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

// end makes the open output whole.
func (t *Tree) end() error {
	w := t.current
	if w == nil {
		return nil
	}
	f := *t.at.Open
	mark, err := w.EndFrame()
	skip := err == nil && mark.Size == 0 && t.plan.SkipEmpty
	if err == nil && !skip {
		mark, err = w.Seal()
	}
	err = errors.Join(err, w.stop())
	t.current, t.used, t.at.Open = nil, w, nil
	if err != nil {
		return err
	}
	if skip {
		t.at.add(TreeFile{f.Name, Mark{Size: -1}})
		return t.drop(f.Name)
	}
	f.Mark = mark
	t.at.add(f)
	t.at.Done = append(t.at.Done, f)
	return nil
}

// Full reports whether a record of this size belongs in another shard than the open one. It counts the
// record.
func (t *Tree) Full(record int) bool {
	if t == nil || t.plan.ShardSize == 0 {
		return false
	}
	full := t.at.Fill >= t.plan.ShardSize
	if full {
		t.at.Fill = 0
	}
	t.at.Fill += int64(record)
	return full
}

// NextShard ends the open shard and begins another.
func (t *Tree) NextShard() (*Writer, error) {
	fill := t.at.Fill
	if err := t.begin(); err != nil {
		return nil, err
	}
	t.at.Fill = fill
	return t.current, nil
}

// Early reports whether outputs get their names before the run is done.
func (t *Tree) Early() bool { return t.plan.Early }

// Waiting is how many whole outputs have no names yet.
func (t *Tree) Waiting() int { return len(t.at.Done) }

// End makes all outputs that are left, in which nothing is: all inputs are read.
func (t *Tree) End() error {
	if t == nil {
		return nil
	}
	for t.at.Begun < t.total {
		if err := t.begin(); err != nil {
			return err
		}
	}
	return t.end()
}

// Sync brings the outputs to the disk and returns how far they are written. With Early,
// it first names the outputs that the Sync before it returned: by now a checkpoint has
// stored them.
func (t *Tree) Sync() (at TreeMark, err error) {
	if t.plan.Early {
		if err := t.publish(t.sure); err != nil {
			return at, err
		}
	}
	if t.current != nil {
		if t.at.Open.Mark, err = t.current.EndFrame(); err == nil {
			err = t.current.file.Sync()
		}
		if err != nil {
			return at, err
		}
	}
	if err := t.syncDone(); err != nil {
		return at, err
	}
	t.sure, t.fresh = len(t.at.Done), false
	at = t.at
	at.Done = append([]TreeFile(nil), t.at.Done...)
	if at.Open != nil {
		open := *at.Open
		at.Open = &open
	}
	return at, nil
}

// Close gives all outputs their names. Called again it returns the same.
func (t *Tree) Close() error {
	if t == nil || t.done {
		return t.err()
	}
	t.done = true
	err := t.end()
	if err == nil {
		err = t.syncDone()
	}
	if err == nil {
		err = step.Done("closed tree")
	}
	if err == nil && !t.plan.Early {
		t.lock.naming = true
		err = t.lock.note()
	}
	if err == nil {
		err = t.publish(len(t.at.Done))
	}
	if err == nil {
		err = t.lock.remove()
	}
	t.result = errors.Join(err, t.release())
	if t.result != nil {
		t.result = fmt.Errorf("finishing output: %w", t.result)
	}
	return t.result
}

func (t *Tree) err() error {
	if t == nil {
		return nil
	}
	return t.result
}

// Abort gives up the outputs without names. Their partial files stay, unless all are
// empty and no mark knows of them.
func (t *Tree) Abort() (err error) {
	if t == nil || t.done {
		return nil
	}
	t.done, t.result = true, fmt.Errorf("writing %s: given up", t.plan.Dir)
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
	files := t.at.Done
	if t.current != nil {
		files = append(files, TreeFile{Name: t.at.Open.Name, Mark: Mark{Size: t.current.written}})
	}
	if slices.ContainsFunc(files, func(f TreeFile) bool { return f.Mark.Size > 0 }) {
		return nil
	}
	for _, f := range files {
		if err := t.drop(f.Name); err != nil {
			return err
		}
	}
	return t.lock.remove()
}

func (t *Tree) release() error { return errors.Join(t.lock.release(), t.root.Close()) }

// Aside are the names under which CreateTree has put the partial files of an earlier run.
func (t *Tree) Aside() []string { return t.aside }

// Name is the folder as it was given.
func (t *Tree) Name() string { return t.plan.Dir }

// ID identifies this run's lock. It is zero on file systems without identities.
func (t *Tree) ID() FileID {
	if t.lock == nil {
		return FileID{}
	}
	return t.lock.claim.ID()
}
