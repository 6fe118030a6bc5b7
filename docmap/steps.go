package docmap

import (
	"errors"
	"iter"
)

// steps is the work that checkpoints have left to Step, and the piece of it under way.
type steps struct {
	owed  []func() error
	next  func() (struct{}, bool) // resumes the first; nil before it begins
	stop  func()
	yield func(struct{}) bool // set while work is done in steps
	err   error               // of the piece that has ended
}

var errStopped = errors.New("the work of a checkpoint is left to a later one")

// stepBytes bounds the values in a transaction of Step: about 10 ms.
const stepBytes = 1 << 20

// Owes reports whether Step has something to do.
func (t *Table) Owes() bool { return len(t.steps.owed) > 0 }

// Step does one transaction of the work that checkpoints of a [Options.Stepwise] table have left. It
// reports whether there is more. After an error a later checkpoint takes up the work.
func (t *Table) Step() (more bool, err error) {
	s := &t.steps
	if !t.Owes() {
		return false, nil
	}
	if err := t.writable(); err != nil {
		return false, err
	}
	t.version++
	if s.next == nil {
		s.next, s.stop = iter.Pull(t.inSteps(s.owed[0]))
	}
	if _, paused := s.next(); paused {
		return true, nil
	}
	err = s.err
	s.next, s.owed, s.err = nil, s.owed[1:], nil
	return len(s.owed) > 0, err
}

// inSteps is work that pauses after each of its transactions.
func (t *Table) inSteps(work func() error) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		t.steps.yield = yield
		t.steps.err = t.commit("merging", work)
		t.steps.yield = nil
	}
}

// pause lets the caller of Step go on. In between, nothing writes runs.
func (t *Table) pause() error {
	if t.steps.yield != nil && !t.steps.yield(struct{}{}) {
		return errStopped
	}
	return nil
}

// updateStep is update, and a pause after it.
func (t *Table) updateStep(f func(c *change)) error {
	if err := t.update(f); err != nil {
		return err
	}
	return t.pause()
}

// afterwards does work that follows a checkpoint, or leaves it to Step.
func (t *Table) afterwards(work func() error) error {
	if !t.opt.Stepwise {
		return work()
	}
	t.steps.owed = append(t.steps.owed, work)
	return nil
}

// finishSteps does all that is owed: runs may not be added in the middle of it.
func (t *Table) finishSteps() error {
	for more := true; more; {
		var err error
		if more, err = t.Step(); err != nil {
			return err
		}
	}
	return nil
}

// dropSteps leaves the work to a later checkpoint.
func (t *Table) dropSteps() {
	if t.steps.next != nil {
		t.steps.stop()
	}
	t.steps = steps{}
}

// mergeBytes bounds the values in a transaction of a merge.
func (t *Table) mergeBytes() uint64 {
	if t.opt.Stepwise {
		return uint64(min(stepBytes, t.sizes.sliceBytes))
	}
	return uint64(t.sizes.sliceBytes)
}
