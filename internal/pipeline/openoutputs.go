package pipeline

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/firstseen/firstseen/corpus/output"
)

// OpenOutputs creates the outputs or, after Continue, cuts those of the unfinished run
// back to its last checkpoint. An error leaves none open.
func (l *Ledger) OpenOutputs() (o Outputs, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, o.Abort())
		}
	}()
	worthless, err := l.worthless()
	if err != nil {
		return o, err
	}
	names := l.job.names()
	for i, to := range []**output.Writer{&o.Kept, &o.Report, &o.Rejects} {
		switch {
		case names[i] == "":
		case l.goesOn == nil:
			*to, err = output.Create(names[i], worthless...)
		default:
			*to, err = l.reopen(names[i], l.goesOn.Written[i])
		}
		if err != nil {
			return o, err
		}
	}
	if err := errors.Join(enclose(o.Kept, l.job.Enclosure), enclose(o.Report, l.job.Tabled), lead(o.Kept, l.job.Head)); err != nil {
		return o, err
	}
	if plan := l.job.Tree; plan != nil {
		if o.Tree, err = l.openTree(plan, worthless); err != nil {
			return o, err
		}
	}
	return o, l.noteStarted(&o)
}

// reopen continues an output. It returns nil for one that has its name already: a run that had
// decided everything was stopped between publishing and noting.
func (l *Ledger) reopen(name string, at output.Mark) (*output.Writer, error) {
	w, err := output.OpenAt(name, at)
	if err == nil || errors.Is(err, output.ErrBusy) {
		return w, err
	}
	if l.goesOn.Ended {
		done, foundErr := output.Published(name, at)
		if done || foundErr != nil {
			return nil, foundErr
		}
	}
	return nil, &RefusedError{Why: OutputGone, Run: *l.found, Err: err}
}

// openTree creates the tree or, after Continue, continues that of the unfinished run.
func (l *Ledger) openTree(plan *output.TreePlan, worthless []output.FileID) (*output.Tree, error) {
	if l.goesOn == nil || l.goesOn.Tree == nil {
		return output.CreateTree(plan, worthless...)
	}
	t, err := output.OpenTree(plan, *l.goesOn.Tree)
	if err != nil {
		return nil, &RefusedError{Why: OutputGone, Run: *l.found, Err: err}
	}
	return t, nil
}

func lead(w *output.Writer, head []byte) error {
	if w == nil || head == nil {
		return nil
	}
	return w.Lead(head)
}

func enclose(w *output.Writer, e output.Enclosure) error {
	if w == nil || e == nil {
		return nil
	}
	return w.Enclose(e)
}

// started is the index's note of a run over files until it remembers any document: the partial files
// made by the run. The same command writes them anew. Any other command puts them aside, because
// its inputs may be gone.
type started struct {
	Choices  choices         `json:"choices"`
	Partials []output.FileID `json:"partials"`
}

// worthless are the partial files of a run of this command that the index remembers
// nothing of.
func (l *Ledger) worthless() ([]output.FileID, error) {
	if !l.canStartOver() || l.goesOn != nil {
		return nil, nil
	}
	stored, err := l.index.Started()
	if err != nil || stored == nil {
		return nil, err
	}
	var b started
	if json.Unmarshal(stored, &b) != nil || !reflect.DeepEqual(b.Choices, l.chosen) {
		return nil, nil
	}
	return b.Partials, nil
}

// noteStarted stores which partial files this run has made, before anything is in them.
func (l *Ledger) noteStarted(o *Outputs) error {
	if !l.canStartOver() || l.goesOn != nil {
		return nil
	}
	b := started{Choices: l.chosen}
	for _, w := range o.all() {
		if w != nil && w.ID() != (output.FileID{}) {
			b.Partials = append(b.Partials, w.ID())
		}
	}
	if o.Tree != nil && o.Tree.ID() != (output.FileID{}) {
		b.Partials = append(b.Partials, o.Tree.ID())
	}
	if len(b.Partials) == 0 {
		return nil
	}
	return l.index.NoteStarted(encoded(b))
}
