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

// startedFile is there while a run is under way, or was killed, of which the index
// remembers nothing.
const startedFile = "begun"

// startedNote is what startedFile holds.
type startedNote struct {
	// Self is the file: in a copy of the index, of which the run knows nothing, the
	// note says nothing.
	Self  claim.ID        `json:"self"`
	Owner json.RawMessage `json:"owner"`
}

// NoteStarted stores what the owner, in JSON, tells of a run that begins. It is gone
// before anything becomes durable that is added from then on, so who finds it knows
// that of this run nothing is remembered. Where files cannot be told from copies it is
// not stored, and so it may be after a power cut.
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

// Started returns what NoteStarted has stored, nil where something was remembered since.
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

// forgetStarted comes before anything is remembered.
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
