package pipeline

import (
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
)

// mostWaiting is how many outputs of a tree may be whole before a checkpoint lets them have their
// places. A checkpoint stores the names of them all.
const mostWaiting = 4096

// turn directs the kept records to the output of the block's input, if each input has one. It
// passes over a block without records. A resumed run may meet such a block again, behind the last
// record of an input, when that output is whole.
func (c *committer) turn(b *block) (err error) {
	tree := c.out.Tree
	if len(b.records) == 0 {
		return nil
	}
	if tree == nil && c.led == b.source.Input {
		return nil
	}
	if err := c.beside.wait(); err != nil {
		return err
	}
	if tree == nil {
		c.led = b.source.Input
		return leadBy(c.out.Kept, b.source.Frames)
	}
	if c.job.Save != nil && !c.job.Temporary && c.index.Table() != nil && tree.Waiting() >= mostWaiting {
		if err := c.index.Checkpoint(); err != nil {
			return err
		}
	}
	c.out.Kept, err = tree.Turn(b.source.Input)
	return err
}

// lead begins an output with the planned head.
func lead(w *output.Writer, head []byte) error {
	if w == nil || head == nil {
		return nil
	}
	return w.Lead(head)
}

// leadBy begins an output with the head of the block's input.
func leadBy(w *output.Writer, frames corpus.Frames) error {
	if frames == nil {
		return nil
	}
	head, _ := frames.Head()
	return lead(w, head)
}

// shard chooses the shard for a record of so many bytes.
func (o *outputs) shard(record int) (err error) {
	if o.Tree != nil {
		o.Kept, err = o.Tree.Shard(record)
	}
	return err
}

// syncTree is sync for a tree; nil if there is none, or no run could go on from it.
func (o *outputs) syncTree() (*output.TreeMark, error) {
	if o.Tree == nil || !o.Tree.Early {
		return nil, nil
	}
	at, err := o.Tree.Sync()
	return &at, err
}

// openTree creates the tree or, after Continue, continues that of the unfinished run.
func (l *Ledger) openTree(worthless []output.FileID) (*output.Tree, error) {
	plan := l.job.Tree
	switch {
	case plan == nil:
		return nil, nil
	case l.goesOn == nil || l.goesOn.Tree == nil:
		return output.CreateTree(plan, worthless...)
	}
	t, err := output.OpenTree(plan, *l.goesOn.Tree)
	if err != nil {
		return nil, &RefusedError{Why: OutputGone, Run: *l.found, Err: err}
	}
	return t, nil
}

// treeIsAs reports whether the tree is as a finished run has left it.
func (l *Ledger) treeIsAs(at *output.TreeMark) (bool, error) {
	if l.job.Tree == nil {
		return true, nil
	}
	if at == nil {
		return false, nil
	}
	return l.job.Tree.TreeIsAs(*at)
}

// enclose sets the enclosure of an output, if both exist.
func enclose(w *output.Writer, e output.Enclosure) error {
	if w == nil || e == nil {
		return nil
	}
	return w.Enclose(e)
}
