package pipeline

import (
	"encoding/json"
	"reflect"

	"github.com/firstseen/firstseen/corpus/output"
)

// begun is the index's note of a run over files until it remembers any document: the partial files
// made by the run. The same command writes them anew. Any other command puts them aside, because
// its inputs may be gone.
type started struct {
	Choices  choices         `json:"choices"`
	Partials []output.FileID `json:"partials"`
}

// canStartOver reports whether this run simply runs again if nothing of it was remembered.
func (l *Ledger) canStartOver() bool { return !l.job.Temporary && !l.job.ReadsPipe() }

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
	chosen, err := l.job.choices()
	if err != nil {
		return nil, err
	}
	var b started
	if json.Unmarshal(stored, &b) != nil || !reflect.DeepEqual(b.Choices, chosen) {
		return nil, nil
	}
	return b.Partials, nil
}

// noteStarted stores which partial files this run has made, before anything is in them.
func (l *Ledger) noteStarted(o *Outputs) (err error) {
	if !l.canStartOver() || l.goesOn != nil {
		return nil
	}
	var b started
	for _, w := range o.all() {
		if w == nil {
			continue
		}
		if id := w.ID(); id != (output.FileID{}) {
			b.Partials = append(b.Partials, id)
		}
	}
	if o.Tree != nil && o.Tree.ID() != (output.FileID{}) {
		b.Partials = append(b.Partials, o.Tree.ID())
	}
	if len(b.Partials) == 0 {
		return nil
	}
	if b.Choices, err = l.job.choices(); err != nil {
		return err
	}
	return l.index.NoteStarted(encoded(b))
}
