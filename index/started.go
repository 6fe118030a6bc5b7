package index

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/firstseen/firstseen/internal/claim"
	"github.com/firstseen/firstseen/internal/durable"
)

// startedFile exists from the start of a run until the index remembers any of its documents.
const startedFile = "begun"

// startedNote is what startedFile holds.
type startedNote struct {
	// Self identifies the file. In a copy of the index it is another, and the note is void.
	Self  claim.ID        `json:"self"`
	Owner json.RawMessage `json:"owner"`
}

// NoteStarted stores the owner's note, in JSON, about a run that begins. The note is removed before
// any document of the run becomes durable. A later run that finds it knows that nothing of this run
// is remembered. The note is lost on file systems that cannot distinguish files from copies, and
// perhaps after a power cut.
func (x *Index) NoteStarted(owner []byte) (err error) {
	if x.closed {
		return errIndexClosed
	}
	x.startedGone = false
	if err := removeIfThere(x.path(startedFile)); err != nil {
		return err
	}
	f, err := os.OpenFile(x.path(startedFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	note, err := json.Marshal(startedNote{Self: claim.Identify(f), Owner: owner})
	if err != nil {
		return err
	}
	_, err = f.Write(note)
	return err
}

// Started returns the note of NoteStarted. It is nil once anything is remembered.
func (x *Index) Started() ([]byte, error) {
	if x.closed {
		return nil, errIndexClosed
	}
	f, err := os.Open(x.path(startedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	var note startedNote
	if json.NewDecoder(f).Decode(&note) != nil || note.Self == (claim.ID{}) || note.Self != claim.Identify(f) {
		return nil, nil // cut short by a power cut, or a copy
	}
	return note.Owner, nil
}

// forgetStarted removes the note. It precedes everything that makes documents durable.
func (x *Index) forgetStarted() error {
	if x.startedGone {
		return nil
	}
	if err := durable.Remove(x.path(startedFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("index %s: %w", x.dir, err)
	}
	x.startedGone = true
	return nil
}
