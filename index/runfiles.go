package index

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gofrs/flock"

	"github.com/firstseen/firstseen/internal/base/claim"
	"github.com/firstseen/firstseen/internal/base/durable"
)

// TemporaryReport is the name of a report in a temporary folder of its own.
const TemporaryReport = "report.jsonl"

// temporaryFiles names all files of a temporary folder. A temporary index stores neither filter nor
// key.
var temporaryFiles = map[string]bool{
	lockFile: true, TableFile: true, TableFile + ".new": true,
	TemporaryReport: true, TemporaryReport + ".partial": true,
}

// HoldTemporary takes the lock of a temporary folder, which RemoveLeftIndex then skips.
func HoldTemporary(dir string) (release func() error, err error) {
	x := newLocked(dir)
	return x.lock.Unlock, x.takeLock()
}

// RemoveLeftIndex removes the temporary folder of a killed process, and reports whether it did. It
// skips a directory with anything but regular files of one, or with a lock in use. It also skips
// one with only a lock file, which the owner may be about to lock. dir must not be an index for
// later use.
func RemoveLeftIndex(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	isLock := func(e fs.DirEntry) bool { return e.Name() == lockFile }
	foreign := func(e fs.DirEntry) bool { return !e.Type().IsRegular() || !temporaryFiles[e.Name()] }
	if err != nil || len(entries) < 2 || !slices.ContainsFunc(entries, isLock) || slices.ContainsFunc(entries, foreign) {
		return false, err
	}
	path := filepath.Join(dir, lockFile)
	lock := flock.New(path, flock.SetFlag(os.O_RDWR)) // never creates one
	if ok, err := lock.TryLock(); err != nil || !ok {
		return false, err
	}
	// The other files are made under the lock, so its owner has released it.
	for _, e := range entries {
		if !isLock(e) {
			err = errors.Join(err, durable.RemoveLeft(filepath.Join(dir, e.Name())))
		}
	}
	// The lock goes last, so that a later call finds the remains of a failure. Windows cannot
	// remove an open file.
	err = errors.Join(err, lock.Unlock())
	if err == nil {
		err = errors.Join(durable.RemoveLeft(path), durable.RemoveLeft(dir))
	}
	return err == nil, err
}

// startedFile exists from the start of a run until the index remembers any of its documents.
const startedFile = "begun"

// startedNote is the content of startedFile.
type startedNote struct {
	// Self identifies the file. In a copy of the index it differs, and the note is void.
	Self  claim.ID        `json:"self"`
	Owner json.RawMessage `json:"owner"`
}

// NoteStarted stores the owner's JSON note about a run that begins. The note is removed before any
// document of the run becomes durable. A later run that finds it can conclude that nothing of this
// run is remembered. The note is lost on file systems that cannot distinguish files from copies,
// and perhaps after a power cut.
func (x *Index) NoteStarted(owner []byte) (err error) {
	if x.closed {
		return errIndexClosed
	}
	x.startedGone = false
	if err := durable.RemoveLeft(x.path(startedFile)); err != nil {
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

// forgetStarted removes the note. It must precede everything that makes documents durable.
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
