package output

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"github.com/firstseen/firstseen/internal/claim"
	"github.com/firstseen/firstseen/internal/step"
)

// Tree writes the outputs of a [TreePlan], one after the other, of which one is open.
// It is for one goroutine.
//
// An output is written below the folder firstseen.partial of the tree, under the name it
// will have, and gets its place when it is whole, see Sync. That folder is locked, and
// gone when all is done; one that another run has left is put aside. No file that is
// there is ever replaced.
type Tree struct {
	plan   *TreePlan
	stage  *stage
	at     TreeMark
	sure   int // of at.Done, the first: the last Sync has told of them
	synced int // of at.Done, the first: they are on the disk
	total  int // outputs there are in all, -1: shards, as many as needed
	over   bool
	done   bool
	result error // of Close

	current *Writer
	used    *Writer // is closed; its memory is used again
}

// TreeMark is how far a tree was written.
type TreeMark struct {
	Stage string     `json:"stage"` // what the folder of this run is known by
	Begun int        `json:"begun"` // outputs so far
	Open  *TreeFile  `json:"open,omitempty"`
	Fill  int64      `json:"fill,omitempty"` // bytes of records in a shard that is open
	Done  []TreeFile `json:"done,omitempty"` // whole, and maybe not in their places
	Sum   uint64     `json:"sum"`            // of all that are whole, in their order
}

// TreeFile is an output of a tree, and how far it was written.
type TreeFile struct {
	Name string `json:"name"` // relative to the folder
	Mark Mark   `json:"mark"`
}

// add counts an output that is whole; one that is not written, with a size below 0.
func (m *TreeMark) add(f TreeFile) {
	m.Sum = AddRecord(m.Sum, xxh3.HashString(fmt.Sprintf("%s %d %x", filepath.ToSlash(f.Name), f.Mark.Size, f.Mark.Tail)))
}

// Turn returns the output of an input, by its number; those before it are whole then. Of
// shards it is the one that is open, or the first.
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
		return os.Remove(t.stage.path(f.Name))
	}
	f.Mark = mark
	t.at.add(f)
	t.at.Done = append(t.at.Done, f)
	return nil
}

// Full tells whether a record of so many bytes belongs in another shard than the one
// that is open. It counts the record.
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

// NextShard ends the shard that is open and begins another.
func (t *Tree) NextShard() (*Writer, error) {
	fill := t.at.Fill
	if err := t.begin(); err != nil {
		return nil, err
	}
	t.at.Fill = fill
	return t.current, nil
}

// Early tells whether outputs get their places before the run is done.
func (t *Tree) Early() bool { return t.plan.Early }

// Waiting is how many outputs are whole and not in their places.
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

// Sync brings what was written to the disk and returns how far that is. With Early,
// what the Sync before this one has told of gets its place now: whoever has stored that
// can go on from it.
func (t *Tree) Sync() (at TreeMark, err error) {
	if t.plan.Early {
		if err := t.place(t.sure); err != nil {
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
	if err := t.stage.sync(t.at.Done[t.synced:]); err != nil {
		return at, err
	}
	t.sure, t.synced, t.stage.fresh = len(t.at.Done), len(t.at.Done), false
	at = t.at
	at.Done = append([]TreeFile(nil), t.at.Done...)
	if at.Open != nil {
		open := *at.Open
		at.Open = &open
	}
	return at, nil
}

// place gives the first n outputs that are whole their places.
func (t *Tree) place(n int) error {
	if err := t.stage.place(t.at.Done[:n], t.over); err != nil {
		return err
	}
	t.at.Done = append([]TreeFile(nil), t.at.Done[n:]...)
	t.sure, t.synced = max(t.sure-n, 0), max(t.synced-n, 0)
	return nil
}

// Close gives all outputs their places, the one that is open too. Called again it
// returns the same.
func (t *Tree) Close() error {
	if t == nil || t.done {
		return t.err()
	}
	t.done = true
	err := t.end()
	if err == nil {
		err = t.stage.sync(t.at.Done[t.synced:])
	}
	if err == nil {
		err = step.Done("closed tree")
	}
	if err == nil && !t.plan.Early {
		err = t.stage.notePlacing()
	}
	if err == nil {
		err = t.place(len(t.at.Done))
	}
	if err == nil {
		err = t.stage.remove()
	}
	t.result = errors.Join(err, t.stage.release())
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

// Abort gives the outputs up that have not their places: what is written stays in the
// stage, which is removed if that is nothing.
func (t *Tree) Abort() (err error) {
	if t == nil || t.done {
		return nil
	}
	t.done, t.result = true, fmt.Errorf("writing %s: given up", t.plan.Dir)
	if t.current != nil {
		err = t.current.stop()
	}
	if t.stage.claim != nil && t.stage.fresh {
		if empty, emptyErr := t.stage.empty(); empty && emptyErr == nil {
			err = errors.Join(err, t.stage.clear(), t.stage.remove())
		}
	}
	return errors.Join(err, t.stage.release())
}

// Aside is the folder to which CreateTree has put what an earlier run has left, and ""
// when there was none.
func (t *Tree) Aside() string { return t.stage.aside }

// Name is the folder as it was given.
func (t *Tree) Name() string { return t.plan.Dir }

// ID is what the folder of this run is known by, zero where nobody can tell.
func (t *Tree) ID() FileID {
	if t.stage.claim == nil {
		return claim.ID{}
	}
	return t.stage.claim.ID()
}
