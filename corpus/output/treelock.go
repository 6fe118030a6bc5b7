package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/base/claim"
	"github.com/firstseen/firstseen/internal/base/step"
)

// treeName is the name whose partial file locks a tree. All outputs share a lock, since each lock
// keeps a file open, and thousands of outputs may wait for their names.
const treeName = "firstseen"

// namingNote follows the token in the lock while outputs get names unknown to any checkpoint.
const namingNote = " placing"

// tokenBytes is the length of a token.
const tokenBytes = 16

// treeLock is the lock of a tree. The file contains a random token that identifies the run.
type treeLock struct {
	claim  *claim.Claim
	token  string // "" in a new lock
	naming bool
	begun  []string // names of outputs, to find those after the last checkpoint
}

// readLock reads the lock held by c, unless err is set.
func readLock(c *claim.Claim, err error) (l treeLock, _ error) {
	if err != nil {
		return l, err
	}
	f, err := c.Open()
	if err != nil {
		return l, errors.Join(err, c.Release())
	}
	text, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return l, errors.Join(err, c.Release())
	}
	// A power cut may leave zeros behind the token, which alone was synced.
	token, rest := string(text[:min(len(text), tokenBytes)]), string(text[min(len(text), tokenBytes):])
	l = treeLock{claim: c, token: token, naming: strings.HasPrefix(rest, namingNote)}
	for line := range strings.SplitSeq(rest, "\n") {
		if name, err := strconv.Unquote(line); err == nil { // a killed run may leave half a line
			l.begun = append(l.begun, name)
		}
	}
	return l, nil
}

// note writes the lock to disk.
func (l *treeLock) note() error {
	f, err := l.claim.Open()
	if err != nil {
		return err
	}
	text := l.token
	if l.naming {
		text += namingNote
	}
	for _, name := range l.begun {
		text += "\n" + strconv.Quote(name)
	}
	if _, err = f.WriteString(text); err == nil {
		err = f.Truncate(int64(len(text)))
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// begin records the start of an output. It does not sync: after a power failure the partial file of
// an unrecorded output stays.
func (l *treeLock) begin(name string) error {
	l.begun = append(l.begun, name)
	f, err := l.claim.Open()
	if err != nil {
		return err
	}
	if _, err = f.Seek(0, io.SeekEnd); err == nil {
		_, err = f.WriteString("\n" + strconv.Quote(name))
	}
	return errors.Join(err, f.Close())
}

// remove removes the lock, once all outputs have their names.
func (l *treeLock) remove() error {
	if l.claim == nil {
		return nil
	}
	if err := l.claim.Remove(); err != nil {
		return err
	}
	return step.Done("removed tree lock")
}

// inTree returns an error for a path inside an unfinished tree. The run of that tree, if continued,
// would take a partial file there for its own.
func inTree(path string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	for dir := filepath.Dir(abs); ; dir = filepath.Dir(dir) {
		lock := filepath.Join(dir, treeName+input.PartialSuffix)
		if _, err := os.Lstat(lock); err == nil && lock != abs {
			return fmt.Errorf("%s lies in an unfinished tree of outputs (%s): finish that run first, or choose another folder", path, lock)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// CutTree is [CutPartial] for the outputs of a tree without names. It returns the partial files
// that match the mark. If all outputs match, it removes those begun later: another run over the
// same inputs writes them again.
func CutTree(dir string, at TreeMark) (left []string, err error) {
	files := slices.Clip(at.Done)
	if at.Open != nil {
		files = append(files, *at.Open)
	}
	known, all := map[string]bool{}, true
	for _, f := range files {
		path := filepath.Join(dir, string(f.Name))
		there, err := CutPartial(path, f.Mark)
		if there {
			left = append(left, path+input.PartialSuffix)
		} else if err == nil {
			there, err = Published(path, f.Mark)
		}
		if err != nil {
			return left, err
		}
		known[string(f.Name)] = true
		all = all && there
	}
	if !all {
		return left, nil
	}
	return left, dropLater(dir, at.Stage, known)
}

// dropLater removes the partial files of outputs begun by the run of a token, except known ones.
func dropLater(dir, token string, known map[string]bool) error {
	lock, err := readLock(take(filepath.Join(dir, treeName)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || lock.token != token {
		return errors.Join(err, lock.claim.Release())
	}
	for _, name := range lock.begun {
		path := filepath.Join(dir, name)
		if _, statErr := os.Lstat(path + input.PartialSuffix); statErr != nil || known[name] {
			continue
		}
		if _, err = clearPartial(path, true); err != nil {
			break
		}
	}
	return errors.Join(err, lock.claim.Release())
}
